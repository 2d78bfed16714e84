#include "expect_error.hpp"

#include <subquad/core/error.hpp>
#include <subquad/exact/exp_degree.hpp>
#include <subquad/exact/exp_error_bounds.hpp>
#include <subquad/exact/exp_minimax.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace subquad::exact;
using subquad::ErrorKind;
using subquad::test::expect_error;

const ExpProblem kRelative{ErrorMeasure::relative, -2, 2};

TEST(Minimax, TheErrorAlternatesAndIsLevel) {
  for (const ExpProblem& problem :
       {kRelative, ExpProblem{ErrorMeasure::absolute, 0, 4}, ExpProblem{ErrorMeasure::relative, -25, 25}}) {
    for (const int degree : {0, 1, 2, 7, 12}) {
      const MinimaxApproximation best = minimax(problem, degree, 60);
      ASSERT_EQ(best.points.size(), static_cast<std::size_t>(degree) + 2);
      EXPECT_LE(best.largest_error / best.levelled_error - 1, power_of_two(-60));
      for (std::size_t i = 0; i < best.points.size(); ++i) {
        const PointError e = error_at(problem, best.polynomial, best.points[i], 400);
        EXPECT_LE(abs(Rational(e.high / best.levelled_error - 1)), power_of_two(-40)) << degree << ", point " << i;
      }
      // The dual bound of the points equals the levelled error: a second opinion on h.
      const ErrorBound dual = dual_lower_bound(problem, degree, best.points, 400);
      ASSERT_TRUE(dual.bound);
      EXPECT_LE(abs(Rational(*dual.bound / best.levelled_error - 1)), power_of_two(-50));
    }
  }
}

TEST(Minimax, ATargetStopsItEarly) {
  const Rational target = *parse_rational("1e-3");
  const MinimaxApproximation early = minimax(kRelative, 9, 60, target);
  EXPECT_LT(early.largest_error, target);
  EXPECT_LE(early.iterations, minimax(kRelative, 9, 60).iterations);
  EXPECT_GE(minimax(kRelative, 2, 60, target).levelled_error, target);
}

TEST(Minimax, RefusesBadInput) {
  expect_error(ErrorKind::parameter, "at least 0", [] { minimax(kRelative, -1); });
  expect_error(ErrorKind::parameter, "point", [] { minimax({ErrorMeasure::relative, 1, 1}, 1); });
  expect_error(ErrorKind::parameter, "gap", [] { minimax(kRelative, 1, 0); });
  expect_error(ErrorKind::resource, "bits", [] { minimax({ErrorMeasure::relative, -1000, 1000}, 900); });
}

TEST(CriticalIntervals, HoldARootOfTheMarkerEach) {
  const MinimaxApproximation best = minimax(kRelative, 8, 60);
  const std::vector<Rational> starts(best.points.begin() + 1, best.points.end() - 1);
  const auto intervals = critical_intervals(kRelative, best.polynomial, starts, 40);
  ASSERT_EQ(intervals.size(), 8u);
  const Polynomial marker = best.polynomial.derivative() - best.polynomial;
  for (const CriticalInterval& i : intervals) {
    EXPECT_LT(marker(i.low) * marker(i.high), 0);
    EXPECT_LE(i.high - i.low, Rational(8) * power_of_two(-40));
  }
  EXPECT_TRUE(critical_intervals(kRelative, best.polynomial, {0, 1}, 40).empty());  // wrong number of starts
}

TEST(PredictedDegree, IsWithinOneOfThePublishedOnes) {
  const auto relative = [](int r) { return ExpProblem{ErrorMeasure::relative, -r, r}; };
  EXPECT_EQ(predicted_degree(relative(1), *parse_rational("1e-8")), 9);
  EXPECT_EQ(predicted_degree(relative(25), *parse_rational("1e-16")), 58);
  EXPECT_EQ(predicted_degree({ErrorMeasure::absolute, 0, 32}, *parse_rational("1e-16")), 55);
  EXPECT_EQ(predicted_degree(relative(0), *parse_rational("1e-16")), 0);
}

TEST(PredictedError, IsWithinAPerCentOfTheLeastError) {
  for (const ExpProblem& problem :
       {kRelative, ExpProblem{ErrorMeasure::absolute, 0, 4}, ExpProblem{ErrorMeasure::absolute, 3, 5},
        ExpProblem{ErrorMeasure::relative, -16, 16}}) {
    for (const int degree : {4, 8, 20, 30}) {
      const MinimaxApproximation best = minimax(problem, degree, 30);
      if (best.levelled_error > Rational(1, 2)) continue;
      const double log2_error =
          static_cast<double>(floor_log2(best.levelled_error)) +
          std::log2(to_double(best.levelled_error * power_of_two(-floor_log2(best.levelled_error)), Rounding::nearest));
      EXPECT_NEAR(predicted_log2_error(problem, degree), log2_error, 0.02)
          << describe(problem) << ", degree " << degree;
    }
  }
}

TEST(PredictedDegree, RefusesWhatIsFarTooMuch) {
  expect_error(ErrorKind::resource, "degree", [] {
    predicted_degree({ErrorMeasure::relative, -1'000'000, 1'000'000}, Rational(1, 2));
  });
  expect_error(ErrorKind::parameter, "at least 0", [] { predicted_log2_error(kRelative, -1); });
  EXPECT_GT(predicted_degree({ErrorMeasure::relative, -2000, 2000}, Rational(1, 100)), 2000);
}

}  // namespace
