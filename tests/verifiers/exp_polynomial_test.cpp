#include "expect_error.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/exact/exp_approximants.hpp>
#include <subquad/exact/exp_certification.hpp>
#include <subquad/verifiers/exp_polynomial.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace subquad::exact;
using subquad::ErrorKind;
using subquad::Random;
using subquad::Verdict;
using subquad::test::expect_error;
using subquad::verifiers::ExpLowerClaim;
using subquad::verifiers::ExpPolynomialClaim;
using subquad::verifiers::ExpUpperProof;
using subquad::verifiers::verify_exp_polynomial;

ExpPolynomialClaim claim_of(const CertifiedMinimalDegree& m) {
  ExpPolynomialClaim claim{m.approximant.problem,      m.approximant.polynomial, m.epsilon,
                           ExpUpperProof::alternation, m.approximant.intervals,  {}};
  if (m.lower) claim.lower = ExpLowerClaim{m.lower->degree, m.epsilon, m.lower->points};
  return claim;
}

/// A tight claim: epsilon is hardly above the least error, so that every real fault must show.
ExpPolynomialClaim tight_claim(const ExpProblem& problem, int degree) {
  const MinimaxEnclosure e = enclose_minimax_error(problem, degree, 16);
  Rational epsilon = e.upper.error_bound * Rational(1001, 1000);
  if (problem.measure == ErrorMeasure::relative) epsilon = std::min(epsilon, Rational((1 + e.upper.error_bound) / 2));
  ExpPolynomialClaim claim{problem, e.upper.polynomial, epsilon, ExpUpperProof::alternation, e.upper.intervals, {}};
  claim.lower = ExpLowerClaim{degree, e.lower.bound * Rational(999, 1000), e.lower.points};
  return claim;
}

ExpProblem random_problem(Random& random) {
  const Rational r(Integer(random.below(80) + 1), Integer(10));
  if (random.bernoulli(0.5)) return {ErrorMeasure::absolute, -r / 3, r};
  return {ErrorMeasure::relative, -r, r};
}

TEST(ExpPolynomial, WorkedExample) {
  // 1 + x on [-1/2, 1/2], relative: the error is largest at -1/2, where it is 1 - sqrt(e)/2 = 0.17564.
  ExpPolynomialClaim claim{{ErrorMeasure::relative, Rational(-1, 2), Rational(1, 2)},
                           Polynomial{1, 1},
                           Rational(18, 100),
                           ExpUpperProof::bernstein,
                           {},
                           {}};
  EXPECT_EQ(verify_exp_polynomial(claim).verdict, Verdict::certified);
  claim.epsilon = Rational(17, 100);
  const auto report = verify_exp_polynomial(claim);
  EXPECT_EQ(report.verdict, Verdict::refuted);
  ASSERT_TRUE(report.witness);
  EXPECT_EQ(*report.witness, Rational(-1, 2));
  // Its critical point is x = 0: P' - P = -x.
  claim.epsilon = Rational(18, 100);
  claim.proof = ExpUpperProof::alternation;
  claim.intervals = {{Rational(-1, 1000), Rational(1, 1000)}};
  EXPECT_EQ(verify_exp_polynomial(claim).verdict, Verdict::certified);
}

TEST(ExpPolynomial, MinimalDegreesAreCertified) {
  const auto m = certified_minimal_degree({ErrorMeasure::relative, -1, 1}, *parse_rational("1e-12"));
  const auto report = verify_exp_polynomial(claim_of(m));
  EXPECT_EQ(report.verdict, Verdict::certified);
  EXPECT_TRUE(report.minimal);
  EXPECT_LT(*report.proved_upper, *parse_rational("1e-12"));
  EXPECT_GE(*report.proved_lower, *parse_rational("1e-12"));
  // Without the lower half nothing is said about smaller degrees.
  ExpPolynomialClaim upper_only = claim_of(m);
  upper_only.lower.reset();
  EXPECT_EQ(verify_exp_polynomial(upper_only).verdict, Verdict::certified);
  EXPECT_FALSE(verify_exp_polynomial(upper_only).minimal);
  // A lower claim about another degree is right, but says nothing about the least one.
  ExpPolynomialClaim other = claim_of(m);
  other.lower = ExpLowerClaim{3, *parse_rational("1e-12"), alternation_points(other.problem, 3)};
  EXPECT_EQ(verify_exp_polynomial(other).verdict, Verdict::certified);
  EXPECT_FALSE(verify_exp_polynomial(other).minimal);
}

TEST(ExpPolynomial, AThousandGoodClaimsAreCertified) {
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const ExpProblem problem = random_problem(random);
    const ExpPolynomialClaim claim = tight_claim(problem, static_cast<int>(random.below(13)));
    const auto report = verify_exp_polynomial(claim);
    ASSERT_EQ(report.verdict, Verdict::certified)
        << describe(problem) << ": " << report.upper.reason << "; " << report.lower.reason;
  }
}

/// One planted fault; returns its name, or nothing if the claim has no place for it.
std::string plant(ExpPolynomialClaim& claim, std::uint64_t kind, Random& random) {
  const int degree = claim.polynomial.degree();
  const auto pick = [&random](std::size_t size) { return static_cast<std::size_t>(random.below(size)); };
  switch (kind) {
    case 0: {  // a coefficient off by an error of three epsilons
      std::vector<Rational> c(claim.polynomial.coefficients().begin(), claim.polynomial.coefficients().end());
      const std::size_t k = pick(c.size());
      Rational size = claim.epsilon * 3;
      if (claim.problem.measure == ErrorMeasure::relative) size *= 4000;  // at least e^8
      Rational power = 1;
      for (std::size_t i = 0; i < k; ++i) power *= claim.problem.radius();
      c[k] += (random.bernoulli(0.5) ? size : Rational(-size)) / power;
      claim.polynomial = Polynomial(std::move(c));
      return "perturbed coefficient";
    }
    case 1:
      if (degree < 1) return "";
      claim.intervals.erase(claim.intervals.begin() + static_cast<std::ptrdiff_t>(pick(claim.intervals.size())));
      return "dropped interval";
    case 2: {
      if (degree < 1) return "";
      const CriticalInterval copy = claim.intervals[pick(claim.intervals.size())];
      if (degree == 1) {
        claim.intervals.push_back(copy);
      } else {
        std::size_t k = pick(claim.intervals.size());
        if (claim.intervals[k] == copy) k = (k + 1) % claim.intervals.size();
        claim.intervals[k] = copy;
      }
      return "duplicated interval";
    }
    case 3: {
      if (degree < 1) return "";
      CriticalInterval& interval = claim.intervals[pick(claim.intervals.size())];
      const Rational shift =
          (interval.high - interval.low) * static_cast<int>(2 + random.below(100)) * (random.bernoulli(0.5) ? 1 : -1);
      interval.low += shift;
      interval.high += shift;
      return "shifted interval";
    }
    case 4:
      claim.epsilon *= Rational(99, 100);
      return "epsilon below the least error";
    case 5:
      claim.lower->bound *= Rational(102, 100);
      return "lower bound above the least error";
    case 6: {
      if (claim.lower->points.size() < 3) return "";
      const std::size_t k = 1 + pick(claim.lower->points.size() - 2);
      claim.lower->points[k] = claim.lower->points[k - 1];
      return "point doubled";
    }
    case 7: {
      // The points of two places exchanged for others far away: they level another, smaller error.
      if (claim.lower->points.size() < 4) return "";
      const std::size_t k = 1 + pick(claim.lower->points.size() - 2);
      const Rational& before = claim.lower->points[k - 1];
      claim.lower->points[k] = before + (claim.lower->points[k] - before) / 16;
      return "moved point";
    }
    case 8:
      claim.lower->points.pop_back();
      return "missing point";
    case 9:
      claim.lower->degree += 1;
      return "wrong degree";
    default: {
      // The certificate of another polynomial, of the same degree on another interval.
      if (degree < 2) return "";
      ExpProblem other = claim.problem;
      other.b += Rational(1, 3);
      claim.intervals = enclose_minimax_error(other, degree, 8).upper.intervals;
      return "certificate of another polynomial";
    }
  }
}

TEST(ExpPolynomial, AThousandFaultsAreRejected) {
  Random random(2);
  int planted = 0;
  std::array<int, 11> by_kind{};
  while (planted < 1000) {
    const ExpProblem problem = random_problem(random);
    ExpPolynomialClaim claim = tight_claim(problem, static_cast<int>(random.below(13)));
    const std::uint64_t kind = random.below(11);
    const std::string fault = plant(claim, kind, random);
    if (fault.empty()) continue;
    ++planted;
    ++by_kind[kind];
    const auto report = verify_exp_polynomial(claim);
    ASSERT_NE(report.verdict, Verdict::certified)
        << fault << ", " << describe(problem) << ", degree " << claim.polynomial.degree();
    EXPECT_FALSE(report.upper.reason.empty());
  }
  EXPECT_GE(*std::min_element(by_kind.begin(), by_kind.end()), 40) << "every kind of fault has its share";
}

TEST(ExpPolynomial, FalseClaimsComeWithAWitness) {
  ExpPolynomialClaim claim = tight_claim({ErrorMeasure::relative, -2, 2}, 6);
  claim.epsilon *= Rational(99, 100);
  for (const ExpUpperProof proof : {ExpUpperProof::alternation, ExpUpperProof::bernstein}) {
    claim.proof = proof;
    if (proof == ExpUpperProof::bernstein) claim.intervals.clear();
    const auto report = verify_exp_polynomial(claim);
    EXPECT_EQ(report.upper.verdict, Verdict::refuted);
    EXPECT_NE(report.upper.reason.find("false: the error at"), std::string::npos) << report.upper.reason;
    ASSERT_TRUE(report.witness);
    EXPECT_GE(error_at(claim.problem, claim.polynomial, *report.witness, 300).low, claim.epsilon);
  }
}

TEST(ExpPolynomial, LittlePrecisionOrEffortIsUndecidedNotAPass) {
  ExpPolynomialClaim claim = tight_claim({ErrorMeasure::absolute, 0, 8}, 12);
  subquad::verifiers::ExpPolynomialOptions options;
  options.max_bits = 16;
  EXPECT_NE(verify_exp_polynomial(claim, options).verdict, Verdict::certified);
  claim.proof = ExpUpperProof::bernstein;
  claim.intervals.clear();
  options = {};
  options.max_bernstein_cells = 2;
  EXPECT_EQ(verify_exp_polynomial(claim, options).upper.verdict, Verdict::undecided);
}

TEST(ExpPolynomial, RefusesClaimsThatMakeNoSense) {
  ExpPolynomialClaim claim{
      {ErrorMeasure::relative, 1, 0}, Polynomial{1}, Rational(1, 2), ExpUpperProof::bernstein, {}, {}};
  expect_error(ErrorKind::parameter, "empty", [&] { verify_exp_polynomial(claim); });
  claim.problem = {ErrorMeasure::relative, 0, 1};
  claim.epsilon = 0;
  expect_error(ErrorKind::parameter, "more than 0", [&] { verify_exp_polynomial(claim); });
  claim.epsilon = 2;
  expect_error(ErrorKind::parameter, "less than 1", [&] { verify_exp_polynomial(claim); });
  claim.problem = {ErrorMeasure::absolute, 0, 1 << 26};
  expect_error(ErrorKind::resource, "beyond", [&] { verify_exp_polynomial(claim); });
  // An interval so long that e^x alone would fill the memory is not looked at.
  claim = {{ErrorMeasure::relative, -(1 << 24), 1 << 24},
           Polynomial{1, 1},
           Rational(1, 2),
           ExpUpperProof::bernstein,
           {},
           {}};
  EXPECT_EQ(verify_exp_polynomial(claim).verdict, Verdict::undecided);
  // The zero polynomial in absolute error: certified above e^b, refuted below.
  claim = {{ErrorMeasure::absolute, 0, 1}, Polynomial(), 3, ExpUpperProof::alternation, {}, {}};
  EXPECT_EQ(verify_exp_polynomial(claim).verdict, Verdict::certified);
  EXPECT_TRUE(verify_exp_polynomial(claim).minimal);
  claim.epsilon = 2;
  EXPECT_EQ(verify_exp_polynomial(claim).verdict, Verdict::refuted);
}

}  // namespace
