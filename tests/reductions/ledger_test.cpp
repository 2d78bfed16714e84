#include "expect_error.hpp"

#include <subquad/core/error.hpp>
#include <subquad/reductions/ledger.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

namespace subquad::reductions {
namespace {

/// 3-SAT at the threshold through OV and the three-bit gadget.
/// One call, N = 2^(n/2) a side, 3 round(4.26 n) coordinates.
Ledger worked_example(std::uint64_t n) {
  Ledger ledger(static_cast<double>(n));
  const auto clauses = static_cast<std::uint64_t>(std::llround(4.26 * static_cast<double>(n)));
  LedgerEntry entry;
  entry.problem = "gap-ann";
  entry.num_a = pow2(n - n / 2);
  entry.num_b = pow2(n / 2);
  entry.dim = 3 * clauses;
  ledger.add(entry);
  return ledger;
}

double exponent(std::uint64_t n, double alpha) {
  return worked_example(n).implied_exponent(alpha, 1.0);
}
double marginal(std::uint64_t n1, std::uint64_t n2, double alpha) {
  return marginal_exponent(worked_example(n1), worked_example(n2), alpha, 1.0);
}

// Figures to three decimals, worked out by hand: log2(2^(alpha n/2) * 3 round(4.26 n)) / n.
TEST(Ledger, WorkedExampleImpliedExponents) {
  EXPECT_NEAR(exponent(20, 1.9), 1.350, 0.0005);
  EXPECT_NEAR(exponent(40, 1.9), 1.175, 0.0005);
  EXPECT_NEAR(exponent(80, 1.9), 1.075, 0.0005);
  EXPECT_NEAR(exponent(200, 1.9), 1.007, 0.0005);
  EXPECT_NEAR(exponent(40, 1.5), 0.975, 0.0005);
  EXPECT_GT(exponent(30, 1.5), 1.0);  // vacuous before n = 40, and at every size shown for alpha = 1.9
}

TEST(Ledger, WorkedExampleMarginalExponents) {
  EXPECT_NEAR(marginal(30, 40, 1.9), 0.991, 0.0005);
  EXPECT_NEAR(marginal(60, 80, 1.9), 0.971, 0.0005);
  EXPECT_NEAR(marginal(120, 200, 1.9), 0.959, 0.0005);
  // The polynomial factor fades: alpha/2 is approached from above.
  EXPECT_NEAR(marginal(20000, 40000, 1.9), 0.95, 0.0005);
  EXPECT_NEAR(marginal(20000, 40000, 1.5), 0.75, 0.0005);
  EXPECT_NEAR(marginal(20000, 40000, 2.0), 1.0, 0.0005);
}

TEST(Ledger, DeltaOfOneCallIsEpsForEvenAndForOddSizes) {
  // nA nB = 2^n whatever the parity, because the sides are rectangular and not padded.
  EXPECT_NEAR(worked_example(40).delta(0.1), 0.1, 1e-12);
  EXPECT_NEAR(worked_example(41).delta(0.1), 0.1, 1e-12);
  // Padding both sides to 2^ceil(n/2) is what would cost a factor of 2^(1-eps).
  Ledger padded(41);
  padded.add({"ov", pow2(21), pow2(21), 100, 0, 1, 0, ""});
  EXPECT_NEAR(padded.delta(0.1), 1.0 - 42 * 0.9 / 41, 1e-12);
}

TEST(Ledger, DeltaPaysForTheNumberOfFormulas) {
  // 2^(0.02 n) sparsified formulas at n = 100: 4 calls on 2^50 x 2^50, eps = 0.05.
  Ledger ledger(100);
  ledger.add({"ov", pow2(50), pow2(50), 100, 0, 4, 0, ""});
  EXPECT_NEAR(ledger.delta(0.05), 0.0300, 1e-12);
}

TEST(Ledger, RectangularCallsAreSplitIntoSquares) {
  Ledger ledger(10);
  ledger.add({"ov", 1024, 16, 1, 0, 1, 0, ""});  // 64 squares of 16 x 16: 64 * 16^1.5 = 2^12
  EXPECT_NEAR(ledger.log2_cost(1.5, 1.0), 12.0, 1e-12);
  ledger.add({"ov", 16, 1024, 1, 0, 15, 0, ""});  // both orientations cost the same: 16 * 2^12 in all
  EXPECT_NEAR(ledger.log2_cost(1.5, 1.0), 16.0, 1e-12);
}

TEST(Ledger, OwnOperationsAreIncluded) {
  Ledger ledger(10);
  ledger.add({"ov", 4, 4, 1, 0, 1, 0, ""});
  ledger.add_operations(Count(1000));
  ledger.add_operations(Count(8));
  EXPECT_NEAR(ledger.log2_cost(2.0, 0.0), std::log2(1024.0), 1e-12);
  EXPECT_EQ(ledger.operations(), 1008);
}

TEST(Ledger, SizesBeyondEveryDouble) {
  Ledger ledger(10000);
  ledger.add({"ov", pow2(5000), pow2(5000), 8, 0, 1, 0, ""});
  EXPECT_NEAR(ledger.log2_cost(2.0, 1.0), 10003.0, 1e-6);
}

TEST(Ledger, Edges) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Ledger(5).log2_cost(1.9, 1), -kInfinity);
  Ledger empty_side(5);
  empty_side.add({"ov", 0, 7, 3, 0, 1, 0, ""});
  EXPECT_EQ(empty_side.log2_cost(1.0, 1), -kInfinity);
  Ledger no_dimension(5);
  no_dimension.add({"ov", 4, 4, 0, 0, 1, 0, ""});
  EXPECT_NEAR(no_dimension.log2_cost(2.0, 1.0), 4.0, 1e-12);
  EXPECT_EQ(conclusion(Ledger(5), 1.9, 1).size(), 1U);
}

TEST(Ledger, Refusals) {
  const double nan = std::nan("");
  test::expect_error(ErrorKind::parameter, [] { Ledger(-1.0); });
  test::expect_error(ErrorKind::parameter, [&] { Ledger{nan}; });
  const Ledger ledger = worked_example(20);
  test::expect_error(ErrorKind::parameter, [&] { ledger.log2_cost(0.9, 1); });
  test::expect_error(ErrorKind::parameter, [&] { ledger.log2_cost(2.1, 1); });
  test::expect_error(ErrorKind::parameter, [&] { ledger.log2_cost(nan, 1); });
  test::expect_error(ErrorKind::parameter, [&] { ledger.log2_cost(1.5, -1); });
  test::expect_error(ErrorKind::parameter, [&] { ledger.delta(1.1); });
  test::expect_error(ErrorKind::parameter, [] { Ledger(0).implied_exponent(1.5, 1); });
  test::expect_error(ErrorKind::parameter, [] { Ledger(0).delta(0.1); });
  test::expect_error(ErrorKind::parameter, [&] { marginal_exponent(ledger, ledger, 1.9, 1); });
  test::expect_error(ErrorKind::parameter, [&] { marginal_exponent(Ledger(1), ledger, 1.9, 1); });
  test::expect_error(ErrorKind::parameter, [&] { check_delta(ledger, 0.1, 0.1, 0.5); });
}

TEST(Ledger, DeltaCheckAcceptsTheClaimAndRefusesAStrongerOne) {
  Ledger ledger = worked_example(40);
  ledger.add_operations(pow2(24));
  EXPECT_TRUE(check_delta(ledger, 0.1, 0.1, 1).delta_holds);
  EXPECT_FALSE(check_delta(ledger, 0.1, 0.11, 1).delta_holds);
  EXPECT_TRUE(check_delta(ledger, 0.1, 0.1, 1).operations_hold);   // 2^24 <= 2^36
  EXPECT_FALSE(check_delta(ledger, 0.1, 0.5, 1).operations_hold);  // 2^24 > 2^20
  EXPECT_TRUE(check_delta(ledger, 0.1, 0.5, 16).operations_hold);
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST(Ledger, ConclusionSaysWhereItIsVacuous) {
  const std::string small = joined(conclusion(worked_example(20), 1.9, 1.0));
  EXPECT_NE(small.find("vacuous at this size"), std::string::npos) << small;
  EXPECT_EQ(small.find("not vacuous"), std::string::npos) << small;
  EXPECT_NE(small.find("1.350"), std::string::npos) << small;
  const std::string large = joined(conclusion(worked_example(40), 1.5, 1.0));
  EXPECT_NE(large.find("not vacuous at this size"), std::string::npos) << large;
  EXPECT_NE(large.find("0.975"), std::string::npos) << large;
  EXPECT_NE(joined(conclusion(worked_example(400), 2.0, 0.0)).find("no saving is assumed"), std::string::npos);
  EXPECT_NE(joined(conclusion(
                       [] {
                         Ledger ledger(0);
                         ledger.add({"ov", 1, 1, 0, 0, 1, 0, ""});
                         return ledger;
                       }(),
                       1.5, 1.0))
                .find("vacuous"),
            std::string::npos);
}

TEST(Ledger, ConclusionNeverSellsOneRunAsMore) {
  for (const std::uint64_t n : {2, 20, 40, 400}) {
    for (const double alpha : {1.0, 1.5, 1.9, 2.0}) {
      const std::string text = joined(conclusion(worked_example(n), alpha, 1.0));
      EXPECT_NE(text.find("for this run only"), std::string::npos) << text;
      EXPECT_EQ(text.find("asymptotic"), std::string::npos) << text;
    }
  }
}

RC_GTEST_PROP(Ledger, CostAgreesWithPlainArithmeticOnSmallSizes, ()) {
  Ledger ledger(10);
  double plain = 0;
  const auto entries = *rc::gen::inRange(1, 6);
  const double alpha = 1.0 + *rc::gen::inRange(0, 11) / 10.0;
  const double gamma = *rc::gen::inRange(0, 4) / 2.0;
  for (int e = 0; e < entries; ++e) {
    const int a = *rc::gen::inRange(0, 50);
    const int b = *rc::gen::inRange(0, 50);
    const int dim = *rc::gen::inRange(0, 20);
    const int count = *rc::gen::inRange(0, 5);
    ledger.add({"ov", a, b, dim, 0, count, 0, ""});
    const double small = a < b ? a : b;
    const double large = a < b ? b : a;
    if (small > 0) plain += count * large * std::pow(small, alpha - 1) * std::pow(dim > 1 ? dim : 1, gamma);
  }
  const int operations = *rc::gen::inRange(1, 100);
  ledger.add_operations(operations);
  plain += operations;
  RC_ASSERT(std::abs(ledger.log2_cost(alpha, gamma) - std::log2(plain)) <= 1e-9);
}

}  // namespace
}  // namespace subquad::reductions
