// Binomial bounds against sums of exact rational terms, and the decision with its power.
#include "expect_error.hpp"

#include <subquad/core/binomial_bounds.hpp>
#include <subquad/core/count.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>

#include <boost/multiprecision/gmp.hpp>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using subquad::binomial_lower_tail;
using subquad::binomial_upper_tail;
using subquad::decide_failure_rate;
using subquad::ErrorKind;
using Rational = boost::multiprecision::mpq_rational;

/// P[Bin(trials, numerator/64) >= count], exactly.
double exact_upper_tail(unsigned count, unsigned trials, unsigned numerator) {
  const Rational p(numerator, 64);
  Rational sum = 0;
  for (unsigned i = count; i <= trials; ++i) {
    Rational term = 1;
    for (unsigned j = 0; j < i; ++j) term *= Rational(trials - j, i - j) * p;
    for (unsigned j = i; j < trials; ++j) term *= 1 - p;
    sum += term;
  }
  return sum.convert_to<double>();
}

TEST(BinomialBounds, TailsEqualExactSums) {
  for (const unsigned trials : {1u, 2u, 7u, 40u}) {
    for (const unsigned numerator : {0u, 1u, 13u, 32u, 63u, 64u}) {
      for (unsigned count = 0; count <= trials; ++count) {
        const double expected = exact_upper_tail(count, trials, numerator);
        EXPECT_NEAR(binomial_upper_tail(count, trials, numerator / 64.0), expected, 1e-12 * expected);
        if (count > 0) {
          EXPECT_NEAR(binomial_lower_tail(count - 1, trials, numerator / 64.0), 1 - expected, 1e-12);
        }
      }
    }
  }
}

TEST(BinomialBounds, ClopperPearsonLimitsInvertTheTails) {
  for (const std::uint64_t count : {0u, 1u, 5u, 99u, 100u}) {
    const double low = subquad::clopper_pearson_lower(count, 100, 1e-3);
    const double high = subquad::clopper_pearson_upper(count, 100, 1e-3);
    if (count > 0) {
      EXPECT_NEAR(binomial_upper_tail(count, 100, low), 1e-3, 1e-9);
    }
    if (count < 100) {
      EXPECT_NEAR(binomial_lower_tail(count, 100, high), 1e-3, 1e-9);
    }
  }
  EXPECT_EQ(subquad::clopper_pearson_lower(0, 100, 1e-3), 0);
  EXPECT_EQ(subquad::clopper_pearson_upper(100, 100, 1e-3), 1);
}

TEST(BinomialBounds, DecidesAndSaysItsPower) {
  EXPECT_FALSE(decide_failure_rate(10, 1000, 0.01).refuted);
  EXPECT_TRUE(decide_failure_rate(60, 1000, 0.01).refuted);
  EXPECT_TRUE(decide_failure_rate(1, 1000, 0.0).refuted);
  EXPECT_FALSE(decide_failure_rate(1000, 1000, 1.0).refuted);
  const auto rate = decide_failure_rate(0, 2000, 0.01);
  EXPECT_GT(rate.power, 0.01);
  // At the stated power, 0.999 of all experiments refute: the least refuting count has lower tail 1e-3 below it.
  std::uint64_t needed = 0;
  while (!decide_failure_rate(needed, 2000, 0.01).refuted) ++needed;
  EXPECT_NEAR(binomial_upper_tail(needed, 2000, rate.power), 0.999, 1e-9);
  EXPECT_EQ(decide_failure_rate(0, 1, 0.5).power, 1.0);  // one trial refutes nothing
}

TEST(BinomialBounds, BadArguments) {
  using subquad::test::expect_error;
  expect_error(ErrorKind::parameter, "3 of 2", [] { binomial_upper_tail(3, 2, 0.5); });
  expect_error(ErrorKind::parameter, "[0, 1]", [] { binomial_upper_tail(1, 2, -0.1); });
  expect_error(ErrorKind::parameter, "[0, 1]", [] { decide_failure_rate(1, 2, std::nan("")); });
  expect_error(ErrorKind::parameter, "no trial", [] { decide_failure_rate(0, 0, 0.5); });
}

}  // namespace
