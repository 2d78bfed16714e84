// ANNA verifier: do collision counts satisfy the definition of approximate nearest-neighbour attention (L25.DEF)?
//
// Everything is decided in exact arithmetic: distances of doubles are compared with r and c r as rational numbers where
// double arithmetic with a proved bound cannot decide, and the weight condition is an inequality of integers.
#pragma once

#include <subquad/core/execution.hpp>
#include <subquad/core/verdict.hpp>
#include <subquad/problems/attention.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace subquad::verifiers {

/// What the weights are said to satisfy: w_ij = C_ij / sum_j C_ij.
///   A1  w_ij > 0 only if |q_i - k_j| <= c r
///   A2  |q_i - k_j| <= r implies w_ij ((|N(q_i, c r)| - 1) l + 1) >= 1   (N counts indices, so duplicates count)
///   A3  the weights of a row add up to 1, or all are 0 and no key is within r (strict: never all 0)
struct AnnaClaim {
  double radius = 0.0;       ///< r >= 0
  double ratio = 1.0;        ///< c >= 1
  std::uint64_t tables = 1;  ///< l
  bool strict = false;
};

/// Counts of one query: (key, count > 0), keys ascending.
struct AnnaRow {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> counts;
};

struct AnnaFinding {
  std::uint64_t row = 0;
  std::string reason;  ///< "A1: key 5 at distance 3.2 > c r = 2 has weight 1/3"
};

struct AnnaReport {
  Verdict verdict = Verdict::undecided;
  std::uint64_t rows_checked = 0;
  std::uint64_t false_pairs = 0;      ///< pairs that violate A1
  std::uint64_t missed_pairs = 0;     ///< near pairs without weight
  std::uint64_t light_pairs = 0;      ///< near pairs with weight, but too little (A2)
  std::uint64_t exact_distances = 0;  ///< distances that needed rational arithmetic
  std::vector<AnnaFinding> findings;  ///< the first 16
};

/// Errors: Error(parameter) for shapes, keys out of range or not ascending, counts of 0, a bad claim, non-finite
/// entries.
AnnaReport verify_anna(const Eigen::Ref<const problems::MatrixD>& q, const Eigen::Ref<const problems::MatrixD>& k,
                       const AnnaClaim& claim, const std::vector<AnnaRow>& rows, const Execution& execution = {});

}  // namespace subquad::verifiers
