#include "expect_error.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/exact/rational.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace {

using namespace subquad::exact;
using subquad::ErrorKind;
using subquad::Random;
using subquad::test::expect_error;

TEST(ParseRational, ReadsFractionsWholeNumbersAndDecimalsExactly) {
  EXPECT_EQ(parse_rational("3"), Rational(3));
  EXPECT_EQ(parse_rational("-2/7"), Rational(-2, 7));
  EXPECT_EQ(parse_rational("+6/4"), Rational(3, 2));
  EXPECT_EQ(parse_rational("0.125"), Rational(1, 8));
  EXPECT_EQ(parse_rational("1e-12"), Rational(1, Integer("1000000000000")));
  EXPECT_EQ(parse_rational("2.50E3"), Rational(2500));
  EXPECT_EQ(parse_rational("010"), Rational(10));  // no octal
  EXPECT_EQ(parse_rational("-0.0"), Rational(0));
  EXPECT_EQ(parse_rational(".5"), Rational(1, 2));
}

TEST(ParseRational, RefusesEverythingElse) {
  for (const char* word : {"",
                           "-",
                           "1/0",
                           "1/-2",
                           "1//2",
                           "1e",
                           "1e+",
                           "nan",
                           "inf",
                           "0x10",
                           "1.2.3",
                           "1/2/3",
                           " 1",
                           "1 ",
                           "1e100001",
                           "--1",
                           "1e-99999999999999999999",
                           ".",
                           "e5",
                           "1,5"}) {
    EXPECT_FALSE(parse_rational(word).has_value()) << word;
  }
}

TEST(FromDouble, IsExactAndRefusesWhatIsNoNumber) {
  EXPECT_EQ(from_double(0.1), Rational(Integer("3602879701896397"), Integer("36028797018963968")));
  EXPECT_EQ(from_double(-0x1p-1074), -power_of_two(-1074));
  expect_error(ErrorKind::parameter, "finite", [] { from_double(std::nan("")); });
  expect_error(ErrorKind::parameter, "finite", [] { from_double(std::numeric_limits<double>::infinity()); });
}

TEST(FloorLog2, BracketsTheNumber) {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const Rational x(Integer(random.below(1 << 20) + 1), Integer(random.below(1 << 20) + 1));
    const std::int64_t e = floor_log2(i % 2 == 0 ? x : Rational(-x));
    EXPECT_LE(power_of_two(e), x);
    EXPECT_LT(x, power_of_two(e + 1));
  }
  EXPECT_EQ(floor_log2(Rational(1, 8)), -3);
  EXPECT_EQ(floor_log2(Rational(8)), 3);
  expect_error(ErrorKind::parameter, "zero", [] { floor_log2(Rational(0)); });
}

TEST(Rounding, GoesTheStatedWayAndNoFurtherThanAUnit) {
  Random random(2);
  for (int i = 0; i < 2000; ++i) {
    Rational x(Integer(random.below(1 << 30)), Integer(random.below(1 << 15) + 1));
    if (i % 2 == 1) x = -x;
    const auto bits = static_cast<std::int64_t>(random.below(40)) - 10;
    const Rational unit = power_of_two(-bits);
    const Rational down = round_to_multiple(x, bits, Rounding::down);
    const Rational up = round_to_multiple(x, bits, Rounding::up);
    const Rational nearest = round_to_multiple(x, bits, Rounding::nearest);
    EXPECT_LE(down, x);
    EXPECT_LT(x - down, unit);
    EXPECT_GE(up, x);
    EXPECT_LT(up - x, unit);
    EXPECT_LE(abs(Rational(nearest - x)) * 2, unit);
    EXPECT_TRUE(nearest == down || nearest == up);
    EXPECT_EQ(denominator(Rational(nearest / unit)), 1);
  }
  EXPECT_EQ(round_to_multiple(Rational(-3, 2), 0, Rounding::nearest), -2);  // ties away from zero
  EXPECT_EQ(round_to_bits(Rational(1, 3), 2, Rounding::nearest), Rational(3, 8));
  EXPECT_EQ(round_to_bits(Rational(0), 5, Rounding::up), 0);
  expect_error(ErrorKind::parameter, "at least 1", [] { round_to_bits(Rational(1), 0, Rounding::up); });
}

TEST(ToDecimal, RoundsOutward) {
  EXPECT_EQ(to_decimal(Rational(2, 3), 4, Rounding::down), "6.666e-1");
  EXPECT_EQ(to_decimal(Rational(2, 3), 4, Rounding::up), "6.667e-1");
  EXPECT_EQ(to_decimal(Rational(-2, 3), 4, Rounding::down), "-6.667e-1");
  EXPECT_EQ(to_decimal(Rational(99999), 3, Rounding::up), "1.00e5");
  EXPECT_EQ(to_decimal(Rational(5), 1, Rounding::nearest), "5");
  EXPECT_EQ(to_decimal(Rational(0), 7, Rounding::up), "0");
  EXPECT_EQ(to_decimal(Rational(1, Integer("100000000000000000000")), 2, Rounding::down), "1.0e-20");
  Random random(3);
  for (int i = 0; i < 500; ++i) {
    const Rational x(Integer(random.below(1 << 30) + 1), Integer(random.below(1 << 25) + 1));
    const int digits = 1 + static_cast<int>(random.below(20));
    const auto low = parse_rational(to_decimal(x, digits, Rounding::down));
    const auto high = parse_rational(to_decimal(x, digits, Rounding::up));
    ASSERT_TRUE(low && high);
    EXPECT_LE(*low, x);
    EXPECT_GE(*high, x);
    EXPECT_LE(*high - *low,
              x * Rational(10) / Rational(boost::multiprecision::pow(Integer(10), static_cast<unsigned>(digits - 1))));
  }
}

TEST(ToDouble, IsTheNearestDoubleOnTheStatedSide) {
  Random random(4);
  for (int i = 0; i < 2000; ++i) {
    Rational x(Integer(random.below(std::uint64_t{1} << 60) + 1), Integer(random.below(std::uint64_t{1} << 60) + 1));
    x *= power_of_two(static_cast<std::int64_t>(random.below(200)) - 100);
    if (i % 2 == 1) x = -x;
    const double down = to_double(x, Rounding::down);
    const double up = to_double(x, Rounding::up);
    EXPECT_LE(from_double(down), x);
    EXPECT_GE(from_double(up), x);
    EXPECT_TRUE(up == down || up == std::nextafter(down, std::numeric_limits<double>::infinity()));
  }
  const Rational huge = power_of_two(2000);
  EXPECT_EQ(to_double(huge, Rounding::down), std::numeric_limits<double>::max());
  EXPECT_EQ(to_double(huge, Rounding::up), std::numeric_limits<double>::infinity());
  EXPECT_EQ(to_double(power_of_two(-2000), Rounding::down), 0.0);
  EXPECT_EQ(to_double(power_of_two(-2000), Rounding::up), std::numeric_limits<double>::denorm_min());
}

TEST(Binomial, AgreesWithPascal) {
  for (unsigned n = 1; n < 40; ++n) {
    for (unsigned k = 1; k <= n; ++k) EXPECT_EQ(binomial(n, k), binomial(n - 1, k - 1) + binomial(n - 1, k));
  }
  EXPECT_EQ(binomial(0, 0), 1);
  EXPECT_EQ(binomial(3, 5), 0);
}

}  // namespace
