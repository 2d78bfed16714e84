#include "expect_error.hpp"

#include <subquad/attention/low_rank_plan.hpp>
#include <subquad/attention/monomial_basis.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace {

using namespace subquad::attention;
using subquad::ErrorKind;
using subquad::Random;
using subquad::problems::Attention;
using subquad::problems::MatrixD;
using subquad::test::expect_error;

LowRankRequest request(double entry_bound, std::uint64_t dim, double tolerance, std::uint64_t n = 1 << 16) {
  LowRankRequest r;
  r.num_queries = n;
  r.num_keys = n;
  r.dim = dim;
  r.value_dim = dim;
  r.scale = 1.0 / static_cast<double>(dim);
  r.tolerance = tolerance;
  r.bounds = low_rank_bounds_from_entries(entry_bound, dim, r.scale);
  return r;
}

TEST(PlanLowRank, WorkedExample) {
  // B = 1, d = 4, eps_a = 1e-3: R = B^2 = 1, eps just below 1e-3, and the published least degree for 1e-3 on [-1, 1] is
  // 4.
  const LowRankPlan plan = plan_low_rank(request(1, 4, 1e-3));
  EXPECT_EQ(plan.degree, 4);
  EXPECT_EQ(plan.rank, 70);
  EXPECT_EQ(plan.paper_rank, 12870);
  EXPECT_LE(plan.error_bound, 1e-3);
  EXPECT_LE(plan.epsilon, 1e-3);
  EXPECT_GT(plan.propagation_bound, 0);
  EXPECT_EQ(plan.polynomial.lower->degree, 3);
}

TEST(PlanLowRank, KeepsItsPromiseOrRefusesOverAGrid) {
  int planned = 0;
  int refused = 0;
  for (const std::uint64_t dim : {1, 2, 4, 8, 16}) {
    for (const double radius : {0.25, 1.0, 4.0, 16.0}) {
      for (const double tolerance : {0.1, 1e-3, 1e-6, 1e-9}) {
        for (const auto arithmetic : {LowRankArithmetic::float64, LowRankArithmetic::float32}) {
          LowRankRequest r = request(std::sqrt(radius), dim, tolerance);
          r.arithmetic = arithmetic;
          try {
            const LowRankPlan plan = plan_low_rank(r);
            ++planned;
            EXPECT_LE(plan.error_bound, tolerance);
            EXPECT_LE(plan.propagation_bound + plan.rounding_bound, plan.error_bound);
            EXPECT_LE(plan.rank, r.max_rank);
            EXPECT_EQ(plan.rank, MonomialBasis::count(dim, static_cast<std::uint64_t>(plan.degree)));
          } catch (const subquad::Error& error) {
            ++refused;
            EXPECT_EQ(error.kind(), ErrorKind::resource) << error.what();
          }
        }
      }
    }
  }
  EXPECT_GE(planned, 40);
  EXPECT_GE(refused, 40);
}

TEST(PlanLowRank, RefusalsSayTheNumbers) {
  expect_error(ErrorKind::resource, "rank C(", [] { plan_low_rank(request(3, 16, 1e-3)); });
  expect_error(ErrorKind::resource, "allowed are 20000", [] { plan_low_rank(request(30, 8, 1e-1)); });  // R = 900
  LowRankRequest fine = request(1, 4, 1e-7);
  fine.arithmetic = LowRankArithmetic::float32;
  expect_error(ErrorKind::resource, "below what float32 arithmetic is proved to reach", [&] { plan_low_rank(fine); });
  LowRankRequest small = request(1, 4, 1e-3);
  small.max_bytes = 1000;
  expect_error(ErrorKind::resource, "1000 B", [&] { plan_low_rank(small); });
  for (const double tolerance :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    expect_error(ErrorKind::parameter, "tolerance", [&] { plan_low_rank(request(1, 4, tolerance)); });
  }
  LowRankRequest nan = request(1, 4, 1e-3);
  nan.bounds.radius = std::numeric_limits<double>::quiet_NaN();
  expect_error(ErrorKind::parameter, "bound of the data", [&] { plan_low_rank(nan); });
}

TEST(PlanLowRank, NoLogitsNeedOneFeature) {
  EXPECT_EQ(plan_low_rank(request(0, 4, 1e-9)).rank, 1);
  LowRankRequest constant = request(1, 4, 1e-3);
  constant.bounds.value_half_range = 0;  // constant columns: any weights give the answer
  EXPECT_LE(plan_low_rank(constant).degree, 2);
}

TEST(MeasuredBounds, CoverEveryPairAndEveryDenominator) {
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    Attention::Instance x;
    const Eigen::Index d = static_cast<Eigen::Index>(random.below(5));
    const double size = std::ldexp(1.0, static_cast<int>(random.below(16)) - 11);
    const auto matrix = [&](Eigen::Index rows) {
      MatrixD m(rows, d);
      for (Eigen::Index e = 0; e < m.size(); ++e)
        m.data()[e] = size * (2 * random.unit() - 1) + (trial % 3 == 0 ? size : 0);
      return m;
    };
    x.q = matrix(6);
    x.k = matrix(9);
    x.v = MatrixD::Random(9, 2);
    x.scale = random.bernoulli(0.5) ? 0.7 : -0.3;
    x.entry_bound = std::max(
        {x.q.size() > 0 ? x.q.cwiseAbs().maxCoeff() : 0.0, x.k.size() > 0 ? x.k.cwiseAbs().maxCoeff() : 0.0, 1.0});
    const LowRankBounds b = measure_low_rank_bounds(x);
    for (Eigen::Index i = 0; i < 6; ++i) {
      long double denominator = 0;
      for (Eigen::Index j = 0; j < 9; ++j) {
        long double magnitude = 0;
        long double logit = 0;
        for (Eigen::Index l = 0; l < d; ++l) {
          const long double product = static_cast<long double>(x.scale) * x.q(i, l) * x.k(j, l);
          magnitude += std::fabs(product);
          logit += product;
        }
        EXPECT_LE(magnitude, static_cast<long double>(b.radius));
        denominator += std::exp(logit);
      }
      EXPECT_GE(std::log(denominator / 9) + 1e-15L, -static_cast<long double>(b.denominator_radius));
    }
    EXPECT_LE(b.denominator_radius, b.radius);
    EXPECT_GE(b.value_half_range, (x.v.maxCoeff() - x.v.minCoeff()) / 2);
  }
}

TEST(Propagation, InverseFitsAndTheSmallCasesAreRight) {
  EXPECT_EQ(propagation_factor(0), 0);
  EXPECT_NEAR(propagation_factor(0.3), 0.307072, 1e-6);
  for (const double x : {1e-300, 1e-9, 0.1, 1.0, 1.9}) {
    EXPECT_LE(propagation_factor(propagation_epsilon(x)), x);
    EXPECT_GE(propagation_factor(propagation_epsilon(x)), x * (1 - 1e-9));
  }
  EXPECT_LT(propagation_epsilon(5), 1);
  expect_error(ErrorKind::parameter, "[0, 1)", [] { propagation_factor(1); });
  expect_error(ErrorKind::parameter, "[0, 1)", [] { propagation_factor(std::nan("")); });
  expect_error(ErrorKind::parameter, "at least 0", [] { propagation_epsilon(-1); });
}

}  // namespace
