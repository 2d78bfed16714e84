// Bounds of the error of a polynomial for e^x, proved by integer arithmetic: what certificates are made of.
//
// Three arguments (docs/proofs/exp_certificates.md), none of which looks at how the polynomial was found:
//   alternation  upper bound. D = P e^-x has D' = Q e^-x with Q = P' - P, which has at most deg P real roots (absolute
//                error: F = P - e^x has F' = P' - e^x, at most deg P zeros by Rolle). deg P disjoint intervals with a
//                sign change each therefore hold all critical points, and the error is monotone between them.
//   Bernstein    upper bound for any P: [a, b] is bisected until the Bernstein coefficients of Q settle the sign of D',
//                or the cell is so short that the error cannot leave the bound in it.
//   dual         lower bound for all polynomials of degree <= g at once: for g + 2 points, sum_i w_i p(x_i) = 0 with
//                w_i = 1/prod_{j != i} (x_i - x_j), so E_g >= |sum w_i e^x_i| / sum |w_i| e^x_i (absolute: / sum
//                |w_i|).
#pragma once

#include <subquad/exact/exp_problem.hpp>
#include <subquad/exact/polynomial.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace subquad::exact {

/// A closed interval [low, high] of rationals that is said to hold exactly one critical point of the error.
struct CriticalInterval {
  Rational low;
  Rational high;
  friend bool operator==(const CriticalInterval&, const CriticalInterval&) = default;
};

/// A proved bound, or why there is none.
struct ErrorBound {
  std::optional<Rational> bound;  ///< engaged iff proved
  std::string obstacle;           ///< why not, in one line; empty if proved
};

/// An enclosure of the error of P at one point: low <= |P(x) - e^x| (/ e^x) <= high.
struct PointError {
  Rational low;
  Rational high;
};

/// Encloses the error at x by a bracket of e^x with `bits` bits.
PointError error_at(const ExpProblem& problem, const Polynomial& p, const Rational& x, std::int64_t bits);

/// Proves an upper bound of the maximum error by alternation. Says no unless there are exactly deg P intervals (none
/// for deg P <= 0), within [a, b], each with low < high, disjoint and in ascending order, each with a proved change of
/// sign.
///
/// Returns  a bound within 2^-bits relative and h max|Q| e^-u of the exact maximum (h: the intervals' widths)
/// Cost     O(deg P) exact evaluations and exp brackets
/// Errors   Error(parameter) as validate(problem); Error(resource) as exp_bracket
/// Theorem  AA22.DEG (upper half)
ErrorBound alternation_upper_bound(const ExpProblem& problem, const Polynomial& p,
                                   std::span<const CriticalInterval> intervals, std::int64_t bits);

/// What the Bernstein argument found.
struct BernsteinOutcome {
  bool proved = false;
  std::uint64_t cells = 0;          ///< boxes looked at
  std::string obstacle;             ///< why not proved: the effort ran out, or the point below
  std::optional<Rational> witness;  ///< a point where the error certainly exceeds epsilon
};

/// Proves max error <= epsilon for any P by bisection with Bernstein coefficients; stops at a point that refutes it, or
/// after `max_cells` boxes. Every box is decided by proved arithmetic. Errors as alternation_upper_bound; epsilon > 0.
BernsteinOutcome bernstein_upper_bound(const ExpProblem& problem, const Polynomial& p, const Rational& epsilon,
                                       std::uint64_t max_cells = 1'000'000);

/// Proves a lower bound of E_degree from degree + 2 different points of [a, b], in any order. Says no for a wrong
/// number of points, equal points, points outside, or if the bracket of the sum still holds zero at `bits` bits.
///
/// Returns  a bound within a relative 2^-bits/E_g-ish of the best that these points can give, never above E_g
/// Cost     O(degree^2) integer multiplications and degree + 2 exp brackets
/// Theorem  AA22.DEG (lower half); de la Vallee Poussin's bound in dual form
ErrorBound dual_lower_bound(const ExpProblem& problem, int degree, std::span<const Rational> points, std::int64_t bits);

}  // namespace subquad::exact
