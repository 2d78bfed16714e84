#include "expect_error.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/exact/polynomial.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace {

using namespace subquad::exact;
using subquad::ErrorKind;
using subquad::Random;
using subquad::test::expect_error;

Rational random_rational(Random& random) {
  return Rational(Integer(random.below(2001)) - 1000, Integer(random.below(97) + 1));
}

Polynomial random_polynomial(Random& random, int degree) {
  std::vector<Rational> c;
  for (int k = 0; k <= degree; ++k) c.push_back(random_rational(random));
  return Polynomial(c);
}

/// Straight from the definition.
Rational value(const Polynomial& p, const Rational& x) {
  Rational sum = 0;
  Rational power = 1;
  for (const Rational& c : p.coefficients()) {
    sum += c * power;
    power *= x;
  }
  return sum;
}

TEST(Polynomial, WorkedExample) {
  const Polynomial p{1, -3, Rational(1, 2)};  // 1 - 3x + x^2/2
  EXPECT_EQ(p.degree(), 2);
  EXPECT_EQ(p(Rational(2)), -3);
  EXPECT_EQ(p.derivative(), (Polynomial{-3, 1}));
  EXPECT_EQ(p.absolute_bound(2), 9);
  EXPECT_EQ((Polynomial{1, 0, 0}).degree(), 0);
  EXPECT_EQ(Polynomial().degree(), -1);
  EXPECT_EQ(Polynomial()(Rational(5)), 0);
  EXPECT_EQ((Polynomial{0, 0}).degree(), -1);
}

TEST(Polynomial, ArithmeticAgreesWithValues) {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    const Polynomial p = random_polynomial(random, static_cast<int>(random.below(9)) - 1);
    const Polynomial q = random_polynomial(random, static_cast<int>(random.below(9)) - 1);
    const Rational x = random_rational(random);
    EXPECT_EQ(p(x), value(p, x));
    EXPECT_EQ(IntegerPolynomial(p)(x), value(p, x));
    EXPECT_EQ((p + q)(x), value(p, x) + value(q, x));
    EXPECT_EQ((p - q)(x), value(p, x) - value(q, x));
    EXPECT_EQ((p * q)(x), value(p, x) * value(q, x));
    EXPECT_EQ((x * p)(x), x * value(p, x));
    EXPECT_EQ((p * q).derivative(), p.derivative() * q + p * q.derivative());
  }
}

TEST(Interpolation, GivesBackThePolynomial) {
  Random random(2);
  for (int degree = 0; degree < 12; ++degree) {
    const Polynomial p = random_polynomial(random, degree);
    std::vector<Rational> nodes;
    std::vector<Rational> values;
    for (int i = 0; i <= degree; ++i) {
      nodes.push_back(Rational(7 * i * i - 30 * i, 5 + i) + i);
      values.push_back(value(p, nodes.back()));
    }
    EXPECT_EQ(interpolate(nodes, values), p);
  }
  EXPECT_EQ(interpolate({}, {}).degree(), -1);
  const std::vector<Rational> twice{1, 2, 1};
  expect_error(ErrorKind::parameter, "stands twice", [&] { interpolate(twice, twice); });
  expect_error(ErrorKind::parameter, "expected as many", [&] { interpolate(twice, {}); });
}

TEST(Bases, ThereAndBackAgain) {
  Random random(3);
  for (int degree = 0; degree < 12; ++degree) {
    const Polynomial p = random_polynomial(random, degree);
    const Rational a = random_rational(random);
    const Rational b = a + Rational(1 + static_cast<int>(random.below(50)), 7);
    EXPECT_EQ(from_chebyshev(to_chebyshev(p, a, b), a, b), p);
    EXPECT_EQ(from_bernstein(to_bernstein(p, a, b), a, b), p);
    EXPECT_EQ(from_bernstein(to_bernstein(p, a, b, degree + 3), a, b), p);
  }
  EXPECT_EQ(to_chebyshev(Polynomial{0, 0, 1}, -1, 1),
            (std::vector<Rational>{Rational(1, 2), 0, Rational(1, 2)}));  // x^2 = (T_0 + T_2)/2
  expect_error(ErrorKind::parameter, "left end below", [] { to_bernstein(Polynomial{1}, 1, 1); });
  expect_error(ErrorKind::parameter, "degree 1", [] { to_bernstein(Polynomial{1, 1, 1}, 0, 1, 1); });
}

TEST(Bernstein, CoefficientsEncloseAndHalvesAreTheHalves) {
  Random random(4);
  for (int i = 0; i < 60; ++i) {
    const Polynomial p = random_polynomial(random, 1 + static_cast<int>(random.below(8)));
    const Rational a = random_rational(random);
    const Rational b = a + 2;
    const auto coefficients = to_bernstein(p, a, b);
    const auto [low, high] = std::minmax_element(coefficients.begin(), coefficients.end());
    for (int k = 0; k <= 16; ++k) {
      const Rational v = value(p, a + Rational(k, 8));
      EXPECT_LE(*low, v);
      EXPECT_GE(*high, v);
    }
    EXPECT_EQ(coefficients.front(), value(p, a));
    EXPECT_EQ(coefficients.back(), value(p, b));
    const auto [left, right] = split_bernstein(coefficients);
    EXPECT_EQ(left, to_bernstein(p, a, a + 1, p.degree()));
    EXPECT_EQ(right, to_bernstein(p, a + 1, b, p.degree()));
  }
}

TEST(RoundCoefficients, KeepsSignificantBits) {
  const Polynomial p{Rational(1, 3), Rational(-1, 3000)};
  const Polynomial q = round_coefficients(p, 10);
  for (int k = 0; k < 2; ++k) {
    EXPECT_LE(abs(Rational(q.coefficient(k) - p.coefficient(k))), abs(p.coefficient(k)) / 1024);
  }
  EXPECT_LE(q.total_bits(), 40u);
}

}  // namespace
