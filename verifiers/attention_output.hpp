// Attention output verifier: is a candidate output within eps_a of softmax attention, entry by entry? With proof.
//
// Doubles are not a reference. Each entry is first decided from double arithmetic with a proved forward error bound,
// and where that cannot decide, from MPFR interval arithmetic at growing precision. Proof of the bounds:
// docs/proofs/attention_output.md
#pragma once

#include <subquad/core/execution.hpp>
#include <subquad/core/verdict.hpp>
#include <subquad/problems/attention.hpp>
#include <subquad/problems/attention_mask.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace subquad::verifiers {

/// A proved enclosure of one output entry.
struct EntryEnclosure {
  double low = 0.0;
  double high = 0.0;
};

/// What to look at, how hard to try, and how much to list.
struct AttentionOutputOptions {
  /// Rows to look at (0-based), in any order, duplicates counting once; empty optional: all rows.
  std::optional<std::vector<std::uint64_t>> rows;
  int max_precision_bits = 4096;    ///< MPFR gives up (undecided) beyond this
  std::uint64_t max_reported = 16;  ///< at most so many refuted entries are listed
  problems::AttentionMask mask{};   ///< row i is softmax over the first mask.visible(i, n_k) keys; default: all keys
};

/// One entry that was proved wrong, or that could not be decided.
struct AttentionOutputFinding {
  std::uint64_t row = 0;
  std::uint64_t column = 0;
  double candidate = 0.0;  ///< the kernel's value (may be NaN)
  EntryEnclosure truth;    ///< proved enclosure of the exact value
  Verdict verdict = Verdict::refuted;
};

/// The verdict on an output, with its evidence.
struct AttentionOutputReport {
  Verdict verdict = Verdict::undecided;  ///< over all rows looked at
  std::uint64_t rows_checked = 0;
  std::uint64_t entries_by_double = 0;  ///< decided on the fast path
  std::uint64_t entries_by_mpfr = 0;    ///< needed MPFR
  double largest_error_bound = 0.0;     ///< proved upper bound of max |candidate - truth| over decided entries
  std::vector<AttentionOutputFinding> findings;
};

/// Decides |output(i,j) - Att(i,j)| <= tolerance for each entry of the chosen rows; Att under options.mask.
///
/// Shapes   instance as problems::Attention, output: n x d_v
/// Returns  certified iff every entry is proved within; refuted iff some entry is proved outside (NaN and
///          infinities are outside); else undecided. The instance's own log_tolerance is not used.
/// Ranges   tolerance >= 0, finite
/// Threads  over rows; result independent of their number
/// Cost     O(rows n_k (d + d_v)) double operations, plus MPFR for the rows that need it
/// Errors   Error(parameter) for mismatched shapes or a bad tolerance
AttentionOutputReport verify_attention_output(const problems::Attention::Instance& instance,
                                              const problems::MatrixD& output, double tolerance,
                                              const AttentionOutputOptions& options = {},
                                              const Execution& execution = {});

/// Encloses one row of the exact output, under a mask, in MPFR interval arithmetic at the given precision.
/// O(n_k (d + d_v)).
std::vector<EntryEnclosure> enclose_attention_row(const problems::Attention::Instance& instance, std::uint64_t row,
                                                  int precision_bits = 128, const problems::AttentionMask& mask = {});

}  // namespace subquad::verifiers
