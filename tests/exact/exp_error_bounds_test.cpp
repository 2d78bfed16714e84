#include "expect_error.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/exact/exp_bracket.hpp>
#include <subquad/exact/exp_certification.hpp>
#include <subquad/exact/exp_error_bounds.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace {

using namespace subquad::exact;
using subquad::ErrorKind;
using subquad::Random;
using subquad::test::expect_error;

const ExpProblem kRelative{ErrorMeasure::relative, -1, 1};
const ExpProblem kAbsolute{ErrorMeasure::absolute, 0, 2};

/// The largest proved lower bound of the error over many points: never above the true maximum.
Rational sampled_error(const ExpProblem& problem, const Polynomial& p, int steps) {
  Rational largest = 0;
  for (int i = 0; i <= steps; ++i) {
    const Rational low = error_at(problem, p, problem.a + (problem.b - problem.a) * Rational(i, steps), 200).low;
    if (low > largest) largest = low;  // rationals: there is no NaN to lose
  }
  return largest;
}

TEST(ErrorAt, WorkedExample) {
  // |1 + x - e^x| at 1 is e - 2 = 0.71828.., relative (e - 2)/e = 0.26424..
  const Polynomial p{1, 1};
  const PointError absolute = error_at(kAbsolute, p, 1, 100);
  EXPECT_EQ(to_decimal(absolute.low, 12, Rounding::down), "7.18281828459e-1");
  EXPECT_EQ(to_decimal(absolute.high, 12, Rounding::up), "7.18281828460e-1");
  const PointError relative = error_at(kRelative, p, 1, 100);
  EXPECT_EQ(to_decimal(relative.low, 12, Rounding::down), "2.64241117657e-1");
  const PointError negative = error_at(kRelative, Polynomial{-1}, 1, 100);  // |-1/e - 1|
  EXPECT_EQ(to_decimal(negative.low, 6, Rounding::down), "1.36787");
}

TEST(AlternationBound, HoldsAndIsNearlySharp) {
  for (const ExpProblem& problem :
       {kRelative, kAbsolute, ExpProblem{ErrorMeasure::relative, 2, 5}, ExpProblem{ErrorMeasure::absolute, -3, -1}}) {
    for (int degree = 0; degree <= 9; ++degree) {
      const MinimaxEnclosure e = enclose_minimax_error(problem, degree, 16);
      const ErrorBound bound = alternation_upper_bound(problem, e.upper.polynomial, e.upper.intervals, 200);
      ASSERT_TRUE(bound.bound) << bound.obstacle;
      const Rational sampled = sampled_error(problem, e.upper.polynomial, 400);
      EXPECT_GE(*bound.bound, sampled);
      EXPECT_LE(*bound.bound, sampled * Rational(101, 100));
    }
  }
}

TEST(AlternationBound, SaysNoToEveryWrongCertificate) {
  const CertifiedExpPolynomial good = enclose_minimax_error(kRelative, 5).upper;
  const auto refused = [&](std::vector<CriticalInterval> intervals) {
    const ErrorBound bound = alternation_upper_bound(kRelative, good.polynomial, intervals, 200);
    return !bound.bound && !bound.obstacle.empty();
  };
  auto intervals = good.intervals;
  EXPECT_FALSE(refused(intervals));
  intervals.pop_back();
  EXPECT_TRUE(refused(intervals));  // dropped
  intervals = good.intervals;
  intervals[3] = intervals[2];
  EXPECT_TRUE(refused(intervals));  // duplicated
  intervals = good.intervals;
  const Rational width = intervals[1].high - intervals[1].low;
  intervals[1].low += 3 * width;
  intervals[1].high += 3 * width;
  EXPECT_TRUE(refused(intervals));  // shifted off its root
  intervals = good.intervals;
  std::swap(intervals[0], intervals[1]);
  EXPECT_TRUE(refused(intervals));  // out of order
  intervals = good.intervals;
  std::swap(intervals[0].low, intervals[0].high);
  EXPECT_TRUE(refused(intervals));  // inside out
  intervals = good.intervals;
  intervals[0].low = -2;
  EXPECT_TRUE(refused(intervals));  // outside
  EXPECT_TRUE(refused({}));
}

TEST(AlternationBound, AZeroPolynomialAndConstants) {
  const ErrorBound zero = alternation_upper_bound(kRelative, Polynomial(), {}, 100);
  ASSERT_TRUE(zero.bound);
  EXPECT_EQ(*zero.bound, 1);
  const ExpProblem point{ErrorMeasure::relative, 0, 0};
  const ErrorBound one = alternation_upper_bound(point, Polynomial{1}, {}, 100);
  ASSERT_TRUE(one.bound);
  EXPECT_EQ(*one.bound, 0);
}

TEST(BernsteinBound, ProvesWhatIsTrueOfAnyPolynomialAndRefutesTheRest) {
  // Taylor polynomials at 0, whose error does not alternate: the alternation argument does not apply to them.
  const Polynomial taylor{1, 1, Rational(1, 2), Rational(1, 6), Rational(1, 24), Rational(1, 120)};
  for (const ExpProblem& problem : {kRelative, kAbsolute}) {
    const Rational error = sampled_error(problem, taylor, 1000);  // attained at an end
    const BernsteinOutcome yes = bernstein_upper_bound(problem, taylor, error * Rational(1001, 1000));
    EXPECT_TRUE(yes.proved) << yes.obstacle;
    const BernsteinOutcome no = bernstein_upper_bound(problem, taylor, error * Rational(999, 1000));
    EXPECT_FALSE(no.proved);
    ASSERT_TRUE(no.witness);
    EXPECT_GT(error_at(problem, taylor, *no.witness, 200).low, error * Rational(999, 1000));
  }
}

TEST(BernsteinBound, AgreesWithAlternationAboutMinimaxPolynomials) {
  for (const ExpProblem& problem :
       {kRelative, kAbsolute, ExpProblem{ErrorMeasure::relative, -6, 6}, ExpProblem{ErrorMeasure::absolute, -2, 6}}) {
    for (const int degree : {0, 1, 4, 9}) {
      const CertifiedExpPolynomial p = enclose_minimax_error(problem, degree).upper;
      EXPECT_TRUE(bernstein_upper_bound(problem, p.polynomial, p.error_bound * Rational(1001, 1000)).proved)
          << describe(problem) << degree;
      EXPECT_TRUE(bernstein_upper_bound(problem, p.polynomial, p.error_bound * Rational(999, 1000)).witness)
          << describe(problem) << degree;
    }
  }
}

TEST(BernsteinBound, SaysSoWhenTheEffortRunsOut) {
  const CertifiedExpPolynomial p = enclose_minimax_error(kRelative, 6).upper;
  const BernsteinOutcome outcome =
      bernstein_upper_bound(kRelative, p.polynomial, p.error_bound * Rational(1000001, 1000000), 3);
  EXPECT_FALSE(outcome.proved);
  EXPECT_FALSE(outcome.witness);
  EXPECT_NE(outcome.obstacle.find("3 boxes"), std::string::npos);
}

TEST(DualBound, NeverExceedsTheErrorOfAnyPolynomial) {
  Random random(1);
  for (const ExpProblem& problem : {kRelative, kAbsolute, ExpProblem{ErrorMeasure::relative, -9, 9}}) {
    for (const int degree : {0, 1, 3, 7}) {
      const MinimaxEnclosure best = enclose_minimax_error(problem, degree);
      EXPECT_LE(best.lower.bound, best.upper.error_bound);
      for (int i = 0; i < 20; ++i) {
        std::vector<Rational> points;
        for (int k = 0; k < degree + 2; ++k) {
          points.push_back(problem.a +
                           (problem.b - problem.a) * Rational(Integer(random.below(1 << 20)), Integer(1 << 20)));
        }
        const ErrorBound bound = dual_lower_bound(problem, degree, points, 300);
        EXPECT_LE(bound.bound.value_or(Rational(0)), best.upper.error_bound);
      }
    }
  }
}

TEST(DualBound, DegreeZeroInClosedForm) {
  // Relative: E_0 = tanh(R), from the two ends; absolute on [0, B]: (e^B - 1)/2.
  const std::vector<Rational> ends{-1, 1};
  EXPECT_EQ(to_decimal(*dual_lower_bound(kRelative, 0, ends, 200).bound, 16, Rounding::nearest),
            "7.615941559557649e-1");
  const std::vector<Rational> absolute{0, 2};
  EXPECT_EQ(to_decimal(*dual_lower_bound(kAbsolute, 0, absolute, 200).bound, 16, Rounding::nearest),
            "3.194528049465325");
}

TEST(DualBound, SaysNoToWrongPoints) {
  const auto obstacle = [](std::vector<Rational> points, int degree = 1) {
    return dual_lower_bound(kRelative, degree, points, 100).obstacle;
  };
  EXPECT_EQ(obstacle({-1, 0, 1}), "");
  EXPECT_NE(obstacle({-1, 1}).find("expected 3"), std::string::npos);
  EXPECT_NE(obstacle({-1, 0, 0}).find("twice"), std::string::npos);
  EXPECT_NE(obstacle({-1, 0, 2}).find("outside"), std::string::npos);
  expect_error(ErrorKind::parameter, "at least 0", [] { dual_lower_bound(kRelative, -1, {}, 100); });
  // Order does not matter.
  const std::vector<Rational> ascending{-1, 0, 1};
  const std::vector<Rational> shuffled{0, 1, -1};
  EXPECT_EQ(dual_lower_bound(kRelative, 1, ascending, 100).bound, dual_lower_bound(kRelative, 1, shuffled, 100).bound);
}

TEST(DualBound, TooFewBitsAreNoProof) {
  const MinimaxEnclosure best = enclose_minimax_error(kRelative, 12);
  EXPECT_FALSE(dual_lower_bound(kRelative, 12, best.lower.points, 20).bound);
  EXPECT_TRUE(dual_lower_bound(kRelative, 12, best.lower.points, 150).bound);
}

TEST(ExpProblems, EmptyAndHugeIntervals) {
  expect_error(ErrorKind::parameter, "empty", [] { validate(ExpProblem{ErrorMeasure::relative, 1, -1}); });
  expect_error(ErrorKind::resource, "beyond", [] {
    validate(ExpProblem{ErrorMeasure::relative, 0, Rational(kMaxExpArgument) * 2});
  });
  expect_error(ErrorKind::parameter, "more than 0", [] { validate_epsilon(kRelative, 0); });
  expect_error(ErrorKind::parameter, "less than 1", [] { validate_epsilon(kRelative, 1); });
  EXPECT_NO_THROW(validate_epsilon(kAbsolute, 5));
}

}  // namespace
