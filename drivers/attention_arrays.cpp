#include "attention_arrays.hpp"

#include <algorithm>
#include <cmath>

namespace subquad::drivers {
namespace {

// Entries that are no numbers are left to problems::validate, which names their place.
double largest_finite_entry(const problems::MatrixD& matrix) {
  double largest = 0;
  for (Eigen::Index i = 0; i < matrix.size(); ++i) {
    if (const double entry = std::abs(matrix.data()[i]); std::isfinite(entry) && entry > largest) largest = entry;
  }
  return largest;
}

}  // namespace

problems::MatrixD read_array(const std::string& path, io::NpyVector vector) {
  InputSource file(path);
  return io::read_npy<double>(file.stream(), path, vector);
}

problems::Attention::Instance read_attention_arrays(const std::string& q, const std::string& k, const std::string& v,
                                                    std::optional<double> scale) {
  problems::Attention::Instance instance;
  instance.q = read_array(q, io::NpyVector::refuse);
  instance.k = read_array(k, io::NpyVector::refuse);
  instance.v = read_array(v, io::NpyVector::as_column);
  instance.scale = scale.value_or(1.0 / static_cast<double>(std::max<Eigen::Index>(1, instance.q.cols())));
  instance.entry_bound =
      std::max({largest_finite_entry(instance.q), largest_finite_entry(instance.k), largest_finite_entry(instance.v)});
  problems::validate(instance);
  return instance;
}

}  // namespace subquad::drivers
