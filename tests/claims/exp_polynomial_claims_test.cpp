// Claims about polynomials for e^x: AA22.DEG, AS23.L2.1, AS23.C2.2.
#include "claim.hpp"

#include <subquad/exact/exp_bracket.hpp>
#include <subquad/exact/exp_certification.hpp>
#include <subquad/exact/exp_degree.hpp>
#include <subquad/verifiers/exp_polynomial.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

namespace {

using namespace subquad::exact;
using subquad::Verdict;
using subquad::test::Claim;
using subquad::verifiers::ExpLowerClaim;
using subquad::verifiers::ExpPolynomialClaim;
using subquad::verifiers::ExpUpperProof;
using subquad::verifiers::verify_exp_polynomial;

constexpr const char* kSizes[] = {"0.25", "0.5", "1", "2", "3", "4", "6", "9", "12", "16"};
constexpr const char* kEpsilons[] = {"1e-1", "1e-2", "1e-3", "1e-4", "1e-6", "1e-8", "1e-12", "1e-16"};

ExpProblem relative(const Rational& r) {
  return {ErrorMeasure::relative, -r, r};
}

ExpProblem absolute(const Rational& b) {
  return {ErrorMeasure::absolute, 0, b};
}

double ratio(const Rational& x, const Rational& y) {
  return to_double(x / y, Rounding::up);
}

template <class F>
void for_each_cell(F&& f) {
  for (const char* size : kSizes) {
    for (const char* epsilon : kEpsilons)
      f(*parse_rational(size), *parse_rational(epsilon), std::string(size) + ", " + epsilon);
  }
}

// For every interval and epsilon the certified degree g is the least: E_g < epsilon <= E_{g-1}, judged by the verifier.
TEST(Claims, AA22_DEG) {
  Claim claim("AA22.DEG");
  int predicted = 0;
  int cells = 0;
  for_each_cell([&](const Rational& size, const Rational& epsilon, const std::string& cell) {
    for (const ExpProblem& problem : {relative(size), absolute(size)}) {
      const CertifiedMinimalDegree m = certified_minimal_degree(problem, epsilon);
      ExpPolynomialClaim statement{
          problem, m.approximant.polynomial, epsilon, ExpUpperProof::alternation, m.approximant.intervals, {}};
      if (m.lower) statement.lower = ExpLowerClaim{m.lower->degree, epsilon, m.lower->points};
      const auto report = verify_exp_polynomial(statement);
      EXPECT_TRUE(report.minimal) << cell;
      claim.add(ratio(report.proved_upper.value_or(2 * epsilon), epsilon), 1, cell);
      if (report.proved_lower) claim.add(ratio(epsilon, *report.proved_lower), 1, cell);
      predicted += predicted_degree(problem, epsilon) == m.degree() ? 1 : 0;
      ++cells;
      // Control: the same certificate for an epsilon below the least error of this degree.
      statement.epsilon = enclose_minimax_error(problem, m.degree(), 8).lower.bound;
      const auto control = verify_exp_polynomial(statement);
      claim.add_control(control.upper.verdict == Verdict::refuted ? 1 : 0, 0);
    }
  });
  fmt::print("data  AA22.DEG   the predictor 2J_{{g+1}}, 2e^R I_{{g+1}} gives the certified degree in {} of {} cells\n",
             predicted, cells);
  claim.finish();
}

// The explicit form of "degree O(max{B, L/log(L/B)})" that is tested: g < 2 (B + L/ln(e + L/B)) + 1 with L =
// ln(1/epsilon), for the absolute error on [0, B] (Lemma 2.1) and for the relative one on [-B, B].
TEST(Claims, AS23_L2_1) {
  Claim claim("AS23.L2.1");
  double least = 1e9;
  for_each_cell([&](const Rational& size, const Rational& epsilon, const std::string& cell) {
    const double b = to_double(size, Rounding::nearest);
    const double l = -std::log(to_double(epsilon, Rounding::nearest));
    const double shape = b + l / std::log(std::numbers::e + l / b);
    for (const ExpProblem& problem : {relative(size), absolute(size)}) {
      const int degree = certified_minimal_degree(problem, epsilon).degree();
      claim.add(degree, 2 * shape + 1, cell);
      claim.add_control(degree, 0.5 * shape);
      least = std::min(least, degree / shape);
    }
  });
  fmt::print("data  AS23.L2.1  g/(B + L/ln(e + L/B)) is never below {:.3f} on the grid\n", least);
  claim.finish();
}

// Corollary 2.2: if |P(x) - e^x| <= epsilon on [0, 2B] then e^-B P(x + B) is within relative error epsilon on [-B, B];
// what this costs in degree against the best relative polynomial is at most a factor 2.
TEST(Claims, AS23_C2_2) {
  Claim degrees("AS23.C2.2");
  for (const char* size : {"0.25", "0.5", "1", "2", "4", "6", "9"}) {
    for (const char* eps : {"1e-1", "1e-3", "1e-6", "1e-12"}) {
      const Rational b = *parse_rational(size);
      const Rational epsilon = *parse_rational(eps);
      const std::string cell = std::string(size) + ", " + eps;
      const CertifiedMinimalDegree a = certified_minimal_degree(absolute(2 * b), epsilon);
      const ExpBracket scale = exp_bracket(-b, 200);
      const auto shifted = [&](const Polynomial& p) {
        Polynomial q;
        for (int k = p.degree(); k >= 0; --k) q = q * Polynomial{b, 1} + Polynomial{p.coefficient(k)};
        return scale.lower() * q;
      };
      // The scale is rounded at 200 bits: allow that much more than epsilon.
      const Rational allowed = epsilon + power_of_two(-150);
      EXPECT_TRUE(bernstein_upper_bound(relative(b), shifted(a.approximant.polynomial), allowed).proved) << cell;
      // Control: the polynomial for half the interval, shifted the same way, is no approximation.
      const CertifiedMinimalDegree half = certified_minimal_degree(absolute(b), epsilon);
      degrees.add_control(
          bernstein_upper_bound(relative(b), shifted(half.approximant.polynomial), allowed).proved ? 0 : 1, 0);
      const int best = certified_minimal_degree(relative(b), epsilon).degree();
      EXPECT_LE(best, a.degree()) << cell;
      degrees.add(a.degree(), 2.0 * best, cell);
    }
  }
  degrees.finish();
}

}  // namespace
