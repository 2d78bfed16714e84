#include <subquad/core/error.hpp>
#include <subquad/core/forward_error.hpp>
#include <subquad/verifiers/softmax_enclosure.hpp>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>
#include <numbers>

namespace subquad::verifiers {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSmallestSubnormal = 0x1p-1074;

}  // namespace

void require_ieee_arithmetic() {
  // volatile: the sums must be made by this thread's arithmetic, not by the compiler's.
  const volatile double one = 1.0;
  const volatile double half_ulp = 0x1p-53;
  const volatile double smallest_normal = std::numeric_limits<double>::min();
  const volatile double smallest = kSmallestSubnormal;
  const bool nearest = one + half_ulp == 1.0 && one + 1.5 * half_ulp > 1.0 && -one - half_ulp == -1.0;
  const bool subnormals = smallest_normal * 0.5 > 0.0 && smallest + smallest > smallest;
  require(std::numeric_limits<double>::is_iec559 && nearest && subnormals, ErrorKind::unsupported,
          "attention verifier: double arithmetic must round to nearest and keep subnormals (no flush-to-zero)");
}

SoftmaxEnclosure::SoftmaxEnclosure(const problems::Attention::Instance& instance, const BoundFactors& factors,
                                   const problems::AttentionMask& mask)
    : instance_(instance),
      factors_(factors),
      mask_(mask),
      logit_scale_(instance.scale * std::numbers::log2e),
      largest_key_norm_bound_(0.0),
      sums_(instance.k, instance.v) {
  require_ieee_arithmetic();
  for (Eigen::Index c = 0; c < instance.v.cols(); ++c) {
    const auto column = instance.v.col(c);
    columns_.push_back({column.minCoeff(), column.maxCoeff(), column.cwiseAbs().maxCoeff()});
  }
  for (Eigen::Index j = 0; j < instance.k.rows(); ++j) {
    const double bound = norm_bound(instance.k.row(j).data(), static_cast<std::size_t>(instance.k.cols()));
    largest_key_norm_bound_ = std::max(largest_key_norm_bound_, bound);  // never NaN: entries are finite
  }
}

// Lemma 1 and step 1 of the theorem: an upper bound of |theta| in weight_computed = weight (1 + theta), or infinity.
double SoftmaxEnclosure::relative_weight_error(double query_norm_bound) const {
  const double dim = static_cast<double>(instance_.q.cols());
  const double magnitude = query_norm_bound * std::fabs(logit_scale_) * largest_key_norm_bound_ * kEvaluationSlack;
  // Below 2^-900 the rounding of the scale itself could underflow.
  const bool scale_is_normal = instance_.scale == 0.0 || std::fabs(instance_.scale) >= 0x1p-900;
  if (!(magnitude <= WeightedSums::kLargestLogit / 2) || !scale_is_normal) return kInfinity;
  const double logit_error =
      (gamma_bound(dim + 4.0) * magnitude + dim * kSmallestSubnormal * (1.0 + largest_key_norm_bound_)) *
      kEvaluationSlack * factors_.logit;
  if (!(logit_error <= 0x1p-4)) return kInfinity;
  const double exponent = logit_error * std::numbers::ln2 * kEvaluationSlack;
  return (exponent + exponent * exponent + 1.125 * WeightedSums::kExp2RelativeError * factors_.exponential) *
         kEvaluationSlack;
}

// Steps 2 to 4 of the theorem. Under a mask, n_k and the range of the whole column are upper bounds of the row's own.
EntryEnclosure SoftmaxEnclosure::entry(const Column& column, double weight_error, double numerator,
                                       double denominator) const {
  const EntryEnclosure range{column.lowest, column.highest};
  const double num_keys = static_cast<double>(instance_.k.rows());
  // Intermediate sums must not overflow; weights are at most 1 + 2^-45.
  if (!(num_keys * column.magnitude <= 0x1p1000) || !(weight_error <= 0x1p-3)) return range;
  const double half_range = 0.5 * (column.highest - column.lowest);
  const double gamma = gamma_bound(static_cast<double>(sums_.summation_depth()) + 2.0);
  if (!(gamma <= 0x1p-4)) return range;
  const double bound =
      (half_range * weight_error / (1.0 - weight_error) +
       column.magnitude * 2.0 * gamma / (1.0 - 2.0 * gamma) * factors_.sum +
       num_keys * (0x1p4 * WeightedSums::kDroppedWeight * column.magnitude + 0x1p-1070) * factors_.underflow) *
      kEvaluationSlack;
  const double value = numerator / denominator;
  const double low = std::nextafter(value - bound, -kInfinity);
  const double high = std::nextafter(value + bound, kInfinity);
  if (!(low <= high)) return range;  // NaN
  // An output is a mean of the column, so it lies in the range too.
  return {std::max(low, range.low), std::min(high, range.high)};
}

void SoftmaxEnclosure::enclose(std::span<const std::uint64_t> rows, EntryEnclosure* enclosures) const {
  require(rows.size() <= kRowBlock, ErrorKind::internal, "softmax enclosure: {} rows in a block, expected at most {}",
          rows.size(), kRowBlock);
  require_ieee_arithmetic();
  const auto dim = static_cast<std::size_t>(instance_.q.cols());
  const std::size_t width = columns_.size();
  std::vector<double> queries(rows.size() * dim, 0.0);
  std::vector<double> weight_error(rows.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double* q = instance_.q.row(static_cast<Eigen::Index>(rows[r])).data();
    weight_error[r] = relative_weight_error(norm_bound(q, dim));
    if (weight_error[r] == kInfinity) continue;  // the row's query stays 0: its sums are not used
    for (std::size_t t = 0; t < dim; ++t) queries[r * dim + t] = q[t] * logit_scale_;
  }
  std::vector<std::size_t> visible(rows.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    visible[r] = static_cast<std::size_t>(mask_.visible(rows[r], static_cast<std::uint64_t>(instance_.k.rows())));
  }
  std::vector<double> sums(rows.size() * (1 + width));
  sums_.evaluate(queries.data(), rows.size(), sums.data(), visible.data());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double* row_sums = sums.data() + r * (1 + width);
    for (std::size_t c = 0; c < width; ++c) {
      enclosures[r * width + c] = entry(columns_[c], weight_error[r], row_sums[1 + c], row_sums[0]);
    }
  }
}

}  // namespace subquad::verifiers
