#include "attention_row.hpp"

#include <utility>

namespace subquad::verifiers {

using exact::Interval;

std::vector<Interval> attention_row(const problems::Attention::Instance& instance, std::uint64_t row,
                                    std::span<const std::uint64_t> columns, int precision_bits,
                                    const problems::AttentionMask& mask) {
  const auto i = static_cast<Eigen::Index>(row);
  const auto seen = static_cast<Eigen::Index>(mask.visible(row, static_cast<std::uint64_t>(instance.k.rows())));
  const Interval scale = Interval::from_double(instance.scale, precision_bits);
  std::vector<Interval> weights;
  weights.reserve(static_cast<std::size_t>(seen));
  for (Eigen::Index j = 0; j < seen; ++j) {
    Interval logit(precision_bits);
    for (Eigen::Index t = 0; t < instance.q.cols(); ++t) {
      if (instance.q(i, t) != 0.0 && instance.k(j, t) != 0.0) logit.add_product(instance.q(i, t), instance.k(j, t));
    }
    logit *= scale;
    weights.push_back(std::move(logit));
  }
  // Any single number serves as the shift, it cancels. Near the largest logit it keeps the weights in range.
  Interval largest = weights.front();
  for (const Interval& logit : weights) largest = max(largest, logit);
  const Interval shift = largest.is_bounded() ? largest.upper_end() : Interval(precision_bits);
  Interval denominator(precision_bits);
  for (Interval& weight : weights) {
    weight -= shift;
    weight = exp(weight);
    denominator += weight;
  }
  std::vector<Interval> result;
  for (const std::uint64_t column : columns) {
    const auto values = instance.v.col(static_cast<Eigen::Index>(column)).head(seen);
    // An output is a mean of the column. This also makes a single key and equal values exact.
    const Interval range = Interval::between(values.minCoeff(), values.maxCoeff(), precision_bits);
    Interval numerator(precision_bits);
    for (std::size_t j = 0; j < weights.size(); ++j) {
      numerator += weights[j] * Interval::from_double(values(static_cast<Eigen::Index>(j)), precision_bits);
    }
    result.push_back(intersect(numerator / denominator, range));
  }
  return result;
}

}  // namespace subquad::verifiers
