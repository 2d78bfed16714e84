#include "proved_exp2.hpp"

#include <subquad/attention/top_k_attention.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/forward_error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

// Every bound here is derived in docs/proofs/top_k_attention.md.
namespace subquad::attention {
namespace {

using ann::Neighbors;
using problems::Attention;
using problems::MatrixD;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kRowBlock = 32;

/// What all rows share.
struct Column {
  double spread = 0.0;     // max - min of the column of V
  double magnitude = 0.0;  // max |v|
};

class TopKAttention {
 public:
  TopKAttention(const Attention::Instance& instance, const Neighbors& neighbors, std::optional<double> gap)
      : x_(instance), neighbors_(neighbors), gap_(gap), log2_scale_(instance.scale * std::numbers::log2e) {
    check();
    for (Eigen::Index c = 0; c < x_.v.cols(); ++c) {
      const auto column = x_.v.col(c);
      const double spread = (column.maxCoeff() - column.minCoeff()) * kEvaluationSlack;
      columns_.push_back({spread, column.cwiseAbs().maxCoeff()});
      largest_spread_ = std::max(largest_spread_, spread);
      largest_value_ = std::max(largest_value_, columns_.back().magnitude);
    }
    const auto dim = static_cast<std::size_t>(x_.k.cols());
    for (Eigen::Index j = 0; j < x_.k.rows(); ++j) {
      key_norm_ = std::max(key_norm_, norm_bound(x_.k.row(j).data(), dim));
    }
    require(largest_value_ * static_cast<double>(x_.k.rows()) <= 0x1p1000, ErrorKind::unsupported,
            "top-k attention: values up to {} for {} keys, expected a product of at most 2^1000", largest_value_,
            x_.k.rows());
  }

  void row(std::uint64_t i, TopKResult& result) const {
    const auto r = static_cast<Eigen::Index>(i);
    const auto dim = static_cast<double>(x_.q.cols());
    const std::uint64_t count = neighbors_.count(i);
    const std::uint64_t visible = neighbors_.mask.visible(i, static_cast<std::uint64_t>(x_.k.rows()));
    check_keys(i, count, visible);

    // Base-2 logits of the listed keys, each within logit_error of the exact one.
    const double magnitude = norm_bound(x_.q.row(r).data(), static_cast<std::size_t>(x_.q.cols())) *
                             std::fabs(log2_scale_) * key_norm_ * kEvaluationSlack;
    const double logit_error =
        (gamma_bound(dim + 4) * magnitude + dim * 0x1p-1074 * (1 + key_norm_)) * kEvaluationSlack;
    require(magnitude <= 0x1p39 && logit_error <= 0x1p-4, ErrorKind::unsupported,
            "top-k attention: query {} has logits up to {}, too large to say anything in float64", i, magnitude);
    std::vector<double> logits(count);
    const Eigen::RowVectorXd query = x_.q.row(r) * log2_scale_;
    for (std::uint64_t a = 0; a < count; ++a) logits[a] = query.dot(x_.k.row(key(r, a)));
    const double largest = *std::max_element(logits.begin(), logits.end());
    const double smallest = *std::min_element(logits.begin(), logits.end());

    // An upper bound of every other logit.
    const double unlisted = static_cast<double>(visible - count);
    double tail_logit = unlisted > 0 ? tail_bound(r, count, smallest + logit_error) : -kInfinity;
    tail_logit = std::min(tail_logit, magnitude);  // no logit is larger
    const double shift = std::ceil(std::max(largest, tail_logit));

    double denominator = 0;
    std::vector<double> weights(count);
    for (std::uint64_t a = 0; a < count; ++a) {
      weights[a] = proved_exp2(logits[a], shift);
      denominator += weights[a];
    }
    const double exponent = logit_error * std::numbers::ln2 * kEvaluationSlack;
    const double weight_error = (exponent + exponent * exponent + 1.125 * kProvedExp2Error) * kEvaluationSlack;
    const double gamma = gamma_bound(static_cast<double>(count) + 2);
    const double tail = unlisted > 0 ? unlisted * tail_weight(tail_logit, shift) * kEvaluationSlack : 0.0;
    const double listed = denominator * (1 - gamma) / (1 + weight_error) / kEvaluationSlack;
    result.tail_mass[r] = tail > 0 ? std::min(tail / (listed + tail) * kEvaluationSlack, 1.0) : 0.0;

    // The listed weights may all have vanished beside a tail bound that is far above them: weigh again, for the output.
    const double own_shift = std::ceil(largest);
    if (own_shift < shift) {
      denominator = 0;
      for (std::uint64_t a = 0; a < count; ++a) denominator += weights[a] = proved_exp2(logits[a], own_shift);
    }
    double bound = 0;
    for (Eigen::Index c = 0; c < x_.v.cols(); ++c) {
      double numerator = 0;
      for (std::uint64_t a = 0; a < count; ++a) numerator += weights[a] * x_.v(key(r, a), c);
      result.output(r, c) = numerator / denominator;
      const Column& column = columns_[static_cast<std::size_t>(c)];
      const double rounding = 0.5 * column.spread * weight_error / (1 - weight_error) +
                              column.magnitude * 2 * gamma / (1 - 2 * gamma) +
                              static_cast<double>(count) * (0x1p-994 * column.magnitude + 0x1p-1070);
      const double cut = result.tail_mass[r] > 0 ? result.tail_mass[r] * column.spread : 0.0;
      bound = std::max(bound, (cut + rounding) * kEvaluationSlack);
    }
    const bool known = unlisted == 0 || neighbors_.exact || gap_;
    result.error_bound[r] = known ? bound : kInfinity;
    if (!known) result.tail_mass[r] = 1.0;
  }

 private:
  Eigen::Index key(Eigen::Index row, std::uint64_t a) const {
    return static_cast<Eigen::Index>(neighbors_.index(row, static_cast<Eigen::Index>(a)));
  }

  void check() const {
    problems::validate(x_);
    require(x_.scale >= 0 && (x_.scale == 0 || x_.scale >= 0x1p-900), ErrorKind::parameter,
            "top-k attention: scale {}, expected 0 or at least 2^-900: the best keys are those of largest <q, k>",
            x_.scale);
    require(!gap_ || *gap_ >= 0, ErrorKind::parameter, "top-k attention: gap {}, expected >= 0", gap_.value_or(0.0));
    require(neighbors_.index.rows() == x_.q.rows(), ErrorKind::parameter,
            "top-k attention: neighbours of {} queries, expected {}", neighbors_.index.rows(), x_.q.rows());
    require(
        !neighbors_.exact ||
            (neighbors_.similarity == ann::Similarity::inner_product && neighbors_.score_error.size() == x_.q.rows() &&
             neighbors_.score.rows() == x_.q.rows() && neighbors_.score.cols() == neighbors_.index.cols()),
        ErrorKind::parameter,
        "top-k attention: an exact search must be by inner product and have scores and score errors of every row");
  }

  /// Distinct visible keys: a key listed twice would count twice.
  void check_keys(std::uint64_t row, std::uint64_t count, std::uint64_t visible) const {
    require(count >= 1, ErrorKind::parameter, "top-k attention: no key is listed for query {}", row);
    const auto* keys = neighbors_.index.row(static_cast<Eigen::Index>(row)).data();
    std::vector<std::uint32_t> sorted(keys, keys + count);
    std::sort(sorted.begin(), sorted.end());
    require(sorted.back() < visible, ErrorKind::parameter,
            "top-k attention: query {} lists key {}, but sees the keys below {} only", row, sorted.back(), visible);
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    require(twice == sorted.end(), ErrorKind::parameter, "top-k attention: query {} lists key {} twice", row,
            twice == sorted.end() ? 0 : *twice);
  }

  /// Upper bound of the base-2 logits of visible keys that are not listed. `smallest` bounds the worst listed one from
  /// above.
  double tail_bound(Eigen::Index row, std::uint64_t count, double smallest) const {
    if (neighbors_.exact) {
      const double score = neighbors_.score(row, static_cast<Eigen::Index>(count - 1)) + neighbors_.score_error[row];
      const double product = score * log2_scale_;
      return product + std::fabs(product) * 0x1p-50 + 0x1p-1000;
    }
    const double raised = smallest + gap_.value_or(0.0) * std::numbers::log2e;
    return raised + std::fabs(raised) * 0x1p-50;
  }

  /// Upper bound of 2^(logit - shift).
  static double tail_weight(double logit, double shift) {
    return std::max(proved_exp2(logit, shift), kProvedExp2Smallest) * (1 + 2 * kProvedExp2Error);
  }

  const Attention::Instance& x_;
  const Neighbors& neighbors_;
  std::optional<double> gap_;
  double log2_scale_;
  double key_norm_ = 0.0;
  double largest_spread_ = 0.0;
  double largest_value_ = 0.0;
  std::vector<Column> columns_;
};

}  // namespace

TopKResult top_k_attention(const Attention::Instance& instance, const Neighbors& neighbors, std::optional<double> gap,
                           const Execution& execution) {
  const TopKAttention kernel(instance, neighbors, gap);
  TopKResult result;
  result.output.resize(instance.q.rows(), instance.v.cols());
  result.tail_mass.resize(instance.q.rows());
  result.error_bound.resize(instance.q.rows());
  const ProgressScope progress(execution, "top-k attention", static_cast<std::uint64_t>(instance.q.rows()));
  parallel_for(execution, static_cast<std::uint64_t>(instance.q.rows()), kRowBlock,
               [&](std::uint64_t begin, std::uint64_t end) {
                 for (std::uint64_t i = begin; i < end; ++i) kernel.row(i, result);
               });
  return result;
}

}  // namespace subquad::attention
