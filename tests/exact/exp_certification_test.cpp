#include "expect_error.hpp"
#include "minimal_degree_table.hpp"
#include "minimax_error_table.hpp"

#include <subquad/core/error.hpp>
#include <subquad/exact/exp_bracket.hpp>
#include <subquad/exact/exp_certification.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace subquad::exact;
using subquad::ErrorKind;
using subquad::test::DegreeRow;
using subquad::test::expect_error;
using subquad::test::kDegreeEpsilons;

ExpProblem relative(const Rational& r) {
  return {ErrorMeasure::relative, -r, r};
}

ExpProblem absolute(const Rational& b) {
  return {ErrorMeasure::absolute, 0, b};
}

/// Both halves hold again when only the data of the certificate are looked at.
void expect_both_halves(const CertifiedMinimalDegree& m, const ExpProblem& problem, const Rational& epsilon,
                        const std::string& cell) {
  const ErrorBound upper = alternation_upper_bound(problem, m.approximant.polynomial, m.approximant.intervals, 500);
  ASSERT_TRUE(upper.bound) << cell << ": " << upper.obstacle;
  EXPECT_LT(*upper.bound, epsilon) << cell;
  if (m.degree() == 0) return;
  ASSERT_TRUE(m.lower) << cell;
  EXPECT_EQ(m.lower->degree, m.degree() - 1) << cell;
  const ErrorBound lower = dual_lower_bound(problem, m.degree() - 1, m.lower->points, 500);
  ASSERT_TRUE(lower.bound) << cell << ": " << lower.obstacle;
  EXPECT_GE(*lower.bound, epsilon) << cell;
}

template <class Table>
void expect_table(const Table& table, bool is_relative) {
  for (const DegreeRow& row : table) {
    for (std::size_t i = 0; i < kDegreeEpsilons.size(); ++i) {
      const Rational size = *parse_rational(row.size);
      const Rational epsilon = *parse_rational(kDegreeEpsilons[i]);
      const ExpProblem problem = is_relative ? relative(size) : absolute(size);
      const std::string cell = describe(problem) + ", epsilon " + kDegreeEpsilons[i];
      const CertifiedMinimalDegree m = certified_minimal_degree(problem, epsilon);
      EXPECT_EQ(m.degree(), row.degrees[i]) << cell;
      expect_both_halves(m, problem, epsilon, cell);
    }
  }
}

TEST(CertifiedMinimalDegree, AllRelativeCellsOfThePublishedGrid) {
  expect_table(subquad::test::kRelativeDegrees, true);
}

TEST(CertifiedMinimalDegree, AllAbsoluteCellsOfThePublishedGrid) {
  expect_table(subquad::test::kAbsoluteDegrees, false);
}

TEST(CertifiedMinimalDegree, TheTightCell) {
  const Rational epsilon = *parse_rational("1e-12");
  const CertifiedMinimalDegree m = certified_minimal_degree(relative(1), epsilon);
  EXPECT_EQ(m.degree(), 12);
  const MinimaxEnclosure e11 = enclose_minimax_error(relative(1), 11);
  EXPECT_GT(e11.lower.bound, epsilon);
  EXPECT_EQ(to_decimal(e11.lower.bound, 6, Rounding::nearest), "1.00143e-12");
  EXPECT_EQ(to_decimal(enclose_minimax_error(relative(1), 12).upper.error_bound, 3, Rounding::nearest), "3.86e-14");
}

TEST(MinimaxEnclosure, ReproducesThePublishedTableToFifteenDigits) {
  for (const auto& row : subquad::test::kMinimaxErrors) {
    const ExpProblem problem{row.relative ? ErrorMeasure::relative : ErrorMeasure::absolute, *parse_rational(row.a),
                             *parse_rational(row.b)};
    const MinimaxEnclosure e = enclose_minimax_error(problem, row.degree, 17);
    const std::string cell = describe(problem) + ", degree " + std::to_string(row.degree);
    // Ours lies inside the published enclosure, and is narrower than 1e-16 of the value.
    EXPECT_GE(e.lower.bound, *parse_rational(row.low)) << cell;
    EXPECT_LE(e.upper.error_bound, *parse_rational(row.high)) << cell;
    EXPECT_LE(e.upper.error_bound - e.lower.bound, e.lower.bound / *parse_rational("1e16")) << cell;
  }
}

TEST(MinimaxEnclosure, HighDegreesAndLongIntervals) {
  struct Case {
    ExpProblem problem;
    int degree;
  };
  for (const Case& c : {Case{relative(25), 79}, Case{relative(64), 110}, Case{absolute(64), 110}}) {
    const MinimaxEnclosure e = enclose_minimax_error(c.problem, c.degree, 16);
    EXPECT_LE(e.lower.bound, e.upper.error_bound) << describe(c.problem);
    EXPECT_LE(e.upper.error_bound / e.lower.bound - 1, power_of_two(-50)) << describe(c.problem);
  }
}

TEST(MinimaxEnclosure, ShiftsAreTheSameProblem) {
  // Relative error: E_g depends on the length only. Absolute error: it is e^a times that on [0, b - a].
  const MinimaxEnclosure here = enclose_minimax_error(relative(1), 4);
  const MinimaxEnclosure there = enclose_minimax_error({ErrorMeasure::relative, 99, 101}, 4);
  EXPECT_LE(there.lower.bound, here.upper.error_bound);
  EXPECT_GE(there.upper.error_bound, here.lower.bound);
  const MinimaxEnclosure zero = enclose_minimax_error(absolute(2), 4);
  const MinimaxEnclosure minus = enclose_minimax_error({ErrorMeasure::absolute, -10, -8}, 4);
  EXPECT_LE(minus.lower.bound, zero.upper.error_bound * exp_bracket(-10, 100).upper());
  EXPECT_GE(minus.upper.error_bound, zero.lower.bound * exp_bracket(-10, 100).lower());
}

TEST(CertifiedMinimalDegree, LongIntervals) {
  // Weights |w_i| are e^R times larger than |w_i| e^x_i at the left end: sums must keep the digits of the latter.
  const CertifiedMinimalDegree m = certified_minimal_degree(relative(80), *parse_rational("1e-18"));
  EXPECT_EQ(m.degree(), 132);
  expect_both_halves(m, relative(80), *parse_rational("1e-18"), "R = 80");
}

TEST(CertifiedMinimalDegree, Degenerate) {
  const CertifiedMinimalDegree zero = certified_minimal_degree(relative(0), Rational(1, 1000));
  EXPECT_EQ(zero.degree(), 0);
  EXPECT_EQ(zero.approximant.error_bound, 0);
  const CertifiedMinimalDegree one = certified_minimal_degree({ErrorMeasure::absolute, 1, 1}, *parse_rational("1e-50"));
  EXPECT_EQ(one.degree(), 0);
  EXPECT_LT(one.approximant.error_bound, *parse_rational("1e-50"));
  const CertifiedMinimalDegree loose = certified_minimal_degree(relative(Rational(1, 100)), Rational(1, 2));
  EXPECT_EQ(loose.degree(), 0);
  EXPECT_FALSE(loose.lower);
  const CertifiedMinimalDegree generous = certified_minimal_degree(absolute(1), 100);
  EXPECT_EQ(generous.degree(), 0);
  const CertifiedMinimalDegree tiny =
      certified_minimal_degree(relative(*parse_rational("1e-30")), *parse_rational("1e-40"));
  EXPECT_EQ(tiny.degree(), 1);
  // So short that R is no double: constants, and one degree more.
  for (const char* r : {"1e-100", "1e-290", "1e-400"}) {
    EXPECT_EQ(certified_minimal_degree(relative(*parse_rational(r)), Rational(1, 1000)).degree(), 0) << r;
    EXPECT_EQ(certified_minimal_degree(absolute(*parse_rational(r)), Rational(1, 1000)).degree(), 0) << r;
  }
  EXPECT_EQ(certified_minimal_degree(relative(*parse_rational("1e-100")), *parse_rational("1e-150")).degree(), 1);
}

TEST(CertifiedMinimalDegree, RefusesBadInput) {
  expect_error(ErrorKind::parameter, "more than 0", [] { certified_minimal_degree(relative(1), 0); });
  expect_error(ErrorKind::parameter, "more than 0", [] { certified_minimal_degree(relative(1), -1); });
  expect_error(ErrorKind::parameter, "less than 1", [] { certified_minimal_degree(relative(1), 1); });
  expect_error(ErrorKind::parameter, "empty", [] {
    certified_minimal_degree({ErrorMeasure::relative, 1, 0}, Rational(1, 2));
  });
  expect_error(ErrorKind::resource, "at most 1000", [] { certified_minimal_degree(relative(5000), Rational(1, 2)); });
  expect_error(ErrorKind::resource, "degree", [] { certified_minimal_degree(relative(10'000'000), Rational(1, 2)); });
  expect_error(ErrorKind::parameter, "at least 0", [] { certified_approximant(relative(1), Rational(1, 2), -1); });
  expect_error(ErrorKind::parameter, "point", [] { enclose_minimax_error(relative(0), 1); });
}

TEST(CertifiedApproximant, ADegreeThatIsTooSmallGivesNothing) {
  EXPECT_FALSE(certified_approximant(relative(1), *parse_rational("1e-12"), 11));
  EXPECT_TRUE(certified_approximant(relative(1), *parse_rational("1e-12"), 12));
  EXPECT_FALSE(certified_lower_bound(relative(1), *parse_rational("1e-12"), 12));
}

TEST(CertifiedApproximant, CoefficientsHaveFewBits) {
  // The rule p = log2(4 kappa/(eps - E)): about as many bits as the published examples (351 for degree 9 at 1e-8, 699
  // at R = 4).
  EXPECT_LE(certified_approximant(relative(1), *parse_rational("1e-8"), 9)->polynomial.total_bits(), 700u);
  EXPECT_LE(certified_approximant(relative(4), *parse_rational("1e-8"), 15)->polynomial.total_bits(), 1400u);
}

TEST(CertifiedApproximant, IsPositiveWhereItShouldBe) {
  // A relative error below 1 leaves no room for a sign change: attention weights stay positive.
  for (const char* r : {"0.5", "4", "16"}) {
    const auto m = certified_minimal_degree(relative(*parse_rational(r)), Rational(1, 10));
    for (int i = -100; i <= 100; ++i) {
      EXPECT_GT(m.approximant.polynomial(*parse_rational(r) * Rational(i, 100)), 0);
    }
  }
}

}  // namespace
