#include <subquad/core/error.hpp>
#include <subquad/exact/interval.hpp>
#include <subquad/reductions/tolerance.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace subquad::reductions {
namespace {

using exact::Rational;

TEST(Tolerance, ReadsDecimalsExactly) {
  EXPECT_EQ(Tolerance("0.1").value(), Rational(1, 10));
  EXPECT_NE(Tolerance("0.1").value(), Rational(0.1));  // the double nearest to 1/10 is another number
  EXPECT_EQ(Tolerance(".25").value(), Rational(1, 4));
  EXPECT_EQ(Tolerance("+0.0100").value(), Rational(1, 100));
  EXPECT_EQ(Tolerance("1e-3").value(), Rational(1, 1000));
  EXPECT_EQ(Tolerance("0.02E+1").value(), Rational(1, 5));
  EXPECT_EQ(Tolerance("010e-2").value(), Rational(1, 10));  // not octal
  EXPECT_EQ(Tolerance("49999.e-5").value(), Rational(49999, 100000));
  EXPECT_EQ(Tolerance(), Tolerance("0.10"));
}

TEST(Tolerance, RefusesWhatIsNoToleranceWithKindParameter) {
  for (const std::string& text :
       {std::string(),          std::string("."),       std::string("-0.1"),
        std::string("0"),       std::string("0.5"),     std::string("0.6"),
        std::string("1/10"),    std::string("0.1x"),    std::string(" 0.1"),
        std::string("0.1 "),    std::string("nan"),     std::string("inf"),
        std::string("0x1p-3"),  std::string("1e"),      std::string("1e-"),
        std::string("0,1"),     std::string("1e-1001"), std::string("1e-99999999999999999999"),
        std::string(1001, '1'), std::string("0.0e0"),   std::string("0.1\0", 4)}) {
    try {
      const Tolerance tolerance(text);
      ADD_FAILURE() << "accepted \"" << text << "\" as " << tolerance.value();
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::parameter) << text;
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
    }
  }
}

TEST(Tolerance, HalfLogRhoIsTheLogitOfOneHalfPlusTolerance) {
  EXPECT_NEAR(Tolerance("0.25").half_log_rho().low(), std::log(3.0), 1e-15);
  EXPECT_NEAR(Tolerance("0.1").half_log_rho().low(), std::log(1.5), 1e-15);
  // h = 2 artanh(2 eps) = 4 eps + O(eps^3), so that it must not be lost in 1 + 4 eps.
  const auto h = Tolerance("1e-300").half_log_rho();
  EXPECT_LE(h.low(), 4e-300);
  EXPECT_GE(h.high(), 4e-300);
  EXPECT_GT(h.low(), 3.999999e-300);
}

TEST(Tolerance, LogLowerBoundIsBelowAndNear) {
  for (const char* text : {"0.1", "0.01", "0.25", "0.4", "1e-9", "0.4999"}) {
    const Tolerance tolerance(text);
    const double bound = tolerance.log_lower_bound();
    // e^bound <= eps_a as real numbers.
    EXPECT_NE(
        compare(exp(exact::Interval::from_double(bound, 256)), exact::Interval::from_rational(tolerance.value(), 256)),
        exact::Comparison::greater);
    EXPECT_NEAR(bound, std::log(static_cast<double>(tolerance.value())), 1e-14 * std::abs(bound));
  }
}

}  // namespace
}  // namespace subquad::reductions
