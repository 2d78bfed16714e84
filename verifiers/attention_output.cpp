#include "attention_row.hpp"
#include "chosen_rows.hpp"

#include <subquad/core/error.hpp>
#include <subquad/exact/interval.hpp>
#include <subquad/verifiers/attention_output.hpp>
#include <subquad/verifiers/softmax_enclosure.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

namespace subquad::verifiers {
namespace {

using exact::Comparison;
using exact::Interval;
using Instance = problems::Attention::Instance;
using Finding = AttentionOutputFinding;

constexpr int kFirstPrecisionBits = 128;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A verdict on one entry with a proved upper bound of its error.
struct Decision {
  Verdict verdict = Verdict::undecided;
  double error_bound = kInfinity;
};

/// Decides |candidate - u| <= tolerance for every u in the enclosure. A rounded difference is off by less than the gap
/// to its neighbours; comparisons with NaN are false and so decide nothing.
Decision decide(double candidate, const EntryEnclosure& truth, double tolerance) {
  if (!std::isfinite(candidate)) return {Verdict::refuted, kInfinity};
  const double farthest = std::max(truth.high - candidate, candidate - truth.low);
  const double nearest = std::max(truth.low - candidate, candidate - truth.high);
  const double farthest_bound = farthest == 0.0 ? 0.0 : std::nextafter(farthest, kInfinity);
  if (farthest_bound <= tolerance) return {Verdict::certified, farthest_bound};
  if (std::nextafter(nearest, -kInfinity) > tolerance) return {Verdict::refuted, farthest_bound};
  return {};
}

/// The same against an interval of higher precision.
Decision decide(double candidate, const Interval& truth, double tolerance) {
  if (!std::isfinite(candidate)) return {Verdict::refuted, kInfinity};
  const int bits = truth.precision_bits();
  const Interval error = abs(Interval::from_double(candidate, bits) - truth);
  const Interval limit = Interval::from_double(tolerance, bits);
  if (certainly_at_most(error, limit)) return {Verdict::certified, error.high()};
  if (compare(error, limit) == Comparison::greater) return {Verdict::refuted, error.high()};
  return {};
}

EntryEnclosure outward(const Interval& interval) {
  return {interval.low(), interval.high()};
}

/// What one block of rows contributes to the report. Blocks are merged in order, so threads leave no trace.
struct Tally {
  std::uint64_t decided = 0;
  std::uint64_t refuted = 0;
  std::uint64_t undecided = 0;
  double largest_error_bound = 0.0;
  std::vector<Finding> findings;  ///< the first max_reported of each verdict
  std::uint64_t reported_refuted = 0;
  std::uint64_t reported_undecided = 0;

  void add(const Decision& decision, const Finding& finding, std::uint64_t max_reported) {
    if (decision.verdict == Verdict::undecided) {
      ++undecided;
    } else {
      ++decided;
      largest_error_bound = std::max(largest_error_bound, decision.error_bound);  // an upper bound, never NaN
      if (decision.verdict == Verdict::certified) return;
      ++refuted;
    }
    std::uint64_t& reported = decision.verdict == Verdict::refuted ? reported_refuted : reported_undecided;
    if (reported < max_reported) {
      ++reported;
      findings.push_back(finding);
      findings.back().verdict = decision.verdict;
    }
  }

  void merge(const Tally& other) {
    decided += other.decided;
    refuted += other.refuted;
    undecided += other.undecided;
    largest_error_bound = std::max(largest_error_bound, other.largest_error_bound);
    findings.insert(findings.end(), other.findings.begin(), other.findings.end());
  }
};

/// Entries of one row that doubles could not decide, with their enclosures from doubles.
struct PendingRow {
  std::uint64_t row = 0;
  std::vector<std::uint64_t> columns;
  std::vector<EntryEnclosure> truths;
};

struct Check {
  const Instance& instance;
  const problems::MatrixD& output;
  double tolerance;
  const AttentionOutputOptions& options;

  double candidate(std::uint64_t row, std::uint64_t column) const {
    return output(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(column));
  }

  /// Decides rows by doubles; what stays open goes to `pending`.
  Tally by_double(const SoftmaxEnclosure& enclosure, std::span<const std::uint64_t> rows,
                  std::vector<PendingRow>& pending) const {
    Tally tally;
    const auto width = static_cast<std::size_t>(instance.v.cols());
    std::vector<EntryEnclosure> truths(rows.size() * width);
    enclosure.enclose(rows, truths.data());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      PendingRow open{.row = rows[r], .columns = {}, .truths = {}};
      for (std::size_t c = 0; c < width; ++c) {
        const EntryEnclosure& truth = truths[r * width + c];
        const double value = candidate(rows[r], c);
        const Decision decision = decide(value, truth, tolerance);
        if (decision.verdict == Verdict::undecided) {
          open.columns.push_back(c);
          open.truths.push_back(truth);
        } else {
          tally.add(decision, {.row = rows[r], .column = c, .candidate = value, .truth = truth}, options.max_reported);
        }
      }
      if (!open.columns.empty()) pending.push_back(std::move(open));
    }
    return tally;
  }

  /// Decides the open entries of one row by intervals of growing precision.
  Tally by_intervals(PendingRow open, const Execution& execution) const {
    Tally tally;
    for (int bits = kFirstPrecisionBits; bits <= options.max_precision_bits && !open.columns.empty(); bits *= 2) {
      execution.check_stop();
      const std::vector<Interval> truths = attention_row(instance, open.row, open.columns, bits, options.mask);
      PendingRow still_open{.row = open.row, .columns = {}, .truths = {}};
      for (std::size_t c = 0; c < truths.size(); ++c) {
        const std::uint64_t column = open.columns[c];
        const double value = candidate(open.row, column);
        const Decision decision = decide(value, truths[c], tolerance);
        if (decision.verdict == Verdict::undecided) {
          still_open.columns.push_back(column);
          still_open.truths.push_back(outward(truths[c]));
        } else {
          tally.add(decision, {.row = open.row, .column = column, .candidate = value, .truth = outward(truths[c])},
                    options.max_reported);
        }
      }
      open = std::move(still_open);
    }
    for (std::size_t c = 0; c < open.columns.size(); ++c) {
      const std::uint64_t column = open.columns[c];
      tally.add({},
                {.row = open.row, .column = column, .candidate = candidate(open.row, column), .truth = open.truths[c]},
                options.max_reported);
    }
    return tally;
  }

  /// Narrows the printed truth of an entry that doubles refuted to neighbouring doubles, if the precision allows it.
  void tighten(Finding& finding) const {
    const std::uint64_t column = finding.column;
    for (int bits = kFirstPrecisionBits; bits <= options.max_precision_bits; bits *= 2) {
      if (std::nextafter(finding.truth.low, kInfinity) >= finding.truth.high) return;
      const EntryEnclosure truth =
          outward(attention_row(instance, finding.row, {&column, 1}, bits, options.mask).front());
      finding.truth = {std::max(finding.truth.low, truth.low), std::min(finding.truth.high, truth.high)};
    }
  }
};

void keep_first(std::vector<Finding>& findings, std::uint64_t max_reported) {
  std::sort(findings.begin(), findings.end(),
            [](const Finding& x, const Finding& y) { return std::pair(x.row, x.column) < std::pair(y.row, y.column); });
  std::uint64_t refuted = 0;
  std::uint64_t undecided = 0;
  std::erase_if(findings, [&](const Finding& finding) {
    return (finding.verdict == Verdict::refuted ? refuted : undecided)++ >= max_reported;
  });
}

}  // namespace

AttentionOutputReport verify_attention_output(const Instance& instance, const problems::MatrixD& output,
                                              double tolerance, const AttentionOutputOptions& options,
                                              const Execution& execution) {
  problems::validate(instance);
  require(output.rows() == instance.q.rows() && output.cols() == instance.v.cols(), ErrorKind::parameter,
          "attention output: {} x {} entries, expected {} x {}", output.rows(), output.cols(), instance.q.rows(),
          instance.v.cols());
  require(tolerance >= 0.0 && tolerance < kInfinity, ErrorKind::parameter,
          "attention output: tolerance {}, expected a finite number >= 0", tolerance);
  require(options.max_precision_bits >= 0 && options.max_precision_bits <= Interval::kMaxPrecisionBits,
          ErrorKind::parameter, "attention output: at most {} bits, expected 0 to {}", options.max_precision_bits,
          Interval::kMaxPrecisionBits);
  const std::vector<std::uint64_t> rows = chosen_rows(options.rows, static_cast<std::uint64_t>(instance.q.rows()));

  AttentionOutputReport report;
  report.rows_checked = rows.size();
  Tally total;
  if (!rows.empty() && instance.v.cols() > 0) {
    const Check check{instance, output, tolerance, options};
    const SoftmaxEnclosure enclosure(instance, {}, options.mask);
    constexpr std::uint64_t kBlock = SoftmaxEnclosure::kRowBlock;
    const std::size_t blocks = (rows.size() - 1) / kBlock + 1;
    std::vector<Tally> tallies(blocks);
    std::vector<std::vector<PendingRow>> pending_of_block(blocks);
    {
      const ProgressScope progress(execution, "verifying attention output", rows.size());
      parallel_for(execution, rows.size(), kBlock, [&](std::uint64_t begin, std::uint64_t end) {
        const std::size_t block = begin / kBlock;
        tallies[block] =
            check.by_double(enclosure, std::span(rows).subspan(begin, end - begin), pending_of_block[block]);
      });
    }
    for (const Tally& tally : tallies) total.merge(tally);
    report.entries_by_double = total.decided;

    std::vector<PendingRow> pending;
    for (std::vector<PendingRow>& some : pending_of_block) {
      for (PendingRow& open : some) {
        report.entries_by_mpfr += open.columns.size();
        pending.push_back(std::move(open));
      }
    }
    tallies.assign(pending.size(), {});
    {
      const ProgressScope progress(execution, "deciding rows by intervals", pending.size());
      parallel_for(execution, pending.size(), 1, [&](std::uint64_t begin, std::uint64_t) {
        tallies[begin] = check.by_intervals(std::move(pending[begin]), execution);
      });
    }
    for (const Tally& tally : tallies) total.merge(tally);

    keep_first(total.findings, options.max_reported);
    parallel_for({.threads = execution.threads, .stop = execution.stop, .progress = nullptr}, total.findings.size(), 1,
                 [&](std::uint64_t begin, std::uint64_t) {
                   Finding& finding = total.findings[begin];
                   if (finding.verdict == Verdict::refuted) check.tighten(finding);
                 });
  }
  report.largest_error_bound = total.largest_error_bound;
  report.findings = std::move(total.findings);
  report.verdict = total.refuted > 0 ? Verdict::refuted : total.undecided > 0 ? Verdict::undecided : Verdict::certified;
  return report;
}

std::vector<EntryEnclosure> enclose_attention_row(const Instance& instance, std::uint64_t row, int precision_bits,
                                                  const problems::AttentionMask& mask) {
  problems::validate(instance);
  const auto num_rows = static_cast<std::uint64_t>(instance.q.rows());
  require(row < num_rows, ErrorKind::parameter, "attention output: row {} asked for, but there are {} rows", row,
          num_rows);
  require(precision_bits >= std::numeric_limits<double>::digits, ErrorKind::parameter,
          "attention output: {} bits, expected at least {}", precision_bits, std::numeric_limits<double>::digits);
  std::vector<std::uint64_t> columns(static_cast<std::size_t>(instance.v.cols()));
  std::iota(columns.begin(), columns.end(), std::uint64_t{0});
  std::vector<EntryEnclosure> result;
  for (const Interval& entry : attention_row(instance, row, columns, precision_bits, mask))
    result.push_back(outward(entry));
  return result;
}

}  // namespace subquad::verifiers
