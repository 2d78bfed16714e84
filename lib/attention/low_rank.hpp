// Low-rank attention: AS23 Algorithm 1 with a certified polynomial, O(n r (d + d_v)) time and O(r (d_v + 1)) memory.
//
//   Y = U_2^T [V | 1]   (r x (d_v + 1)),      Z = U_1 Y,      output = Z[:, :d_v] / Z[:, d_v]
//   U_1[i, a] = q_i^a,  U_2[j, a] = c_|a| scale^|a| (|a|!/a!) k_j^a
//
// U_1 and U_2 are never stored: monomials of a tile of rows are made one from another (a monomial of degree m is one of
// degree m - 1 times a variable) and used at once. The plan (low_rank_plan.hpp) has decided everything before;
// docs/kernels/low_rank.md.
#pragma once

#include <subquad/attention/low_rank_plan.hpp>
#include <subquad/core/execution.hpp>
#include <subquad/problems/attention.hpp>

namespace subquad::attention {

/// What the kernel computed, and what is certain about it.
struct LowRankResult {
  problems::MatrixD output;  ///< n x d_v
  /// Proved: no entry is further from exact attention than this. Never above the plan's error_bound; smaller if the
  /// denominators turned out larger than the plan had to fear.
  double error_bound = 0.0;
};

/// Runs a plan.
///
/// Shapes    as problems::Attention; sizes and scale as planned
/// Accuracy  every entry within result.error_bound of exact attention on the instance's doubles, rounding included
///           (AS23.T3.8)
/// Threads   over chunks of keys and over tiles of queries; the result does not depend on their number
/// Cost      plan.operations multiply-adds, plan.bytes
/// Errors    Error(parameter) if sizes or scale are not the plan's, or if the data exceed the bounds that it was
///           planned for; Error(interrupted) on request
LowRankResult low_rank_attention(const LowRankPlan& plan, const problems::Attention::Instance& instance,
                                 const Execution& execution = {});

/// Plans with the bounds of the data and the instance's own eps_a, and runs. Errors as plan_low_rank;
/// Error(unsupported) if eps_a is too small for a double.
LowRankResult low_rank_attention(const problems::Attention::Instance& instance, LowRankArithmetic arithmetic,
                                 const Execution& execution = {});

/// The request that low_rank_attention makes for an instance.
LowRankRequest low_rank_request(const problems::Attention::Instance& instance, double tolerance,
                                LowRankArithmetic arithmetic);

/// The instruction set that the tiles use on this machine.
const char* low_rank_target();

}  // namespace subquad::attention
