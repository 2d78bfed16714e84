#include "wide_range_softmax.hpp"

#include <subquad/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace subquad::attention {

template <class Scalar>
void wide_range_softmax(const Eigen::Ref<const problems::RowMajorMatrix<Scalar>>& q,
                        const Eigen::Ref<const problems::RowMajorMatrix<Scalar>>& k,
                        const Eigen::Ref<const problems::RowMajorMatrix<Scalar>>& v, double scale,
                        const Execution& execution, Eigen::Ref<problems::RowMajorMatrix<Scalar>> output) {
  using Wide = long double;
  // q, k, scale and d multiply: four factors of double's range.
  require(std::numeric_limits<Wide>::max_exponent >= 4 * std::numeric_limits<double>::max_exponent,
          ErrorKind::unsupported,
          "attention: the logits may leave the range of the arithmetic, and long double is no wider here");
  const auto logit = [&](Eigen::Index i, Eigen::Index j) {
    Wide sum = 0;
    for (Eigen::Index c = 0; c < q.cols(); ++c) sum += static_cast<Wide>(q(i, c)) * static_cast<Wide>(k(j, c));
    return sum * static_cast<Wide>(scale);
  };
  const ProgressScope progress(execution, "exact attention, wide range", static_cast<std::uint64_t>(q.rows()));
  parallel_for(execution, static_cast<std::uint64_t>(q.rows()), 1, [&](std::uint64_t begin, std::uint64_t end) {
    std::vector<Wide> values(static_cast<std::size_t>(v.cols()));
    for (auto i = static_cast<Eigen::Index>(begin); i < static_cast<Eigen::Index>(end); ++i) {
      Wide largest = logit(i, 0);
      for (Eigen::Index j = 1; j < k.rows(); ++j) largest = std::max(largest, logit(i, j));
      std::fill(values.begin(), values.end(), Wide{0});
      Wide weight_sum = 0;
      for (Eigen::Index j = 0; j < k.rows(); ++j) {
        const Wide weight = std::exp(logit(i, j) - largest);
        weight_sum += weight;
        for (Eigen::Index c = 0; c < v.cols(); ++c) {
          values[static_cast<std::size_t>(c)] += weight * static_cast<Wide>(v(j, c));
        }
      }
      for (Eigen::Index c = 0; c < v.cols(); ++c) {
        output(i, c) = static_cast<Scalar>(values[static_cast<std::size_t>(c)] / weight_sum);
      }
    }
  });
}

template void wide_range_softmax<float>(const Eigen::Ref<const problems::MatrixF>&,
                                        const Eigen::Ref<const problems::MatrixF>&,
                                        const Eigen::Ref<const problems::MatrixF>&, double, const Execution&,
                                        Eigen::Ref<problems::MatrixF>);
template void wide_range_softmax<double>(const Eigen::Ref<const problems::MatrixD>&,
                                         const Eigen::Ref<const problems::MatrixD>&,
                                         const Eigen::Ref<const problems::MatrixD>&, double, const Execution&,
                                         Eigen::Ref<problems::MatrixD>);

}  // namespace subquad::attention
