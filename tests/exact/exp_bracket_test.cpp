#include "expect_error.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/exact/exp_bracket.hpp>
#include <subquad/exact/interval.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using namespace subquad::exact;
using subquad::ErrorKind;
using subquad::Random;
using subquad::test::expect_error;

/// e^x from MPFI, which shares nothing with the integers under test, at twice the precision.
Interval reference(const Rational& x, std::int64_t bits) {
  return exp(Interval::from_rational(x, static_cast<int>(2 * bits + 200)));
}

/// Both ends lie on their sides of e^x (the reference is so narrow that it decides).
bool brackets(const Rational& low, const Rational& high, const Rational& x, std::int64_t bits) {
  const int precision = static_cast<int>(2 * bits + 200);
  const Interval e = reference(x, bits);
  return certainly_at_most(Interval::from_rational(low, precision), e) &&
         certainly_at_most(e, Interval::from_rational(high, precision));
}

Rational random_argument(Random& random) {
  Rational x(Integer(random.below(std::uint64_t{1} << 40) + 1), Integer(random.below(std::uint64_t{1} << 40) + 1));
  x *= power_of_two(static_cast<std::int64_t>(random.below(80)) - 70);  // from tiny to a thousand or so
  return random.bernoulli(0.5) ? x : Rational(-x);
}

TEST(ExpBracket, HoldsTheNumberAndIsAsNarrowAsPromised) {
  Random random(1);
  for (int i = 0; i < 3000; ++i) {
    const Rational x = random_argument(random);
    const auto bits = static_cast<std::int64_t>(1 + random.below(i % 10 == 0 ? 2000 : 200));
    const ExpBracket bracket = exp_bracket(x, bits);
    ASSERT_GT(bracket.low, 0);
    EXPECT_LE((bracket.high - bracket.low) << static_cast<std::size_t>(bits), bracket.low);
    EXPECT_TRUE(brackets(bracket.lower(), bracket.upper(), x, bits)) << x << " at " << bits << " bits";
  }
}

TEST(ExpBracket, OneWithoutErrorAtZero) {
  const ExpBracket bracket = exp_bracket(0, 50);
  EXPECT_EQ(bracket.lower(), 1);
  EXPECT_EQ(bracket.upper(), 1);
}

TEST(ExpBracket, FarArgumentsAndFewBits) {
  for (const std::int64_t x : {-100000, -64, -1, 1, 64, 100000}) {
    for (const std::int64_t bits : {1, 2, 64}) {
      const ExpBracket bracket = exp_bracket(x, bits);
      EXPECT_TRUE(brackets(bracket.lower(), bracket.upper(), x, bits + 64)) << x;
    }
  }
  EXPECT_TRUE(brackets(exp_bracket(power_of_two(-5000), 64).lower(), exp_bracket(power_of_two(-5000), 64).upper(),
                       power_of_two(-5000), 6000));
}

TEST(ExpBracket, RefusesWhatIsTooMuch) {
  expect_error(ErrorKind::resource, "beyond", [] { exp_bracket(Rational(kMaxExpArgument + 1), 10); });
  expect_error(ErrorKind::resource, "bits", [] { exp_bracket(Rational(1), 0); });
  expect_error(ErrorKind::resource, "bits", [] { exp_bracket(Rational(1), 1'000'001); });
}

// Planted fault: the middle of a bracket passes for neither end, so the test would notice a bound rounded the wrong
// way.
TEST(ExpBracket, AnEndMovedAcrossTheNumberIsNoticed) {
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    const Rational x = random_argument(random);
    const ExpBracket coarse = exp_bracket(x, 60);
    const ExpBracket fine = exp_bracket(x, 400);
    EXPECT_FALSE(brackets(fine.upper() + (coarse.upper() - fine.upper()) / 2, coarse.upper(), x, 400));
    EXPECT_FALSE(brackets(coarse.lower(), fine.lower() - (fine.lower() - coarse.lower()) / 2, x, 400));
  }
}

}  // namespace
