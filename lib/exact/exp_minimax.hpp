// The best polynomial for e^x: weighted Remez exchange in MPFR, started at Kepler's points.
//
// Nothing here is a proof. The result is handed to exp_error_bounds, which proves what it is worth.
#pragma once

#include <subquad/core/execution.hpp>
#include <subquad/exact/exp_error_bounds.hpp>
#include <subquad/exact/exp_problem.hpp>
#include <subquad/exact/polynomial.hpp>

#include <optional>
#include <vector>

namespace subquad::exact {

/// A polynomial that is nearly the best one, with what a certificate needs.
struct MinimaxApproximation {
  Polynomial polynomial;         ///< coefficients at working precision
  std::vector<Rational> points;  ///< degree + 2 alternation points, ascending
  Rational levelled_error;       ///< |h|: a lower bound of E_degree up to rounding (not proved)
  Rational largest_error;        ///< error at the extrema found: an upper bound of E_degree up to rounding (not proved)
  int iterations = 0;
};

/// Runs the exchange until largest_error/levelled_error - 1 <= 2^-log2_gap; with a `target`, only until it is clear on
/// which side of the target E_degree lies: largest_error < target, or levelled_error >= target.
///
/// Working precision about 64 + log2_gap + log2(1/E) + 4.5 R bits; four sizes are built in (332 to 3321 bits).
/// Ranges  degree >= 0, a < b
/// Cost    4 to 6 rounds of O(degree^2) multiplications
/// Errors  Error(resource) if more than 3321 bits would be needed; Error(undecided) if it does not converge in 100
///         rounds
MinimaxApproximation minimax(const ExpProblem& problem, int degree, int log2_gap = 60,
                             const std::optional<Rational>& target = std::nullopt, const Execution& execution = {});

/// Finds the critical points of the error of P near `starts` (deg P ascending points) by Newton's method, and returns
/// disjoint intervals of width about 2^-log2_width (b - a) around them. Empty if they do not come out in ascending
/// order inside [a, b]. Not proved: alternation_upper_bound looks.
std::vector<CriticalInterval> critical_intervals(const ExpProblem& problem, const Polynomial& p,
                                                 const std::vector<Rational>& starts, int log2_width);

}  // namespace subquad::exact
