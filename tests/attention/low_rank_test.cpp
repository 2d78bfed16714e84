#include "every_target.hpp"
#include "expect_error.hpp"
#include "max_abs_error.hpp"

#include <subquad/attention/low_rank.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/execution.hpp>
#include <subquad/core/random.hpp>

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <atomic>
#include <cmath>
#include <vector>

namespace {

using namespace subquad::attention;
using subquad::ErrorKind;
using subquad::Execution;
using subquad::Random;
using subquad::problems::Attention;
using subquad::problems::MatrixD;
using subquad::test::expect_error;
using subquad::test::max_abs_error;

/// Where the entries lie. All have entries within [-B, B], B^2 = radius.
enum class Layout { random, clustered, extremal, opposed };

Attention::Instance make(Random& random, Layout layout, Eigen::Index n, Eigen::Index n_k, Eigen::Index d,
                         Eigen::Index d_v, double radius) {
  const double b = std::sqrt(radius);
  Attention::Instance x;
  const auto entry = [&](bool key) {
    switch (layout) {
      case Layout::clustered:
        return b * (0.9 + 0.1 * random.unit());
      case Layout::extremal:
        return random.bernoulli(0.5) ? b : -b;
      case Layout::opposed:
        return key ? -b : b;  // every logit is -R: the smallest denominators that the bounds allow
      default:
        return b * (2 * random.unit() - 1);
    }
  };
  x.q.resize(n, d);
  x.k.resize(n_k, d);
  x.v.resize(n_k, d_v);
  for (Eigen::Index e = 0; e < x.q.size(); ++e) x.q.data()[e] = entry(false);
  for (Eigen::Index e = 0; e < x.k.size(); ++e) x.k.data()[e] = entry(true);
  for (Eigen::Index e = 0; e < x.v.size(); ++e)
    x.v.data()[e] = layout == Layout::extremal ? (random.bernoulli(0.5) ? b : -b) : b * (2 * random.unit() - 1);
  x.scale = d > 0 ? 1.0 / static_cast<double>(d) : 1.0;
  x.entry_bound = b;
  return x;
}

/// Exact attention in long double: its own error is some 1e-17, far below every tolerance here.
MatrixD truth(const Attention::Instance& x) {
  return Attention::solve_brute_force(x).output;
}

class LowRankTargets : public subquad::test::EveryTarget {};

TEST_P(LowRankTargets, StaysWithinItsCertifiedError) {
  Random random(1);
  int runs = 0;
  for (const Layout layout : {Layout::random, Layout::clustered, Layout::extremal, Layout::opposed}) {
    for (const Eigen::Index d : {1, 2, 4, 8}) {
      for (const double radius : {0.25, 1.0, 4.0}) {
        for (const double tolerance : {0.1, 1e-3, 1e-6}) {
          for (const auto arithmetic : {LowRankArithmetic::float64, LowRankArithmetic::float32}) {
            const Attention::Instance x = make(random, layout, 37, 150, d, 1 + d % 5, radius);
            LowRankRequest request = low_rank_request(x, tolerance, arithmetic);
            request.max_rank = GetParam() == hwy::SupportedAndGeneratedTargets().front() ? 20000 : 1000;
            LowRankPlan plan;
            try {
              plan = plan_low_rank(request);
            } catch (const subquad::Error& error) {
              EXPECT_EQ(error.kind(), ErrorKind::resource);
              continue;
            }
            const LowRankResult result = low_rank_attention(plan, x);
            EXPECT_LE(result.error_bound, plan.error_bound);
            EXPECT_LE(plan.error_bound, tolerance);
            EXPECT_LE(max_abs_error(result.output, truth(x)), result.error_bound + 1e-16)
                << to_string(arithmetic) << " d " << d << " R " << radius;
            ++runs;
          }
        }
      }
    }
  }
  EXPECT_GE(runs, 150);
}

TEST_P(LowRankTargets, EdgeShapes) {
  Random random(2);
  for (const auto arithmetic : {LowRankArithmetic::float64, LowRankArithmetic::float32}) {
    for (const Eigen::Index n : {0, 1, 2, 31, 33, 129, 300}) {
      for (const Eigen::Index n_k : {1, 2, 32, 127, 128, 129, 1000}) {
        for (const Eigen::Index d : {0, 1, 3}) {
          for (const Eigen::Index d_v : {0, 1, 3, 4, 9}) {
            if ((n + n_k + d + d_v) % 3 != 0) continue;
            const Attention::Instance x = make(random, Layout::random, n, n_k, d, d_v, 0.5);
            const LowRankResult result = low_rank_attention(plan_low_rank(low_rank_request(x, 1e-2, arithmetic)), x);
            ASSERT_EQ(result.output.rows(), n);
            ASSERT_EQ(result.output.cols(), d_v);
            EXPECT_LE(max_abs_error(result.output, truth(x)), result.error_bound + 1e-16)
                << n << " " << n_k << " " << d << " " << d_v;
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, LowRankTargets, ::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         subquad::test::target_name);

TEST(LowRank, AHugeOrTinyScaleOfTheDataIsNoTrouble) {
  // Queries of size 2^200, keys of 2^-200, values of 2^300: powers of two bring them to size 1 exactly.
  Random random(3);
  for (const auto arithmetic : {LowRankArithmetic::float64, LowRankArithmetic::float32}) {
    Attention::Instance x = make(random, Layout::random, 20, 50, 3, 2, 1);
    const MatrixD expected = truth(x);
    x.q *= 0x1p200;
    x.k *= 0x1p-200;
    x.v *= 0x1p300;
    x.entry_bound = 0x1p301;
    const LowRankResult result = low_rank_attention(plan_low_rank(low_rank_request(x, 0x1p300 * 1e-3, arithmetic)), x);
    EXPECT_LE(max_abs_error(result.output * 0x1p-300, expected), 1e-3);
  }
}

TEST(LowRank, DoesNotDependOnTheNumberOfThreads) {
  Random random(4);
  const Attention::Instance x = make(random, Layout::random, 700, 3000, 4, 4, 1);
  const LowRankPlan plan = plan_low_rank(low_rank_request(x, 1e-3, LowRankArithmetic::float32));
  Execution one;
  one.threads = 1;
  Execution three;
  three.threads = 3;
  EXPECT_EQ(low_rank_attention(plan, x, one).output, low_rank_attention(plan, x, three).output);
}

TEST(LowRank, RefusesWhatItWasNotPlannedFor) {
  Random random(5);
  const Attention::Instance x = make(random, Layout::random, 10, 20, 3, 2, 1);
  const LowRankPlan plan = plan_low_rank(low_rank_request(x, 1e-3, LowRankArithmetic::float64));
  Attention::Instance larger = x;
  larger.q *= 1.01;
  larger.entry_bound = 2;
  expect_error(ErrorKind::parameter, "planned for", [&] { low_rank_attention(plan, larger); });
  Attention::Instance wider = x;
  wider.v(0, 0) = 3;
  wider.entry_bound = 3;
  expect_error(ErrorKind::parameter, "planned for", [&] { low_rank_attention(plan, wider); });
  Attention::Instance shorter = x;
  shorter.q = x.q.topRows(5).eval();
  expect_error(ErrorKind::parameter, "planned for 10 queries", [&] { low_rank_attention(plan, shorter); });
  Attention::Instance rescaled = x;
  rescaled.scale *= 0.5;
  expect_error(ErrorKind::parameter, "planned for", [&] { low_rank_attention(plan, rescaled); });
  Attention::Instance nan = x;
  nan.k(1, 1) = std::nan("");
  expect_error(ErrorKind::parameter, "K[1,1]", [&] { low_rank_attention(plan, nan); });
  Attention::Instance paper = x;
  paper.log_tolerance = -2000;
  expect_error(ErrorKind::unsupported, "too small for a double",
               [&] { low_rank_attention(paper, LowRankArithmetic::float64); });
}

TEST(LowRank, AStopRequestInterrupts) {
  Random random(6);
  const Attention::Instance x = make(random, Layout::random, 500, 500, 3, 2, 1);
  const std::atomic<bool> stop{true};
  Execution execution;
  execution.stop = &stop;
  expect_error(ErrorKind::interrupted, [&] { low_rank_attention(x, LowRankArithmetic::float64, execution); });
}

// Negative control: a polynomial of one degree less than the certified one breaks the bound on inputs made for it.
TEST(LowRank, OneDegreeLessBreaksTheBound) {
  Attention::Instance x;
  x.q = MatrixD::Constant(1, 1, 1.0);
  x.k = MatrixD(2, 1);
  x.k << 1.0, -1.0;
  x.v = MatrixD(2, 1);
  x.v << 1.0, -1.0;
  x.scale = 1;
  x.entry_bound = 1;
  LowRankPlan plan = plan_low_rank(low_rank_request(x, 1e-3, LowRankArithmetic::float64));
  EXPECT_LE(max_abs_error(low_rank_attention(plan, x).output, truth(x)), 1e-3);
  std::vector<subquad::exact::Rational> c;
  for (int m = 0; m < plan.degree; ++m) c.push_back(plan.polynomial.approximant.polynomial.coefficient(m));
  plan.polynomial.approximant.polynomial = subquad::exact::Polynomial(c);
  plan.degree -= 1;
  EXPECT_FALSE(max_abs_error(low_rank_attention(plan, x).output, truth(x)) <= plan.error_bound);
}

}  // namespace
