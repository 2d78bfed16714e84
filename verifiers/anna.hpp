// ANNA verifier: do collision counts, and an output, satisfy the definition of approximate nearest-neighbour attention?
//
// Everything is decided in exact arithmetic: distances of doubles are compared with r and c r as rational numbers where
// double arithmetic with a proved bound cannot decide, and the weight condition is an inequality of integers.
#pragma once

#include <subquad/core/execution.hpp>
#include <subquad/core/verdict.hpp>
#include <subquad/problems/attention.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace subquad::verifiers {

/// What weights w_ij = C_ij/sum_j C_ij are said to satisfy (L25.DEF), with N(q, t) the *indices* of keys within t of q,
/// so that equal keys count each:
///   A1  C_ij > 0 only if |q_i - k_j| <= c r
///   A2  |q_i - k_j| <= r implies C_ij ((|N(q_i, c r)| - 1) l + 1) >= sum_j C_ij, and C_ij > 0
///   A3  some C_ij > 0, or no key is within r of q_i (strict: some C_ij > 0 always)
struct AnnaClaim {
  double radius = 0.0;       ///< r >= 0, finite
  double ratio = 1.0;        ///< c >= 1, finite
  std::uint64_t tables = 1;  ///< l >= 1
  bool strict = false;
  friend bool operator==(const AnnaClaim&, const AnnaClaim&) = default;
};

/// Counts of one query: (key, count >= 1), keys ascending.
using AnnaRow = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// A violation.
struct AnnaFinding {
  std::uint64_t row = 0;
  std::string reason;  ///< "A1: key 5 has count 2, but is farther than c r = 4"
};

/// The verdict with what was found.
struct AnnaReport {
  Verdict verdict = Verdict::certified;  ///< certified or refuted: exact arithmetic always decides
  std::uint64_t rows_checked = 0;
  std::uint64_t near_pairs = 0;       ///< pairs within r
  std::uint64_t false_pairs = 0;      ///< pairs that violate A1
  std::uint64_t missed_pairs = 0;     ///< near pairs without count
  std::uint64_t light_pairs = 0;      ///< near pairs with a count that is too small (A2)
  std::uint64_t empty_rows = 0;       ///< rows without any count
  std::uint64_t exact_distances = 0;  ///< distances that needed rational arithmetic
  std::vector<AnnaFinding> findings;  ///< the first 16, rows ascending
};

/// Judges counts.
///
/// Shapes  q: n x d, k: n_k x d, finite; n rows
/// Cost    O(n n_k d) double operations; threads over rows, the result does not depend on their number
/// Errors  Error(parameter): shapes, entries that are not finite, a bad claim, keys out of range or not ascending,
///         counts of 0; Error(interrupted)
AnnaReport verify_anna(const Eigen::Ref<const problems::MatrixD>& q, const Eigen::Ref<const problems::MatrixD>& k,
                       const AnnaClaim& claim, const std::vector<AnnaRow>& rows, const Execution& execution = {});

/// Judges an output: is every entry the weighted mean sum_j C_ij v_jc/sum_j C_ij, up to the rounding of any kernel that
/// adds each value C_ij times? Rows without counts must be exactly 0. Decided in interval arithmetic: certified iff
/// every entry is proved to be within gamma_(l + n_k + 2) sum_j C_ij |v_jc|/sum_j C_ij of the mean, refuted iff one is
/// proved not to be.
/// Errors  Error(parameter): shapes, keys out of range, values that are not finite
Report verify_anna_output(const Eigen::Ref<const problems::MatrixD>& v, const std::vector<AnnaRow>& rows,
                          std::uint64_t tables, const Eigen::Ref<const problems::MatrixD>& output);

}  // namespace subquad::verifiers
