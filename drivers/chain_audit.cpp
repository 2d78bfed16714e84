#include "chain_audit.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/core/stopwatch.hpp>
#include <subquad/reductions/reduction.hpp>
#include <subquad/verifiers/two_level_attention.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace subquad::drivers {

namespace {

using problems::Attention;

constexpr std::size_t kMostFaults = 8;      // evidence for more rows than this helps nobody
constexpr std::size_t kMostEnclosures = 4;  // each costs one row in MPFR
constexpr int kEvidencePrecisionBits = 192;
constexpr std::uint64_t kOperationsPerHistogramEntry = 1000;  // one interval operation, in word operations (estimate)

KernelFault fault_at(const AuditTask& task, std::uint64_t row, std::string what) {
  KernelFault fault;
  fault.row = row;
  fault.what = std::move(what);
  fault.candidate = task.answer.output(static_cast<Eigen::Index>(row), 0);
  if (task.log_domain) fault.log_candidate = task.answer.log_column[row];
  return fault;
}

// Softmax averages lie between the smallest and the largest value; a kernel may leave that range by eps_a at most.
void check_range(const AuditTask& task, ChainAudit& audit) {
  const auto& values = task.instance.v;
  for (Eigen::Index column = 0; column < values.cols(); ++column) {
    const double low = values.col(column).minCoeff() - task.tolerance;
    const double high = values.col(column).maxCoeff() + task.tolerance;
    // One rounding happened in each bound; stepping outward keeps a kernel exactly at its tolerance safe.
    const double low_bound = std::nextafter(low, -HUGE_VAL);
    const double high_bound = std::nextafter(high, HUGE_VAL);
    for (Eigen::Index row = 0; row < task.answer.output.rows(); ++row) {
      if (audit.faults.size() >= kMostFaults) return;
      const double value = task.answer.output(row, column);
      if (value >= low_bound && value <= high_bound) continue;
      audit.faults.push_back(
          fault_at(task, static_cast<std::uint64_t>(row),
                   std::isfinite(value)
                       ? fmt::format("output {} is outside [{:.6g}, {:.6g}], where every average of the values is",
                                     value, low, high)
                       : fmt::format("output is {}, not a number that attention can give", value)));
    }
  }
}

void check_log_range(const AuditTask& task, ChainAudit& audit) {
  const double log_highest = std::log(task.instance.v.col(0).maxCoeff() + task.tolerance);
  for (std::uint64_t row = 0; row < task.answer.log_column.size() && audit.faults.size() < kMostFaults; ++row) {
    const Attention::LogEnclosure& log_u = task.answer.log_column[row];
    if (!(log_u.log_low <= log_u.log_high))
      audit.faults.push_back(
          fault_at(task, row, fmt::format("[{}, {}] encloses no logarithm", log_u.log_low, log_u.log_high)));
    else if (!(log_u.log_low <= std::nextafter(log_highest, HUGE_VAL)))
      audit.faults.push_back(
          fault_at(task, row,
                   fmt::format("ln u >= {} is above {}, the largest that an average of the values has", log_u.log_low,
                               log_highest)));
  }
}

// A reduction that reads flags may itself prove a value wrong; that is a fault like any other.
void read_flags(const AuditTask& task, ChainAudit& audit) {
  try {
    audit.flags = task.read_flags();
  } catch (const reductions::OracleRefuted& refuted) {
    audit.faults.push_back(fault_at(task, refuted.row(), refuted.what()));
  }
}

void check_flags(const AuditTask& task, const AuditPolicy& policy, std::uint64_t seed, ChainAudit& audit) {
  std::optional<std::vector<std::uint64_t>> rows;
  audit.rows_flag_checked = task.num_flags;
  if (policy.mode != AuditMode::full && task.flag_row_operations * task.num_flags > kMostFlagOperations) {
    const Count affordable = kMostFlagOperations / std::max<Count>(1, task.flag_row_operations);
    const std::uint64_t wanted = std::max(policy.sample_rows, to_u64(affordable, "rows to audit"));
    rows = sample_rows(task.num_flags, wanted, seed);
    audit.rows_flag_checked = rows->size();
  }
  for (const WrongFlag& wrong : task.wrong_flags(audit.flags, rows)) {
    if (audit.faults.size() >= kMostFaults) break;
    audit.faults.push_back(fault_at(task, wrong.row, wrong.what));
  }
}

// Rows whose values are looked at: all, or a sample and every row in doubt.
std::optional<std::vector<std::uint64_t>> value_rows(const AuditPolicy& policy, bool affordable, std::uint64_t seed,
                                                     const ChainAudit& audit) {
  if (policy.mode == AuditMode::full || (policy.mode == AuditMode::automatic && affordable)) return std::nullopt;
  std::vector<std::uint64_t> rows = sample_rows(audit.num_rows, policy.sample_rows, seed);
  for (const KernelFault& fault : audit.faults) rows.push_back(fault.row);
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

verifiers::AttentionOutputReport verify_values(const AuditTask& task, const AuditPolicy& policy, std::uint64_t seed,
                                               const Execution& execution, ChainAudit& audit) {
  const auto& instance = task.instance;
  const Count pairs =
      Count(static_cast<std::uint64_t>(instance.q.rows())) * static_cast<std::uint64_t>(instance.k.rows());
  const auto dim = static_cast<std::uint64_t>(instance.q.cols());
  const Count histogram_operations =
      pairs * ((dim + 63) / 64) + kOperationsPerHistogramEntry * Count(audit.num_rows) * (dim + 1);
  const Count operations = pairs * (dim + static_cast<std::uint64_t>(instance.v.cols()));
  verifiers::AttentionOutputOptions options;
  // The reductions' instances are bit vectors in disguise, which integer histograms audit for the price of a bit scan.
  options.rows = value_rows(policy, histogram_operations <= kMostValueOperations, seed, audit);
  audit.by_histogram = true;
  if (auto report = verifiers::verify_two_level_attention_output(instance, task.answer.output, task.tolerance, options,
                                                                 execution))
    return *report;
  audit.by_histogram = false;
  options.rows = value_rows(policy, operations <= kMostValueOperations, seed, audit);
  return verifiers::verify_attention_output(instance, task.answer.output, task.tolerance, options, execution);
}

void check_values(const AuditTask& task, const AuditPolicy& policy, std::uint64_t seed, const Execution& execution,
                  ChainAudit& audit) {
  const auto report = verify_values(task, policy, seed, execution, audit);
  audit.rows_value_checked = report.rows_checked;
  audit.entries_by_double = report.entries_by_double;
  audit.entries_by_mpfr = report.entries_by_mpfr;
  audit.largest_error_bound = report.largest_error_bound;
  for (const auto& finding : report.findings) {
    if (finding.verdict != Verdict::refuted) continue;
    const auto known =
        std::find_if(audit.faults.begin(), audit.faults.end(), [&](const auto& f) { return f.row == finding.row; });
    if (known != audit.faults.end()) {
      known->truth = finding.truth;
      continue;
    }
    if (audit.faults.size() >= kMostFaults) continue;
    KernelFault fault =
        fault_at(task, finding.row, fmt::format("output is further than {:.6g} from the exact value", task.tolerance));
    fault.candidate = finding.candidate;
    fault.truth = finding.truth;
    audit.faults.push_back(std::move(fault));
  }
  if (report.verdict == Verdict::undecided && audit.faults.empty()) audit.verdict = Verdict::undecided;
}

void add_evidence(const AuditTask& task, ChainAudit& audit) {
  std::size_t enclosures = 0;
  for (KernelFault& fault : audit.faults) {
    if (fault.truth || enclosures == kMostEnclosures) continue;
    ++enclosures;
    fault.truth = verifiers::enclose_attention_row(task.instance, fault.row, kEvidencePrecisionBits).front();
  }
}

}  // namespace

std::vector<std::uint64_t> sample_rows(std::uint64_t count, std::uint64_t wanted, std::uint64_t seed) {
  std::vector<std::uint64_t> rows;
  if (wanted >= count) {
    rows.resize(count);
    for (std::uint64_t r = 0; r < count; ++r) rows[r] = r;
    return rows;
  }
  // Floyd's algorithm: every subset of that size is equally likely, and memory is O(wanted).
  Random random = Random(seed).split("audit rows");
  std::set<std::uint64_t> chosen;
  for (std::uint64_t top = count - wanted; top < count; ++top)
    if (!chosen.insert(random.below(top + 1)).second) chosen.insert(top);
  rows.assign(chosen.begin(), chosen.end());
  return rows;
}

ChainAudit audit_kernel(const AuditTask& task, const AuditPolicy& policy, std::uint64_t seed,
                        const Execution& execution) {
  const Stopwatch watch;
  ChainAudit audit;
  audit.num_rows = static_cast<std::uint64_t>(task.instance.q.rows());
  audit.num_flags = task.num_flags;
  require(task.answer.output.rows() == task.instance.q.rows() && task.answer.output.cols() == task.instance.v.cols(),
          ErrorKind::parameter, "the kernel's output is {} x {}, expected {} x {}", task.answer.output.rows(),
          task.answer.output.cols(), task.instance.q.rows(), task.instance.v.cols());
  require(!task.log_domain || task.answer.log_column.size() == audit.num_rows, ErrorKind::parameter,
          "the kernel gave {} log enclosures, expected {}", task.answer.log_column.size(), audit.num_rows);
  const bool audited = policy.mode != AuditMode::none;
  if (audited) audit.verdict = Verdict::certified;
  if (audited && task.log_domain) check_log_range(task, audit);
  if (audited && !task.log_domain) check_range(task, audit);
  if (audit.faults.empty()) read_flags(task, audit);
  if (audited && audit.faults.empty()) check_flags(task, policy, seed, audit);
  if (audited && !task.log_domain) check_values(task, policy, seed, execution, audit);
  add_evidence(task, audit);
  std::stable_sort(audit.faults.begin(), audit.faults.end(),
                   [](const auto& a, const auto& b) { return a.row < b.row; });
  if (!audit.faults.empty()) audit.verdict = Verdict::refuted;
  audit.seconds = watch.seconds();
  return audit;
}

}  // namespace subquad::drivers
