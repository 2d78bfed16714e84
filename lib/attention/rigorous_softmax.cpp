#include <subquad/attention/rigorous_softmax.hpp>
#include <subquad/core/error.hpp>
#include <subquad/exact/interval.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace subquad::attention {
namespace {

using exact::Interval;
using problems::Attention;

constexpr int kLowestPrecisionBits = 53;
constexpr int kHighestPrecisionBits = 100'000;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check(const Attention::Instance& instance, int precision_bits) {
  problems::validate(instance);
  require(precision_bits >= kLowestPrecisionBits && precision_bits <= kHighestPrecisionBits, ErrorKind::parameter,
          "rigorous softmax: {} bits, expected {} to {}", precision_bits, kLowestPrecisionBits, kHighestPrecisionBits);
  require(instance.v.cols() >= 1, ErrorKind::parameter,
          "rigorous softmax: the values have no column, expected at least 1");
  for (Eigen::Index j = 0; j < instance.v.rows(); ++j) {
    require(instance.v(j, 0) >= 0.0, ErrorKind::parameter,
            "rigorous softmax: v[{},0] = {}, expected a non-negative value (its logarithm is asked for)", j,
            instance.v(j, 0));
  }
}

/// ln(sum of e^term) over at least one term. Factoring out the largest term leaves a sum between 1 and their number, so
/// neither huge nor tiny terms lose precision.
Interval log_sum_exp(const std::vector<Interval>& terms, int precision_bits) {
  Interval largest = terms.front();
  for (const Interval& term : terms) largest = max(largest, term);
  Interval sum(precision_bits);
  for (const Interval& term : terms) sum += exp(term - largest.upper_end());
  // The largest term alone gives e^(term - upper end), which is positive: the sum is at least that.
  return largest.upper_end() + log(sum);
}

class RigorousSoftmax {
 public:
  RigorousSoftmax(const Attention::Instance& instance, int precision_bits)
      : instance_(instance), precision_bits_(precision_bits) {
    for (Eigen::Index j = 0; j < instance.v.rows(); ++j) {
      if (instance.v(j, 0) > 0.0) {
        positive_.push_back(j);
        log_value_.push_back(log(Interval::from_double(instance.v(j, 0), precision_bits)));
      }
    }
    if (positive_.empty()) return;
    // u is a mean of the values: at most the largest, and at least the smallest if none is 0.
    Interval range = log_value_.front();
    for (const Interval& value : log_value_) range = hull(range, value);
    log_range_.push_back(std::move(range));
  }

  Attention::LogEnclosure row(Eigen::Index i) const {
    if (positive_.empty()) return {-kInfinity, -kInfinity};
    std::vector<Interval> logits;
    logits.reserve(static_cast<std::size_t>(instance_.k.rows()));
    for (Eigen::Index j = 0; j < instance_.k.rows(); ++j) logits.push_back(logit(i, j));
    std::vector<Interval> numerator;
    numerator.reserve(positive_.size());
    for (std::size_t p = 0; p < positive_.size(); ++p) {
      numerator.push_back(logits[static_cast<std::size_t>(positive_[p])] + log_value_[p]);
    }
    const Interval log_u = log_sum_exp(numerator, precision_bits_) - log_sum_exp(logits, precision_bits_);
    double low = log_u.low();
    double high = std::min(log_u.high(), log_range_.front().high());
    if (positive_.size() == logits.size()) low = std::max(low, log_range_.front().low());
    return {low, high};
  }

 private:
  Interval logit(Eigen::Index i, Eigen::Index j) const {
    Interval product(precision_bits_);
    for (Eigen::Index t = 0; t < instance_.q.cols(); ++t) product.add_product(instance_.q(i, t), instance_.k(j, t));
    return product * Interval::from_double(instance_.scale, precision_bits_);
  }

  const Attention::Instance& instance_;
  int precision_bits_;
  std::vector<Eigen::Index> positive_;  ///< keys with a positive value
  std::vector<Interval> log_value_;     ///< of those keys
  std::vector<Interval> log_range_;     ///< hull of log_value_; empty if there is none
};

}  // namespace

std::vector<Attention::LogEnclosure> log_softmax_enclosures(const Attention::Instance& instance, int precision_bits,
                                                            const Execution& execution) {
  check(instance, precision_bits);
  const auto rows = static_cast<std::uint64_t>(instance.q.rows());
  std::vector<Attention::LogEnclosure> result(rows);
  if (rows == 0) return result;
  const RigorousSoftmax softmax(instance, precision_bits);
  const ProgressScope progress(execution, "rigorous softmax", rows);
  parallel_for(execution, rows, 1, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) result[i] = softmax.row(static_cast<Eigen::Index>(i));
  });
  return result;
}

}  // namespace subquad::attention
