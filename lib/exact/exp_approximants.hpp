// Approximants of e^x in closed form: Taylor, Chebyshev, and interpolation at Kepler's nodes.
//
// All are polynomials with rational coefficients, made from proved brackets of e^x (midpoints), so that their own
// rounding is far below `log2_accuracy`. What their error is, exp_error_bounds proves afterwards. The best polynomial
// is in exp_minimax.hpp.
#pragma once

#include <subquad/exact/exp_problem.hpp>
#include <subquad/exact/polynomial.hpp>

#include <cstdint>
#include <vector>

namespace subquad::exact {

/// Interpolation nodes of degree g: g + 1 points of (a, b) in ascending order, multiples of 2^-node_bits (b - a)/2 off
/// the centre.
///
/// With n = g + 1 and R = (b - a)/2 the relative problem takes x = centre + R cos t where n t - R sin t = (k + 1/2) pi
/// (Kepler's equation with eccentricity R/n, which is clamped to 0.97); the absolute one takes Chebyshev's nodes,
/// eccentricity 0. These nodes are near those of the minimax polynomial: interpolation there reaches the least possible
/// degree or one more (spec: 80 of 99, 49 of 54 published cells). A derivation and a measurement, no theorem.
std::vector<Rational> interpolation_nodes(const ExpProblem& problem, int degree, int node_bits = 24);

/// The points n t - R sin t = k pi, k = 0..n: near the alternation points of the minimax polynomial. degree + 2 points,
/// both ends among them, ascending.
std::vector<Rational> alternation_points(const ExpProblem& problem, int degree, int node_bits = 24);

/// The polynomial through e^x at interpolation_nodes: Kepler interpolation (relative) or Chebyshev interpolation
/// (absolute). Values carry a relative error of 2^-bits.
Polynomial node_interpolation(const ExpProblem& problem, int degree, std::int64_t bits);

/// The Taylor polynomial at `centre`: sum_{k <= degree} e^centre (x - centre)^k / k!; e^centre with relative error
/// 2^-bits (exact at 0).
Polynomial taylor(const Rational& centre, int degree, std::int64_t bits);

/// The Chebyshev series of e^x on [a, b], cut after `degree`: coefficients 2 e^c I_k(R), c the centre, R the half
/// width, with relative error 2^-bits each.
Polynomial chebyshev_truncation(const ExpProblem& problem, int degree, std::int64_t bits);

/// Interpolation at Chebyshev's nodes whatever the measure (AS23's construction for the relative error shifts the
/// absolute one).
Polynomial chebyshev_interpolation(const ExpProblem& problem, int degree, std::int64_t bits);

}  // namespace subquad::exact
