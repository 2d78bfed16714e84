// Chain audit: is a kernel's output good enough for the verdict that is read from it? Checked with verifiers only.
//
// Three questions, none of which trusts the kernel or the reductions:
//   range   is every output a number, and within eps_a of the values' range (where every softmax average is)?
//   flags   does each row's flag (partner / no partner) agree with an exact integer scan of the instance before?
//   values  is each output entry proved to be within eps_a of the exact one? (log domain: range and flags only)
// A kernel within its eps_a passes all three. A row that fails one gets a proved enclosure of its exact value.
#pragma once

#include "chain_options.hpp"

#include <subquad/core/verdict.hpp>
#include <subquad/problems/attention.hpp>
#include <subquad/verifiers/attention_output.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace subquad::drivers {

/// A row on which the kernel is proved wrong.
struct KernelFault {
  std::uint64_t row = 0;
  std::string what;                                                ///< one line: which check failed, and how
  double candidate = 0;                                            ///< û_i, may be NaN
  std::optional<problems::Attention::LogEnclosure> log_candidate;  ///< the kernel's enclosure of ln u_i, if it gave one
  std::optional<verifiers::EntryEnclosure> truth;                  ///< proved enclosure of u_i
};

/// A row whose flag is wrong, worded by the problem before attention.
struct WrongFlag {
  std::uint64_t row = 0;
  std::string what;  ///< "a_3 is orthogonal to b_7, but the output says it has no partner"
};

struct AuditTask {
  const problems::Attention::Instance& instance;
  const problems::Attention::Answer& answer;
  double tolerance = 0;         ///< a double that is at least eps_a (and no more than the next one)
  bool log_domain = false;      ///< the verdict is read from answer.log_column
  std::uint64_t num_flags = 0;  ///< rows that carry a flag (the first ones)
  Count flag_row_operations;    ///< word operations to scan one row
  /// Reads the flags from the answer. Called only if the range check found no fault.
  std::function<std::vector<bool>()> read_flags;
  /// Checks the flags of these rows (nothing: all) by exact scans.
  std::function<std::vector<WrongFlag>(const std::vector<bool>& flags,
                                       const std::optional<std::vector<std::uint64_t>>& rows)>
      wrong_flags;
};

struct ChainAudit {
  /// certified: every check that ran passed; refuted: a row is proved wrong; undecided: not audited, or MPFR gave up.
  Verdict verdict = Verdict::undecided;
  std::uint64_t num_rows = 0;
  std::uint64_t num_flags = 0;
  std::uint64_t rows_flag_checked = 0;
  std::uint64_t rows_value_checked = 0;
  /// Values were audited by verifiers/two_level_attention (entries_by_double: from histograms).
  bool by_histogram = false;
  std::uint64_t entries_by_double = 0;
  std::uint64_t entries_by_mpfr = 0;
  double largest_error_bound = 0;  ///< proved bound of max |û - u| over the values looked at
  std::vector<bool> flags;         ///< empty if the range check failed
  std::vector<KernelFault> faults;
  double seconds = 0;

  /// True iff the flags of all rows were checked.
  bool complete() const noexcept { return rows_flag_checked == num_flags; }
};

/// Runs the checks that the policy asks for. Rows to sample come from `seed` only.
/// Errors  Error(parameter) if the answer's shape is wrong; Error(undecided) from read_flags; Error(interrupted)
ChainAudit audit_kernel(const AuditTask& task, const AuditPolicy& policy, std::uint64_t seed,
                        const Execution& execution);

/// Limits of AuditMode::automatic, and of the flag scan in every mode but full.
inline constexpr std::uint64_t kMostValueOperations = std::uint64_t{1} << 36;
inline constexpr std::uint64_t kMostFlagOperations = std::uint64_t{1} << 42;

/// Rows 0 <= r < count in ascending order: all if `wanted >= count`, else `wanted` different ones drawn from the seed.
std::vector<std::uint64_t> sample_rows(std::uint64_t count, std::uint64_t wanted, std::uint64_t seed);

}  // namespace subquad::drivers
