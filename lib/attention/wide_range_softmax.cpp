#include "wide_range_softmax.hpp"

#include "wide_range.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace subquad::attention {

template <class Scalar>
void wide_range_softmax(const Eigen::Ref<const problems::RowMajorMatrix<Scalar>>& q,
                        const Eigen::Ref<const problems::RowMajorMatrix<Scalar>>& k,
                        const Eigen::Ref<const problems::RowMajorMatrix<Scalar>>& v, double scale,
                        const Execution& execution, Eigen::Ref<problems::RowMajorMatrix<Scalar>> output,
                        const problems::AttentionMask& mask, double* log_sum_exp) {
  require_wide_range();
  const auto logit = [&](Eigen::Index i, Eigen::Index j) {
    Wide sum = 0;
    for (Eigen::Index c = 0; c < q.cols(); ++c) sum += static_cast<Wide>(q(i, c)) * static_cast<Wide>(k(j, c));
    return sum * static_cast<Wide>(scale);
  };
  const ProgressScope progress(execution, "exact attention, wide range", static_cast<std::uint64_t>(q.rows()));
  parallel_for(execution, static_cast<std::uint64_t>(q.rows()), 1, [&](std::uint64_t begin, std::uint64_t end) {
    std::vector<Wide> values(static_cast<std::size_t>(v.cols()));
    for (auto i = static_cast<Eigen::Index>(begin); i < static_cast<Eigen::Index>(end); ++i) {
      const auto seen =
          static_cast<Eigen::Index>(mask.visible(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(k.rows())));
      Wide largest = logit(i, 0);
      for (Eigen::Index j = 1; j < seen; ++j) largest = std::max(largest, logit(i, j));
      std::fill(values.begin(), values.end(), Wide{0});
      Wide weight_sum = 0;
      for (Eigen::Index j = 0; j < seen; ++j) {
        const Wide weight = std::exp(logit(i, j) - largest);
        weight_sum += weight;
        for (Eigen::Index c = 0; c < v.cols(); ++c) {
          values[static_cast<std::size_t>(c)] += weight * static_cast<Wide>(v(j, c));
        }
      }
      if (log_sum_exp != nullptr) log_sum_exp[i] = rounded<double>(largest + std::log(weight_sum));
      for (Eigen::Index c = 0; c < v.cols(); ++c) {
        output(i, c) = rounded<Scalar>(values[static_cast<std::size_t>(c)] / weight_sum);
      }
    }
  });
}

template void wide_range_softmax<float>(const Eigen::Ref<const problems::MatrixF>&,
                                        const Eigen::Ref<const problems::MatrixF>&,
                                        const Eigen::Ref<const problems::MatrixF>&, double, const Execution&,
                                        Eigen::Ref<problems::MatrixF>, const problems::AttentionMask&, double*);
template void wide_range_softmax<double>(const Eigen::Ref<const problems::MatrixD>&,
                                         const Eigen::Ref<const problems::MatrixD>&,
                                         const Eigen::Ref<const problems::MatrixD>&, double, const Execution&,
                                         Eigen::Ref<problems::MatrixD>, const problems::AttentionMask&, double*);

}  // namespace subquad::attention
