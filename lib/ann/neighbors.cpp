#include <subquad/ann/neighbors.hpp>
#include <subquad/core/error.hpp>

#include <unordered_set>

namespace subquad::ann {

std::string_view to_string(Arithmetic arithmetic) noexcept {
  return arithmetic == Arithmetic::float32 ? "float32" : "float64";
}

std::uint64_t Neighbors::count(std::uint64_t row) const {
  const auto i = static_cast<Eigen::Index>(row);
  std::uint64_t count = k();
  while (count > 0 && index(i, static_cast<Eigen::Index>(count - 1)) == kNoKey) --count;
  return count;
}

double recall(const Neighbors& found, const Neighbors& truth) {
  require(found.rows() == truth.rows() && found.k() == truth.k(), ErrorKind::parameter,
          "recall: {} x {} neighbours found, {} x {} true ones", found.rows(), found.k(), truth.rows(), truth.k());
  std::uint64_t all = 0;
  std::uint64_t hits = 0;
  for (Eigen::Index i = 0; i < truth.index.rows(); ++i) {
    std::unordered_set<std::uint32_t> keys;
    for (Eigen::Index j = 0; j < truth.index.cols(); ++j) {
      if (truth.index(i, j) != kNoKey) keys.insert(truth.index(i, j));
    }
    all += keys.size();
    for (Eigen::Index j = 0; j < found.index.cols(); ++j) hits += keys.erase(found.index(i, j));
  }
  return all == 0 ? 1.0 : static_cast<double>(hits) / static_cast<double>(all);
}

}  // namespace subquad::ann
