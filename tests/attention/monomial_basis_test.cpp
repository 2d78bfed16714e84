#include "expect_error.hpp"

#include <subquad/attention/monomial_basis.hpp>
#include <subquad/core/error.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

namespace {

using subquad::ErrorKind;
using subquad::attention::MonomialBasis;
using subquad::exact::Integer;
using subquad::exact::Rational;
using subquad::test::expect_error;

TEST(MonomialBasis, TwoVariablesDegreeTwo) {
  const MonomialBasis basis(2, 2);  // 1, x, y, x^2, xy, y^2
  ASSERT_EQ(basis.size(), 6u);
  EXPECT_EQ(basis.exponents(0), (std::vector<int>{0, 0}));
  EXPECT_EQ(basis.exponents(3), (std::vector<int>{2, 0}));
  EXPECT_EQ(basis.exponents(4), (std::vector<int>{1, 1}));
  EXPECT_EQ(basis.exponents(5), (std::vector<int>{0, 2}));
  EXPECT_EQ(basis.multinomials(), (std::vector<Integer>{1, 1, 1, 1, 2, 1}));
}

TEST(MonomialBasis, HoldsEveryMonomialOnce) {
  for (std::uint32_t dim = 0; dim <= 5; ++dim) {
    for (int degree = 0; degree <= 6; ++degree) {
      const MonomialBasis basis(dim, degree);
      EXPECT_EQ(basis.size(), MonomialBasis::count(dim, static_cast<std::uint64_t>(degree)).convert_to<std::size_t>());
      std::set<std::vector<int>> seen;
      const std::vector<Integer> multinomials = basis.multinomials();
      for (std::size_t i = 0; i < basis.size(); ++i) {
        const std::vector<int> a = basis.exponents(i);
        const int total = std::accumulate(a.begin(), a.end(), 0);
        EXPECT_LE(total, degree);
        EXPECT_EQ(total, basis.total_degree()[i]);
        EXPECT_TRUE(seen.insert(a).second);
        if (i > 0) {
          EXPECT_LT(basis.parent()[i], i);
        }
        Integer factorials = 1;
        Integer top = 1;
        for (int m = 2; m <= total; ++m) top *= m;
        for (const int e : a) {
          for (int m = 2; m <= e; ++m) factorials *= m;
        }
        EXPECT_EQ(multinomials[i] * factorials, top);
      }
    }
  }
}

TEST(MonomialBasis, CountsThatThePlannerPrints) {
  EXPECT_EQ(MonomialBasis::count(4, 4), 70);
  EXPECT_EQ(MonomialBasis::count(8, 3), 165);
  EXPECT_EQ(MonomialBasis::paper_count(8, 3), 74613);  // C(22, 6)
  EXPECT_EQ(MonomialBasis::paper_count(1, 1), 6);
}

TEST(MonomialBasis, RefusesWhatIsTooMuch) {
  expect_error(ErrorKind::parameter, "at least 0", [] { MonomialBasis(2, -1); });
  expect_error(ErrorKind::resource, "monomials", [] { MonomialBasis(64, 12); });
  EXPECT_EQ(MonomialBasis(0, 50).size(), 1u);
  EXPECT_EQ(MonomialBasis(1, 50).size(), 51u);
}

}  // namespace
