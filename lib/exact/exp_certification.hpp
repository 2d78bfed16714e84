// Certified approximants: polynomials with few bits, a proved error, and the proof that no smaller degree does.
#pragma once

#include <subquad/core/execution.hpp>
#include <subquad/exact/exp_error_bounds.hpp>
#include <subquad/exact/exp_problem.hpp>
#include <subquad/exact/polynomial.hpp>

#include <optional>
#include <vector>

namespace subquad::exact {

/// A polynomial with a proof of its error.
struct CertifiedExpPolynomial {
  ExpProblem problem;
  Polynomial polynomial;
  Rational error_bound;                     ///< proved: max error <= error_bound
  std::vector<CriticalInterval> intervals;  ///< the proof (alternation_upper_bound)
};

/// A proof that E_degree >= bound.
struct CertifiedLowerBound {
  int degree = -1;
  std::vector<Rational> points;  ///< the proof (dual_lower_bound)
  Rational bound;
};

/// The least degree for an epsilon, both halves proved.
struct CertifiedMinimalDegree {
  Rational epsilon;
  CertifiedExpPolynomial approximant;        ///< error_bound < epsilon; its degree is the minimal one
  std::optional<CertifiedLowerBound> lower;  ///< of degree - 1, bound >= epsilon; empty iff the degree is 0
  int degree() const { return approximant.polynomial.degree(); }
};

/// Degrees beyond this are refused: the certificate costs degree^2 big integers.
inline constexpr int kMaxCertifiedDegree = 1000;

/// Returns a polynomial of exactly this degree with a proved error < epsilon, coefficients rounded to as few bits as
/// the rule p = ceil(log2(4 kappa/(epsilon - E))) allows (kappa: condition of the monomials). Empty if E_degree is not
/// clearly below epsilon: then nothing is proved. Tries Kepler's nodes first, then Remez.
///
/// Errors  Error(parameter) as validate and validate_epsilon, for degree < 0; Error(resource) beyond
///         kMaxCertifiedDegree or precision
std::optional<CertifiedExpPolynomial> certified_approximant(const ExpProblem& problem, const Rational& epsilon,
                                                            int degree, const Execution& execution = {});

/// Returns a proof of E_degree >= epsilon; empty if none was found (then E_degree may be below).
std::optional<CertifiedLowerBound> certified_lower_bound(const ExpProblem& problem, const Rational& epsilon, int degree,
                                                         const Execution& execution = {});

/// Returns the least g with E_g < epsilon: a certified approximant of degree g, and a proved lower bound for g - 1.
///
/// Cost    about 1 ms at degree 15, 20 ms at degree 60
/// Errors  as certified_approximant; Error(undecided) if E_g and epsilon agree to more than 60 bits
/// Theorem AA22.DEG; how the degree grows: AS23.L2.1, and AS23.C2.2 for relative against absolute error
CertifiedMinimalDegree certified_minimal_degree(const ExpProblem& problem, const Rational& epsilon,
                                                const Execution& execution = {});

/// E_degree enclosed from both sides.
struct MinimaxEnclosure {
  CertifiedExpPolynomial upper;
  CertifiedLowerBound lower;
};

/// Encloses E_degree with a relative width of about 10^-digits: a nearly best polynomial with its proof, and a dual
/// lower bound.
MinimaxEnclosure enclose_minimax_error(const ExpProblem& problem, int degree, int digits = 16,
                                       const Execution& execution = {});

}  // namespace subquad::exact
