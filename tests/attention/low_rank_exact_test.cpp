#include "expect_error.hpp"

#include <subquad/attention/low_rank_exact.hpp>
#include <subquad/attention/monomial_basis.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using namespace subquad::attention;
using subquad::ErrorKind;
using subquad::Random;
using subquad::exact::Integer;
using subquad::exact::Polynomial;
using subquad::exact::Rational;
using subquad::test::expect_error;

RationalMatrix random_matrix(Random& random, std::size_t rows, std::size_t cols) {
  RationalMatrix m(rows, std::vector<Rational>(cols));
  for (auto& row : m) {
    for (Rational& x : row) x = Rational(Integer(random.below(41)) - 20, Integer(random.below(9) + 1));
  }
  return m;
}

Rational dot(const std::vector<Rational>& x, const std::vector<Rational>& y) {
  Rational sum = 0;
  for (std::size_t l = 0; l < x.size(); ++l) sum += x[l] * y[l];
  return sum;
}

bool is_identity(const LowRankFactors& f, const Polynomial& p, const RationalMatrix& q, const RationalMatrix& k,
                 const Rational& scale) {
  for (std::size_t i = 0; i < q.size(); ++i) {
    for (std::size_t j = 0; j < k.size(); ++j) {
      if (dot(f.u1[i], f.u2[j]) != p(scale * dot(q[i], k[j]))) return false;
    }
  }
  return true;
}

TEST(ExactLowRankFactors, WorkedExample) {
  // P = 1 + x^2, d = 2: features 1, q1, q2, q1^2, q1 q2, q2^2 with weights 1, 0, 0, 1, 2, 1.
  const LowRankFactors f = exact_low_rank_factors(Polynomial{1, 0, 1}, {{2, 3}}, {{5, 7}}, 1);
  EXPECT_EQ(f.u1, (RationalMatrix{{1, 2, 3, 4, 6, 9}}));
  EXPECT_EQ(f.u2, (RationalMatrix{{1, 0, 0, 25, 70, 49}}));
  EXPECT_EQ(dot(f.u1[0], f.u2[0]), 1 + 31 * 31);
}

TEST(ExactLowRankFactors, AreThePolynomialOfTheLogitsExactly) {
  Random random(1);
  for (std::size_t dim = 0; dim <= 4; ++dim) {
    for (int degree = 0; degree <= 5; ++degree) {
      std::vector<Rational> c;
      for (int m = 0; m <= degree; ++m)
        c.push_back(Rational(Integer(random.below(19)) - 9, Integer(random.below(5) + 1)) + (m == degree ? 20 : 0));
      const Polynomial p(c);
      const RationalMatrix q = random_matrix(random, 4, dim);
      const RationalMatrix k = random_matrix(random, 5, dim);
      const Rational scale(Integer(random.below(7)) - 3, 4);
      LowRankFactors f = exact_low_rank_factors(p, q, k, scale);
      EXPECT_EQ(f.u1[0].size(), MonomialBasis::count(dim, static_cast<std::uint64_t>(degree)));
      EXPECT_TRUE(is_identity(f, p, q, k, scale));
      // Planted fault: one feature off breaks the identity.
      f.u2[0][0] += Rational(1, 1000000);
      EXPECT_FALSE(is_identity(f, p, q, k, scale));
    }
  }
}

TEST(ExactLowRankFactors, TheRankIsAtMostTheCountAndReachesIt) {
  Random random(2);
  const std::size_t dim = 2;
  const int degree = 3;
  const Polynomial p{1, 1, Rational(1, 2), Rational(1, 6)};
  const RationalMatrix q = random_matrix(random, 14, dim);
  const RationalMatrix k = random_matrix(random, 14, dim);
  RationalMatrix a(q.size());
  for (std::size_t i = 0; i < q.size(); ++i) {
    for (std::size_t j = 0; j < k.size(); ++j) a[i].push_back(p(dot(q[i], k[j])));
  }
  EXPECT_EQ(exact_rank(a), MonomialBasis::count(dim, degree));  // C(5, 2) = 10 < 14
  a[0][0] += 1;
  EXPECT_EQ(exact_rank(a), MonomialBasis::count(dim, degree) + 1);
}

TEST(ExactRank, OfSmallMatrices) {
  EXPECT_EQ(exact_rank({}), 0u);
  EXPECT_EQ(exact_rank({{0, 0}}), 0u);
  EXPECT_EQ(exact_rank({{0, 1}, {1, 0}}), 2u);
  EXPECT_EQ(exact_rank({{1, 2}, {2, 4}, {3, 6}}), 1u);
}

TEST(ExactLowRankFactors, RefusesShapesThatDoNotFit) {
  expect_error(ErrorKind::parameter, "equal lengths", [] {
    exact_low_rank_factors(Polynomial{1}, {{1, 2}, {1}}, {{1, 2}}, 1);
  });
  expect_error(ErrorKind::parameter, "dimension", [] { exact_low_rank_factors(Polynomial{1}, {{1, 2}}, {{1}}, 1); });
  EXPECT_TRUE(exact_low_rank_factors(Polynomial{1}, {}, {}, 1).u1.empty());
}

}  // namespace
