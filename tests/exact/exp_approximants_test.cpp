#include "expect_error.hpp"
#include "minimal_degree_table.hpp"

#include <subquad/core/error.hpp>
#include <subquad/exact/exp_approximants.hpp>
#include <subquad/exact/exp_error_bounds.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace {

using namespace subquad::exact;
using subquad::ErrorKind;
using subquad::test::expect_error;
using subquad::test::kDegreeEpsilons;

ExpProblem relative(const Rational& r) {
  return {ErrorMeasure::relative, -r, r};
}

ExpProblem absolute(const Rational& b) {
  return {ErrorMeasure::absolute, 0, b};
}

/// Proved: no degree below this one works for the construction, and it works.
bool works(const ExpProblem& problem, const Polynomial& p, const Rational& epsilon) {
  return bernstein_upper_bound(problem, p, epsilon).proved;
}

TEST(Taylor, HasTheFactorialsAtZero) {
  EXPECT_EQ(taylor(0, 3, 50), (Polynomial{1, 1, Rational(1, 2), Rational(1, 6)}));
  const Polynomial p = taylor(1, 8, 100);
  for (int i = -2; i <= 4; ++i) {
    const Rational x(i, 2);
    Rational remainder = 1;  // |x - 1|^9/9! e^2 bounds the tail
    for (int k = 1; k <= 9; ++k) remainder *= abs(Rational(x - 1)) / k;
    EXPECT_LE(error_at(absolute(2), p, x, 150).low, remainder * 8 + power_of_two(-90)) << i;
  }
}

TEST(Nodes, AreInsideAscendingAndDifferent) {
  for (const ExpProblem& problem :
       {relative(1), relative(25), absolute(32), ExpProblem{ErrorMeasure::relative, 3, 4}}) {
    for (const int degree : {0, 1, 5, 30, 300}) {
      const auto nodes = interpolation_nodes(problem, degree);
      ASSERT_EQ(nodes.size(), static_cast<std::size_t>(degree) + 1);
      EXPECT_GT(nodes.front(), problem.a);
      EXPECT_LT(nodes.back(), problem.b);
      const auto points = alternation_points(problem, degree);
      ASSERT_EQ(points.size(), static_cast<std::size_t>(degree) + 2);
      EXPECT_EQ(points.front(), problem.a);
      EXPECT_EQ(points.back(), problem.b);
      for (const auto& row : {nodes, points}) {
        EXPECT_TRUE(std::adjacent_find(row.begin(), row.end(),
                                       [](const Rational& x, const Rational& y) { return !(x < y); }) == row.end());
      }
    }
  }
}

TEST(NodeInterpolation, MeetsTheExponentialAtItsNodes) {
  for (const ExpProblem& problem : {relative(2), absolute(3)}) {
    const Polynomial p = node_interpolation(problem, 6, 200);
    for (const Rational& x : interpolation_nodes(problem, 6)) {
      EXPECT_LE(error_at(problem, p, x, 300).high, power_of_two(-190));
    }
  }
}

// The published comparison: interpolation at Kepler's (Chebyshev's) nodes needs the least degree or one more, in every
// cell.
TEST(NodeInterpolation, ReachesTheMinimalDegreeOrOneMore) {
  int equal_relative = 0;
  int equal_absolute = 0;
  const auto run = [](const auto& table, bool is_relative, int& equal) {
    for (const auto& row : table) {
      const std::string_view name = row.size;
      if (name.size() == 2 || name == "9") continue;  // exact interpolation takes seconds there
      for (std::size_t i = 0; i < kDegreeEpsilons.size(); ++i) {
        const Rational size = *parse_rational(row.size);
        const Rational epsilon = *parse_rational(kDegreeEpsilons[i]);
        const ExpProblem problem = is_relative ? relative(size) : absolute(size);
        const bool least = works(problem, node_interpolation(problem, row.degrees[i], 160), epsilon);
        equal += least ? 1 : 0;
        EXPECT_TRUE(least || works(problem, node_interpolation(problem, row.degrees[i] + 1, 160), epsilon))
            << row.size << " " << kDegreeEpsilons[i];
      }
    }
  };
  run(subquad::test::kRelativeDegrees, true, equal_relative);
  run(subquad::test::kAbsoluteDegrees, false, equal_absolute);
  // Of 63 and 36 cells; over the whole grid 80 of 99 and 49 of 54 are published.
  EXPECT_EQ(equal_relative, 59);
  EXPECT_EQ(equal_absolute, 35);
}

TEST(ChebyshevTruncation, ConvergesLikeItsSeries) {
  const ExpProblem problem = absolute(2);
  Rational previous = 10;
  for (int degree = 0; degree <= 12; ++degree) {
    const Polynomial p = chebyshev_truncation(problem, degree, 200);
    const Rational error = error_at(problem, p, 2, 300).high;
    EXPECT_LT(error * 2, previous);
    previous = error;
  }
  EXPECT_TRUE(works(absolute(8), chebyshev_truncation(absolute(8), 13, 200), *parse_rational("1e-4")));
  EXPECT_FALSE(works(absolute(8), chebyshev_truncation(absolute(8), 12, 200), *parse_rational("1e-4")));
  EXPECT_TRUE(works(relative(4), chebyshev_interpolation(relative(4), 13, 200), *parse_rational("1e-4")));
}

TEST(Constructions, RefuseBadDegreesAndIntervals) {
  expect_error(ErrorKind::parameter, "at least 0", [] { node_interpolation(relative(1), -1, 100); });
  expect_error(ErrorKind::resource, "at most 2000", [] { interpolation_nodes(relative(1), 5000); });
  expect_error(ErrorKind::parameter, "point", [] { chebyshev_truncation(relative(0), 3, 100); });
  expect_error(ErrorKind::parameter, "Taylor", [] { taylor(0, -1, 100); });
  expect_error(ErrorKind::parameter, "empty", [] { alternation_points({ErrorMeasure::absolute, 1, 0}, 3); });
}

}  // namespace
