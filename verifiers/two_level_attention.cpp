#include "chosen_rows.hpp"
#include "two_level_structure.hpp"

#include <subquad/core/error.hpp>
#include <subquad/exact/interval.hpp>
#include <subquad/verifiers/two_level_attention.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

namespace subquad::verifiers {
namespace {

using exact::Interval;
using problems::Attention;
using problems::MatrixD;

constexpr int kFirstPrecisionBits = 96;

// histogram[h] = number of regular keys whose statistic with query i is h. The popcount instruction is not in the
// baseline of x86-64, so the loop exists twice and the processor is asked once.
template <class Combine>
[[gnu::always_inline]] inline void count_statistics(const BitMatrix& b, std::span<const std::uint64_t> a,
                                                    Combine combine, std::span<std::uint64_t> histogram) {
  const std::uint64_t words = b.words_per_row();
  const std::uint64_t* row = b.words().data();
  for (std::uint64_t j = 0; j < b.rows(); ++j, row += words) {
    std::uint64_t statistic = 0;
    for (std::uint64_t w = 0; w < words; ++w)
      statistic += static_cast<std::uint64_t>(__builtin_popcountll(combine(a[w], row[w])));
    ++histogram[statistic];
  }
}

[[gnu::always_inline]] inline void count_any(const TwoLevelStructure& s, std::uint64_t i,
                                             std::span<std::uint64_t> histogram) {
  if (s.statistic == Statistic::inner_product)
    count_statistics(
        s.b, s.a.row(i), [](std::uint64_t x, std::uint64_t y) { return x & y; }, histogram);
  else
    count_statistics(
        s.b, s.a.row(i), [](std::uint64_t x, std::uint64_t y) { return x ^ y; }, histogram);
}

void count_portable(const TwoLevelStructure& s, std::uint64_t i, std::span<std::uint64_t> histogram) {
  count_any(s, i, histogram);
}

#if defined(__x86_64__)
[[gnu::target("popcnt")]] void count_popcnt(const TwoLevelStructure& s, std::uint64_t i,
                                            std::span<std::uint64_t> histogram) {
  count_any(s, i, histogram);
}
#endif

using CountFunction = void (*)(const TwoLevelStructure&, std::uint64_t, std::span<std::uint64_t>);

CountFunction best_count() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("popcnt")) return count_popcnt;
#endif
  return count_portable;
}

// Everything that does not depend on the row, at one precision.
// Logits are scale * (offset + slope_weight |a| + slope h).
class Evaluator {
 public:
  Evaluator(const Attention::Instance& instance, const TwoLevelStructure& s, int precision)
      : instance_(instance), s_(s), precision_(precision) {
    const Interval x1 = real(s.x1), z0 = real(s.z0), z1 = real(s.z1), scale = real(instance.scale);
    const auto m = static_cast<std::int64_t>(s.bit_columns.size());
    Interval slope = x1 * (z1 - z0);
    slope_weight_ = x1 * z0;
    regular_offset_ = constant_part(s.regular_key);
    if (s.statistic == Statistic::hamming_distance) {
      slope_weight_ = x1 * (z1 + z0);
      regular_offset_ -= x1 * z0 * integer(m);
      slope = -slope;
    }
    slope = slope * scale;
    ascending_ = slope.high() > 0.0;
    slope_ = slope;
    const Interval decay = -abs(slope);
    decay_.reserve(static_cast<std::size_t>(m) + 1);
    for (std::int64_t h = 0; h <= m; ++h) decay_.push_back(exp(decay * integer(h)));
    for (const SpecialKey& key : s.special) special_offset_.push_back(constant_part(key.key));
  }

  // Encloses row i of the output, one interval a column of V, from the histogram of the row's statistics.
  std::vector<Interval> row(std::uint64_t i, std::span<const std::uint64_t> histogram) const {
    const auto present = [](std::uint64_t count) { return count != 0; };
    const auto best = ascending_
                          ? static_cast<std::int64_t>(histogram.size()) - 1 -
                                (std::find_if(histogram.rbegin(), histogram.rend(), present) - histogram.rbegin())
                          : std::find_if(histogram.begin(), histogram.end(), present) - histogram.begin();
    Interval regular(precision_);  // sum of regular weights, relative to the weight of the best statistic
    for (std::size_t h = 0; h < histogram.size(); ++h) {
      if (histogram[h] == 0) continue;
      const auto distance = static_cast<std::size_t>(std::abs(static_cast<std::int64_t>(h) - best));
      regular += integer(static_cast<std::int64_t>(histogram[h])) * decay_[distance];
    }
    const Interval ones = integer(static_cast<std::int64_t>(weight(s_.a.row(i))));
    const Interval scale = real(instance_.scale);
    const Interval best_logit = scale * (regular_offset_ + slope_weight_ * ones) + slope_ * integer(best);

    Interval total = regular;
    std::vector<Interval> special;
    for (std::size_t k = 0; k < s_.special.size(); ++k) {
      const SpecialKey& key = s_.special[k];
      // sum over the bit columns of q_i = x0 (m - |a|) + x1 |a|
      const Interval zeros = integer(static_cast<std::int64_t>(s_.bit_columns.size())) - ones;
      const Interval query_sum = real(s_.x0) * zeros + real(s_.x1) * ones;
      const Interval logit = scale * (special_offset_[k] + real(key.level) * query_sum);
      special.push_back(integer(static_cast<std::int64_t>(key.multiplicity)) * exp(logit - best_logit));
      total += special.back();
    }
    std::vector<Interval> result;
    for (Eigen::Index c = 0; c < instance_.v.cols(); ++c) {
      Interval numerator = regular * value(s_.regular_key, c);
      for (std::size_t k = 0; k < special.size(); ++k) numerator += special[k] * value(s_.special[k].key, c);
      result.push_back(numerator / total);
    }
    return result;
  }

 private:
  Interval real(double x) const { return Interval::from_double(x, precision_); }
  Interval integer(std::int64_t x) const { return Interval::from_integer(x, precision_); }
  Interval value(std::uint64_t key, Eigen::Index column) const {
    return real(instance_.v(static_cast<Eigen::Index>(key), column));
  }
  Interval constant_part(std::uint64_t key) const {
    Interval sum(precision_);
    for (const Eigen::Index c : s_.constant_columns)
      sum.add_product(instance_.q(0, c), instance_.k(static_cast<Eigen::Index>(key), c));
    return sum;
  }

  const Attention::Instance& instance_;
  const TwoLevelStructure& s_;
  int precision_;
  Interval slope_, slope_weight_, regular_offset_;
  bool ascending_ = false;
  std::vector<Interval> decay_;           // e^{-|slope| h}
  std::vector<Interval> special_offset_;  // constant columns' part of each special key's logit, without scale
};

struct EntryDecision {
  Verdict verdict = Verdict::undecided;
  double error_bound = std::numeric_limits<double>::infinity();
};

EntryDecision decide(const Interval& truth, double candidate, double tolerance, int precision) {
  if (!std::isfinite(candidate)) return {Verdict::refuted, std::numeric_limits<double>::infinity()};
  const Interval error = abs(truth - Interval::from_double(candidate, precision));
  const Interval allowed = Interval::from_double(tolerance, precision);
  if (certainly_at_most(error, allowed)) return {Verdict::certified, error.high()};
  if (compare(error, allowed) == exact::Comparison::greater) return {Verdict::refuted, error.high()};
  return {Verdict::undecided, error.high()};
}

// Audits the given rows at one precision; returns the rows with an undecided entry.
std::vector<std::uint64_t> audit(const Attention::Instance& instance, const TwoLevelStructure& s, const MatrixD& output,
                                 double tolerance, int precision, const std::vector<std::uint64_t>& rows,
                                 const Execution& execution, AttentionOutputReport& report) {
  const Evaluator evaluator(instance, s, precision);
  const CountFunction count = best_count();
  std::vector<std::uint64_t> undecided;
  std::mutex mutex;
  const ProgressScope progress(execution, "audit of values", rows.size());
  parallel_for(execution, rows.size(), 16, [&](std::uint64_t begin, std::uint64_t end) {
    std::vector<std::uint64_t> histogram(s.bit_columns.size() + 1);
    for (std::uint64_t r = begin; r < end; ++r) {
      const std::uint64_t i = rows[r];
      std::fill(histogram.begin(), histogram.end(), 0);
      count(s, i, histogram);
      const std::vector<Interval> truth = evaluator.row(i, histogram);
      std::vector<AttentionOutputFinding> findings;
      bool open = false;
      double error_bound = 0.0;
      for (std::size_t c = 0; c < truth.size(); ++c) {
        const double candidate = output(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(c));
        const EntryDecision decision = decide(truth[c], candidate, tolerance, precision);
        open = open || decision.verdict == Verdict::undecided;
        error_bound = std::max(error_bound, decision.error_bound);
        if (decision.verdict == Verdict::refuted)
          findings.push_back({i, c, candidate, {truth[c].low(), truth[c].high()}, Verdict::refuted});
      }
      const std::lock_guard lock(mutex);
      if (open) {
        undecided.push_back(i);
        continue;
      }
      (precision == kFirstPrecisionBits ? report.entries_by_double : report.entries_by_mpfr) += truth.size();
      report.largest_error_bound = std::max(report.largest_error_bound, error_bound);
      report.findings.insert(report.findings.end(), findings.begin(), findings.end());
    }
  });
  std::sort(undecided.begin(), undecided.end());
  return undecided;
}

}  // namespace

std::optional<AttentionOutputReport> verify_two_level_attention_output(const Attention::Instance& instance,
                                                                       const MatrixD& output, double tolerance,
                                                                       const AttentionOutputOptions& options,
                                                                       const Execution& execution) {
  problems::validate(instance);
  require(output.rows() == instance.q.rows() && output.cols() == instance.v.cols(), ErrorKind::parameter,
          "attention output is {} x {}, expected {} x {}", output.rows(), output.cols(), instance.q.rows(),
          instance.v.cols());
  require(tolerance >= 0.0 && std::isfinite(tolerance), ErrorKind::parameter,
          "tolerance {} is not a finite number >= 0", tolerance);
  const auto structure = two_level_structure(instance);
  if (!structure) return std::nullopt;

  const std::vector<std::uint64_t> rows = chosen_rows(options.rows, static_cast<std::uint64_t>(output.rows()));

  AttentionOutputReport report;
  report.rows_checked = rows.size();
  std::vector<std::uint64_t> open = rows;
  int precision = kFirstPrecisionBits;
  while (true) {
    open = audit(instance, *structure, output, tolerance, precision, open, execution, report);
    if (open.empty() || precision > options.max_precision_bits / 2) break;
    precision *= 2;
  }
  for (const std::uint64_t i : open)
    for (Eigen::Index c = 0; c < output.cols(); ++c)
      report.findings.push_back({i, static_cast<std::uint64_t>(c), output(static_cast<Eigen::Index>(i), c),
                                 enclose_attention_row(instance, i, precision)[static_cast<std::size_t>(c)],
                                 Verdict::undecided});
  report.verdict = Verdict::certified;
  for (const AttentionOutputFinding& finding : report.findings)
    report.verdict = combine(report.verdict, finding.verdict);
  std::sort(report.findings.begin(), report.findings.end(),
            [](const auto& x, const auto& y) { return std::pair(x.row, x.column) < std::pair(y.row, y.column); });
  if (report.findings.size() > options.max_reported) report.findings.resize(options.max_reported);
  return report;
}

}  // namespace subquad::verifiers
