// Exp polynomial verifier: is a polynomial within epsilon of e^x on an interval, and is its degree the least possible?
// With proof.
//
// The judge looks at the statement and its certificate only, never at how they were found, and computes in integers
// (exact/exp_error_bounds; proofs: docs/proofs/exp_certificates.md). The certificate is data that a third party can
// check again.
#pragma once

#include <subquad/core/verdict.hpp>
#include <subquad/exact/exp_error_bounds.hpp>
#include <subquad/exact/exp_problem.hpp>
#include <subquad/exact/polynomial.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace subquad::verifiers {

/// How the upper bound is to be proved.
enum class ExpUpperProof {
  alternation,  ///< by the critical intervals that come with the claim
  bernstein     ///< by bisection; the claim brings nothing
};

/// The claim that no polynomial of this degree comes closer than `bound`.
struct ExpLowerClaim {
  int degree = 0;
  exact::Rational bound;                ///< E_degree >= bound > 0
  std::vector<exact::Rational> points;  ///< degree + 2 different points
  friend bool operator==(const ExpLowerClaim&, const ExpLowerClaim&) = default;
};

/// The claim max error of `polynomial` < epsilon, with its proof; and perhaps a lower claim.
struct ExpPolynomialClaim {
  exact::ExpProblem problem;
  exact::Polynomial polynomial;
  exact::Rational epsilon;
  ExpUpperProof proof = ExpUpperProof::alternation;
  std::vector<exact::CriticalInterval> intervals;  ///< empty for bernstein
  std::optional<ExpLowerClaim> lower;
  friend bool operator==(const ExpPolynomialClaim&, const ExpPolynomialClaim&) = default;
};

/// How hard to try.
struct ExpPolynomialOptions {
  std::int64_t max_bits = 1 << 16;  ///< of the brackets of exp
  std::uint64_t max_bernstein_cells = 1'000'000;
};

/// What was found.
struct ExpPolynomialReport {
  Report upper;                                 ///< on "the error is below epsilon"
  Report lower;                                 ///< on the lower claim; certified with an empty reason if there is none
  Verdict verdict = Verdict::undecided;         ///< of both
  std::optional<exact::Rational> proved_upper;  ///< max error <= this (alternation; epsilon for bernstein)
  std::optional<exact::Rational> proved_lower;  ///< E_degree of the lower claim >= this
  std::optional<exact::Rational> witness;       ///< a point where the error is certainly epsilon or more
  bool minimal =
      false;  ///< both certified, and together they say that the polynomial's degree is the least for epsilon
};

/// Judges a claim.
///
/// Returns  certified iff the certificate proves the claim; refuted if the claim is false at some point, or if the
///          certificate is no proof (a missing interval, no change of sign, a bound that is not reached ..): the reason
///          says which; undecided only if max_bits (e^x on the interval needs 3/2 radius bits) or max_bernstein_cells
///          did not suffice
/// Cost     O(degree) evaluations of O(degree) integer multiplications each; lower: O(degree^2) of them
/// Errors   Error(parameter) for an empty interval or an epsilon that is not positive (relative: and below 1);
///          Error(resource) for an interval beyond exact::kMaxExpArgument
/// Theorem  AA22.DEG
ExpPolynomialReport verify_exp_polynomial(const ExpPolynomialClaim& claim, const ExpPolynomialOptions& options = {});

}  // namespace subquad::verifiers
