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
#include <string_view>
#include <utility>
#include <vector>

namespace subquad::verifiers {

/// What a distance is.
enum class AnnaMetric {
  euclidean,  ///< |x - y|
  angular,    ///< |x/|x| - y/|y||, non-zero vectors
  hamming     ///< coordinates that differ
};
/// Returns "euclidean", "angular" or "hamming".
std::string_view to_string(AnnaMetric metric) noexcept;

/// What weights w_ij = C_ij/sum_j C_ij are said to satisfy (L25.DEF), with N(q, t) the *indices* of keys within t of q,
/// so that equal keys count each:
///   A1  C_ij > 0 only if |q_i - k_j| <= c r (the product of the two doubles as real numbers)
///   A2  |q_i - k_j| <= r implies C_ij ((|N(q_i, c r)| - 1) l + 1) >= sum_j C_ij, and C_ij > 0
///   A3  some C_ij > 0, or no key is within r of q_i (strict: some C_ij > 0 always)
struct AnnaClaim {
  double radius = 0.0;       ///< r >= 0, finite
  double ratio = 1.0;        ///< c >= 1, finite
  std::uint64_t tables = 1;  ///< l >= 1
  bool strict = false;
  AnnaMetric metric = AnnaMetric::euclidean;
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
  std::uint64_t strict_rows = 0;      ///< those of them that violate A3 because the claim is strict
  std::uint64_t exact_distances = 0;  ///< distances that needed rational arithmetic
  std::vector<AnnaFinding> findings;  ///< the first 16, rows ascending
};

/// Judges counts (L25.DEF). No pair is left open: exact arithmetic decides every distance (SQ.DISTANCE).
///
/// Shapes   q: n x d, k: n_k x d, finite; n rows
/// Threads  over rows; the result does not depend on their number
/// Cost     O(n n_k d) double operations, and rational ones for distances that are within rounding of r or c r
/// Errors   Error(parameter): shapes, entries that are not finite, zero rows (angular), a bad claim, keys out of range
///          or not ascending, counts of 0; Error(interrupted)
AnnaReport verify_anna(const Eigen::Ref<const problems::MatrixD>& q, const Eigen::Ref<const problems::MatrixD>& k,
                       const AnnaClaim& claim, const std::vector<AnnaRow>& rows, const Execution& execution = {});

/// Judges an output: is every entry out_ic the weighted mean m = sum_j C_ij v_jc/C, C = sum_j C_ij, up to the rounding
/// of a kernel that adds each value once a table and bucket? Accepted iff
///   |out_ic - m| <= gamma_(l + n_k) sum_j C_ij |v_jc|/C + 2^-1075,  gamma_t = t u/(1 - t u), u = 2^-53,
/// which anna_attention satisfies (proof: docs/proofs/distance_order.md#outputs). Rows without counts must be 0. NaN
/// and infinities are refuted. Decided by doubles with a proved bound of their error, else by rational arithmetic.
///
/// Shapes   v: n_k x d_v, output: n x d_v, n rows
/// Returns  certified or refuted, with the least place that is wrong
/// Threads  over rows; the result does not depend on their number
/// Cost     O(d_v) a count
/// Errors   Error(parameter): shapes, keys out of range or not ascending, counts of 0, values that are not finite, l =
///          0; Error(interrupted)
Report verify_anna_output(const Eigen::Ref<const problems::MatrixD>& v, const std::vector<AnnaRow>& rows,
                          std::uint64_t tables, const Eigen::Ref<const problems::MatrixD>& output,
                          const Execution& execution = {});

}  // namespace subquad::verifiers
