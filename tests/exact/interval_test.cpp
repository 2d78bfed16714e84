#include "expect_error.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/exact/interval.hpp>

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

using subquad::Error;
using subquad::ErrorKind;
using subquad::Random;
using subquad::exact::Comparison;
using subquad::exact::Interval;
using subquad::exact::Rational;
using subquad::test::expect_error;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A double biased to edges: zero, powers of two, huge and tiny numbers, numbers near one.
double edgy_double(Random& random) {
  const double sign = random.bernoulli(0.5) ? 1.0 : -1.0;
  switch (random.below(6)) {
    case 0:
      return 0.0;
    case 1:
      return sign * std::ldexp(1.0, static_cast<int>(random.below(120)) - 60);
    case 2:
      return sign * (1.0 + std::ldexp(random.unit(), -static_cast<int>(random.below(52))));
    case 3:
      return sign * std::ldexp(random.unit(), static_cast<int>(random.below(600)) - 300);
    default:
      return sign * 10.0 * random.unit();
  }
}

/// A random interval and an exact rational number inside it (often an end).
struct Sample {
  Interval interval;
  Rational inside;
};

Sample sample(Random& random, int precision_bits) {
  double low = edgy_double(random);
  double high = random.bernoulli(0.3) ? low : edgy_double(random);
  if (low > high) std::swap(low, high);
  const std::uint64_t denominator = 1 + random.below(1000);
  std::uint64_t numerator = random.below(denominator + 1);
  if (random.bernoulli(0.3)) numerator = random.bernoulli(0.5) ? 0 : denominator;
  const Rational inside = Rational(low) + (Rational(high) - Rational(low)) * Rational(numerator, denominator);
  return {Interval::between(low, high, precision_bits), inside};
}

int precision(Random& random) {
  return static_cast<int>(2 + random.below(200));
}

// Hand-checked: 1/3 at 4 bits lies between 5/16 and 11/32; [1,2] - [1,2] = [-1,1]; [-2,3] squared = [0,9].
TEST(Interval, HandCheckedExamples) {
  const Interval third = Interval::from_rational(Rational(1, 3), 4);
  EXPECT_EQ(third.low(), 5.0 / 16);
  EXPECT_EQ(third.high(), 11.0 / 32);
  EXPECT_EQ(third.width(), 1.0 / 32);
  EXPECT_TRUE(third.contains(Rational(1, 3)));
  EXPECT_FALSE(third.contains(Rational(1, 4)));

  const Interval x = Interval::between(1, 2);
  const Interval difference = x - x;
  EXPECT_EQ(difference.low(), -1);
  EXPECT_EQ(difference.high(), 1);
  const Interval square = pow(Interval::between(-2, 3), 2);
  EXPECT_EQ(square.low(), 0);
  EXPECT_EQ(square.high(), 9);
  EXPECT_FALSE(std::signbit(square.low()));
  const Interval cube = pow(Interval::between(-2, 3), 3);
  EXPECT_EQ(cube.low(), -8);
  EXPECT_EQ(cube.high(), 27);
  EXPECT_TRUE(pow(Interval::between(-2, 3), 0).contains(1.0));
  EXPECT_TRUE(pow(Interval::between(-2, 3), 0).is_point());
  EXPECT_EQ(third.to_string(3), "[0.312, 0.344]");
}

TEST(Interval, DoubleEndsAreRoundedOutward) {
  const Interval tenth = Interval::from_rational(Rational(1, 10), 300);
  EXPECT_TRUE(Rational(tenth.low()) < Rational(1, 10) && Rational(1, 10) < Rational(tenth.high()));
  EXPECT_EQ(std::nextafter(tenth.low(), 1.0), tenth.high());
  const Interval tiny = exp(Interval::from_double(-5000.0));  // below the smallest double
  EXPECT_EQ(tiny.low(), 0.0);
  EXPECT_EQ(tiny.high(), std::numeric_limits<double>::denorm_min());
  const Interval huge = exp(Interval::from_double(5000.0));
  EXPECT_EQ(huge.low(), std::numeric_limits<double>::max());
  EXPECT_EQ(huge.high(), kInfinity);
}

TEST(Interval, ArithmeticContainsExactRationals) {
  Random random(11);
  for (int round = 0; round < 4000; ++round) {
    const Sample x = sample(random, precision(random));
    const Sample y = sample(random, precision(random));
    ASSERT_TRUE(x.interval.contains(x.inside)) << x.interval.to_string() << ' ' << x.inside;
    ASSERT_TRUE((x.interval + y.interval).contains(Rational(x.inside + y.inside)));
    ASSERT_TRUE((x.interval - y.interval).contains(Rational(x.inside - y.inside)));
    ASSERT_TRUE((x.interval * y.interval).contains(Rational(x.inside * y.inside)));
    ASSERT_TRUE((-x.interval).contains(Rational(-x.inside)));
    ASSERT_TRUE(abs(x.interval).contains(Rational(abs(x.inside))));
    ASSERT_TRUE(max(x.interval, y.interval).contains(x.inside < y.inside ? y.inside : x.inside));
    ASSERT_TRUE(min(x.interval, y.interval).contains(x.inside < y.inside ? x.inside : y.inside));
    ASSERT_TRUE(hull(x.interval, y.interval).contains(x.inside) && hull(x.interval, y.interval).contains(y.inside));
    if (y.inside != 0 && !(y.interval.is_point() && y.interval.contains(0.0))) {
      ASSERT_TRUE((x.interval / y.interval).contains(Rational(x.inside / y.inside)));
    }
    const std::uint64_t exponent = random.below(7);
    Rational power = 1;
    for (std::uint64_t i = 0; i < exponent; ++i) power *= x.inside;
    ASSERT_TRUE(pow(x.interval, exponent).contains(power));
    const Comparison order = compare(x.interval, y.interval);
    if (order == Comparison::less) {
      ASSERT_LT(x.inside, y.inside);
    }
    if (order == Comparison::greater) {
      ASSERT_GT(x.inside, y.inside);
    }
    if (order == Comparison::equal) {
      ASSERT_EQ(x.inside, y.inside);
    }
    if (certainly_at_most(x.interval, y.interval)) {
      ASSERT_LE(x.inside, y.inside);
    }
  }
}

TEST(Interval, CompoundOperatorsAllowAliasingAndKeepTheirPrecision) {
  Random random(12);
  for (int round = 0; round < 500; ++round) {
    const Sample x = sample(random, precision(random));
    const Sample y = sample(random, precision(random));
    Interval twice = x.interval;
    twice += twice;
    ASSERT_TRUE(twice.contains(Rational(x.inside * 2)));
    Interval square = x.interval;
    square *= square;
    ASSERT_TRUE(square.contains(Rational(x.inside * x.inside)));
    Interval nothing = x.interval;
    const Interval& itself = nothing;
    nothing -= itself;
    ASSERT_TRUE(nothing.contains(0.0));
    Interval chain = x.interval;
    chain += y.interval;
    chain *= y.interval;
    chain -= x.interval;
    ASSERT_EQ(chain.precision_bits(), x.interval.precision_bits());
    ASSERT_TRUE(chain.contains(Rational((x.inside + y.inside) * y.inside - x.inside)));
  }
}

TEST(Interval, DotProductsOfDoublesContainTheExactSum) {
  Random random(13);
  for (int round = 0; round < 300; ++round) {
    Interval sum(precision(random));
    Rational exact = 0;
    for (std::uint64_t i = random.below(12); i > 0; --i) {
      const double x = edgy_double(random);
      const double y = edgy_double(random);
      sum.add_product(x, y);
      exact += Rational(x) * Rational(y);
    }
    ASSERT_TRUE(sum.contains(exact));
  }
  Interval exact_at_high_precision(5000);
  exact_at_high_precision.add_product(1e-300, 1e-300).add_product(1e300, 1e300).add_product(-1e300, 1e300);
  EXPECT_TRUE(exact_at_high_precision.is_point());
  EXPECT_TRUE(exact_at_high_precision.contains(Rational(Rational(1e-300) * Rational(1e-300))));
}

/// f(x) to nearest at four times the precision, as an exact rational number. Independent of the interval library.
Rational reference(int (*function)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t), const Rational& x, int precision_bits) {
  mpfr_t argument;
  mpfr_t value;
  mpfr_init2(argument, 4096);
  mpfr_init2(value, 4 * precision_bits + 64);
  mpfr_set_q(argument, x.backend().data(), MPFR_RNDN);
  function(value, argument, MPFR_RNDN);
  Rational result;
  mpfr_get_q(result.backend().data(), value);
  mpfr_clear(argument);
  mpfr_clear(value);
  return result;
}

TEST(Interval, ElementaryFunctionsContainAMuchFinerValue) {
  Random random(14);
  for (int round = 0; round < 1500; ++round) {
    const int bits = precision(random);
    // The ends are doubles, so that the reference's own argument is exact.
    double low = edgy_double(random);
    double high = random.bernoulli(0.4) ? low : edgy_double(random);
    if (low > high) std::swap(low, high);
    const double inside = random.bernoulli(0.5) ? low : high;
    if (std::fabs(inside) < 1000) {
      ASSERT_TRUE(exp(Interval::between(low, high, bits)).contains(reference(mpfr_exp, inside, bits))) << inside;
    }
    if (low >= 0 && inside > 0) {
      ASSERT_TRUE(log(Interval::between(low, high, bits)).contains(reference(mpfr_log, inside, bits))) << inside;
      ASSERT_TRUE(sqrt(Interval::between(low, high, bits)).contains(reference(mpfr_sqrt, inside, bits))) << inside;
    }
  }
}

TEST(Interval, ExponentialsOfHugeLogitsStayNumbers) {
  for (const double logit : {-1e6, -1e5, -1e4, -700.0, 0.0, 700.0, 1e4, 1e5, 1e6}) {
    for (const int bits : {53, 128, 500}) {
      const Interval value = exp(Interval::from_double(logit, bits));
      EXPECT_TRUE(value.is_bounded());
      EXPECT_TRUE(value.contains(reference(mpfr_exp, logit, bits))) << logit;
      const Interval back = log(value);
      EXPECT_TRUE(back.contains(logit));
      EXPECT_LE(back.width(), std::ldexp(1.0 + std::fabs(logit), 4 - bits));
    }
  }
  // Beyond MPFR's exponents the enclosure is wide, not wrong.
  const Interval beyond = exp(Interval::from_double(-1e300));
  EXPECT_EQ(beyond.low(), 0.0);
  EXPECT_GT(beyond.high(), 0.0);
  const Interval above = exp(Interval::from_double(1e300));
  EXPECT_FALSE(above.is_bounded());
  EXPECT_EQ(above.low(), std::numeric_limits<double>::max());
}

TEST(Interval, UnboundedOperandsGiveAllRealsWhereNothingIsKnown) {
  const Interval ray = Interval::between(1, kInfinity);
  EXPECT_TRUE((ray - ray).contains(-1e300) && (ray - ray).contains(1e300));
  EXPECT_TRUE((Interval(64) * ray).contains(0.0));
  EXPECT_TRUE((Interval::between(0, 1) * ray).contains(1e300));
  const Interval quotient = Interval::from_double(1) / Interval::between(-1, 1);
  EXPECT_FALSE(quotient.is_bounded());
  EXPECT_TRUE(quotient.contains(-1e300) && quotient.contains(1e300));
  EXPECT_EQ(log(Interval::between(0, 1)).low(), -kInfinity);
  EXPECT_EQ(log(Interval::between(0, 1)).high(), 0.0);
  EXPECT_EQ(Interval::entire().width(), kInfinity);
}

TEST(Interval, ComparisonIsThreeValued) {
  const Interval a = Interval::between(1, 2);
  const Interval b = Interval::between(2, 3);
  const Interval c = Interval::between(2.5, 4);
  EXPECT_EQ(compare(a, c), Comparison::less);
  EXPECT_EQ(compare(c, a), Comparison::greater);
  EXPECT_EQ(compare(a, b), Comparison::unknown);
  EXPECT_EQ(compare(a, a), Comparison::unknown);  // two numbers enclosed alike need not be equal
  EXPECT_EQ(compare(Interval::from_integer(7), Interval::from_double(7)), Comparison::equal);
  EXPECT_TRUE(certainly_at_most(a, b));
  EXPECT_FALSE(certainly_at_most(b, a));
  EXPECT_FALSE(a.contains(kNaN));
  EXPECT_FALSE(Interval::entire().contains(kInfinity));
}

TEST(Interval, RefusesWhatIsNotAnInterval) {
  expect_error(ErrorKind::parameter, [] { Interval::between(2, 1); });
  expect_error(ErrorKind::parameter, [] { Interval::between(kNaN, 1); });
  expect_error(ErrorKind::parameter, [] { Interval::between(1, kNaN); });
  expect_error(ErrorKind::parameter, [] { Interval::between(kInfinity, kInfinity); });
  expect_error(ErrorKind::parameter, [] { Interval::between(-kInfinity, -kInfinity); });
  expect_error(ErrorKind::parameter, [] { Interval::from_double(kNaN); });
  expect_error(ErrorKind::parameter, [] { Interval::from_double(kInfinity); });
  expect_error(ErrorKind::parameter, [] { Interval(1); });
  expect_error(ErrorKind::parameter, [] { Interval(Interval::kMaxPrecisionBits + 1); });
  expect_error(ErrorKind::parameter, [] { Interval::from_double(1) / Interval(64); });
  expect_error(ErrorKind::parameter, [] { log(Interval::between(-1, 1)); });
  expect_error(ErrorKind::parameter, [] { log(Interval(64)); });
  expect_error(ErrorKind::parameter, [] { sqrt(Interval::between(-1, 1)); });
  expect_error(ErrorKind::parameter, [] { Interval(64).add_product(kInfinity, 0); });
  expect_error(ErrorKind::parameter, [] { Interval::entire().upper_end(); });
  EXPECT_THROW(intersect(Interval::between(0, 1), Interval::between(2, 3)), Error);
}

TEST(Interval, CopiesAndMovesAreValues) {
  Interval a = Interval::from_rational(Rational(1, 3), 200);
  const Interval copy = a;
  a += copy;
  EXPECT_TRUE(copy.contains(Rational(1, 3)));
  EXPECT_TRUE(a.contains(Rational(2, 3)));
  Interval moved = std::move(a);
  EXPECT_TRUE(moved.contains(Rational(2, 3)));
  a = copy;  // a moved-from object takes a new value
  EXPECT_TRUE(a.contains(Rational(1, 3)));
  EXPECT_EQ(a.precision_bits(), 200);
  Interval coarse(10);
  coarse = moved;
  EXPECT_EQ(coarse.precision_bits(), 200);
  const Interval& self = moved;
  moved = self;
  EXPECT_TRUE(moved.contains(Rational(2, 3)));
  std::vector<Interval> many(5, copy);
  many.resize(100, moved);
  EXPECT_TRUE(many.front().contains(Rational(1, 3)) && many.back().contains(Rational(2, 3)));
}

/// The planted fault: an "interval" whose ends are rounded to nearest instead of outward.
class NearestInterval {
 public:
  NearestInterval(double value, int precision_bits) : low_(value, precision_bits), high_(value, precision_bits) {}
  NearestInterval operator*(const NearestInterval& y) const {  // of points, as below
    NearestInterval result = *this;
    mpfr_mul(result.low_.value, low_.value, y.low_.value, MPFR_RNDN);
    mpfr_mul(result.high_.value, high_.value, y.high_.value, MPFR_RNDN);
    return result;
  }
  bool contains(const Rational& x) const {
    return mpfr_cmp_q(low_.value, x.backend().data()) <= 0 && mpfr_cmp_q(high_.value, x.backend().data()) >= 0;
  }

 private:
  struct Number {
    mpfr_t value;
    Number(double x, int precision_bits) {
      mpfr_init2(value, precision_bits);
      mpfr_set_d(value, x, MPFR_RNDN);
    }
    Number(const Number& other) {
      mpfr_init2(value, mpfr_get_prec(other.value));
      mpfr_set(value, other.value, MPFR_RNDN);
    }
    Number& operator=(const Number&) = delete;
    ~Number() { mpfr_clear(value); }
  };
  Number low_;
  Number high_;
};

/// Number of products of doubles that fall outside their computed interval.
template <class MakePoint>
int products_outside(MakePoint&& point) {
  Random random(15);
  int outside = 0;
  for (int round = 0; round < 200; ++round) {
    const double x = edgy_double(random);
    const double y = edgy_double(random);
    outside += (point(x) * point(y)).contains(Rational(Rational(x) * Rational(y))) ? 0 : 1;
  }
  return outside;
}

TEST(Interval, TheContainmentTestCatchesRoundingToNearest) {
  EXPECT_EQ(products_outside([](double x) { return Interval::from_double(x, 53); }), 0);
  EXPECT_GT(products_outside([](double x) { return NearestInterval(x, 53); }), 20);
}

}  // namespace
