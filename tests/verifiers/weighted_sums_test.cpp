#include "each_target.hpp"

#include <subquad/core/random.hpp>
#include <subquad/verifiers/weighted_sums.hpp>

#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <mpfr.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace {

using subquad::Random;
using subquad::problems::MatrixD;
using subquad::test::EachTarget;
using subquad::verifiers::WeightedSums;

/// |computed / 2^x - 1|, rounded upward. 200 bits.
double relative_error(double computed, double x) {
  mpfr_t power;
  mpfr_t difference;
  mpfr_init2(power, 200);
  mpfr_init2(difference, 200);
  mpfr_set_d(power, x, MPFR_RNDN);
  mpfr_exp2(power, power, MPFR_RNDN);
  mpfr_d_sub(difference, computed, power, MPFR_RNDN);
  mpfr_div(difference, difference, power, MPFR_RNDN);
  const double result = std::fabs(mpfr_get_d(difference, MPFR_RNDA));
  mpfr_clear(power);
  mpfr_clear(difference);
  return result;
}

std::vector<double> logits(Random& random) {
  std::vector<double> result = {0.0, -0.5, -0.25, -1e-300, -5e-324, -1.0, -999.0, -1000.0, -1000.49};
  for (int i = 0; i <= 1024; ++i) result.push_back(-i / 1024.0);
  for (int i = 0; i < 4000; ++i) result.push_back(-1000.0 * random.unit());
  for (int i = 0; i < 1000; ++i)
    result.push_back(std::nextafter(-0.5 - static_cast<double>(i), i % 2 == 0 ? 0.0 : -1e4));
  return result;
}

// Lemma 2 of docs/proofs/attention_output.md, measured: the a-priori bound is never exceeded, on any instruction set.
TEST(WeightedSums, ExponentialKeepsItsRelativeBoundOnEachTarget) {
  Random random(21);
  const std::vector<double> x = logits(random);
  for (EachTarget target; target.next();) {
    std::vector<double> weights(x.size(), std::nan(""));
    WeightedSums::evaluate_weights(x.data(), x.size(), 0.0, weights.data());
    double worst = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double measured = relative_error(weights[i], x[i]);
      ASSERT_LE(measured, WeightedSums::kExp2RelativeError) << x[i] << " on " << WeightedSums::target();
      if (measured > worst) worst = measured;
    }
    EXPECT_EQ(weights[0], 1.0);
    // A bound that is 2^10 too large would prove little: the polynomial's own error is about 2^-47.
    EXPECT_GT(worst, WeightedSums::kExp2RelativeError / 1024);
  }
}

TEST(WeightedSums, TinyWeightsVanish) {
  for (EachTarget target; target.next();) {
    const std::vector<double> x = {-1000.51, -1001, -1e4, -1e9, -0x1p40, -0x1p50};
    std::vector<double> weights(x.size(), std::nan(""));
    WeightedSums::evaluate_weights(x.data(), x.size(), 0.0, weights.data());
    for (const double weight : weights) EXPECT_EQ(weight, 0.0);
    // The same logits are ordinary when the shift is as low.
    const std::vector<double> low = {-0x1p40, -0x1p40 - 3};
    WeightedSums::evaluate_weights(low.data(), low.size(), -0x1p40, weights.data());
    EXPECT_EQ(weights[0], 1.0);
    EXPECT_EQ(weights[1], 0.125);
  }
}

TEST(WeightedSums, CoefficientsAreTaylorsRoundedToNearest) {
  mpfr_t coefficient;
  mpfr_init2(coefficient, 300);
  mpfr_set_ui(coefficient, 1, MPFR_RNDN);
  mpfr_t log2;
  mpfr_init2(log2, 300);
  mpfr_const_log2(log2, MPFR_RNDN);
  for (unsigned i = 0; i < WeightedSums::kExp2Taylor.size(); ++i) {
    if (i > 0) {
      mpfr_mul(coefficient, coefficient, log2, MPFR_RNDN);
      mpfr_div_ui(coefficient, coefficient, i, MPFR_RNDN);
    }
    EXPECT_EQ(WeightedSums::kExp2Taylor[i], mpfr_get_d(coefficient, MPFR_RNDN)) << i;
  }
  mpfr_clear(coefficient);
  mpfr_clear(log2);
}

// Small integers: every operation is exact, so the sums are exactly known. 2^-3 + 2^0 + 2^-1 and so on.
TEST(WeightedSums, IntegerLogitsGiveExactSumsAcrossPanelsAndBlocks) {
  Random random(22);
  for (EachTarget target; target.next();) {
    for (const Eigen::Index n_k : {1, 2, 3, 5, 6, 7, 23, 24, 25, 239, 240, 241, 500, 721}) {
      for (const std::size_t count : {1, 3, 4, 5, 32}) {
        const Eigen::Index d_v = 1 + static_cast<Eigen::Index>(random.below(4));
        MatrixD k(n_k, 2);
        MatrixD v(n_k, d_v);
        for (Eigen::Index j = 0; j < n_k; ++j) {
          k(j, 0) = static_cast<double>(random.below(9)) - 4.0;
          k(j, 1) = static_cast<double>(random.below(3));
          for (Eigen::Index c = 0; c < d_v; ++c) v(j, c) = static_cast<double>(random.below(100)) - 50.0;
        }
        std::vector<double> queries(count * 2);
        for (double& q : queries) q = static_cast<double>(random.below(5)) - 2.0;
        const auto width = static_cast<std::size_t>(1 + d_v);
        std::vector<double> sums(count * width, std::nan(""));
        const WeightedSums packed(k, v);
        packed.evaluate(queries.data(), count, sums.data());
        for (std::size_t r = 0; r < count; ++r) {
          double largest = -1e9;
          for (Eigen::Index j = 0; j < n_k; ++j) {
            const double y = queries[2 * r] * k(j, 0) + queries[2 * r + 1] * k(j, 1);
            if (y > largest) largest = y;
          }
          std::vector<double> expected(width, 0.0);
          for (Eigen::Index j = 0; j < n_k; ++j) {
            const double w = std::exp2(queries[2 * r] * k(j, 0) + queries[2 * r + 1] * k(j, 1) - largest);
            expected[0] += w;
            for (Eigen::Index c = 0; c < d_v; ++c) expected[static_cast<std::size_t>(1 + c)] += w * v(j, c);
          }
          for (std::size_t c = 0; c < width; ++c) ASSERT_EQ(sums[r * width + c], expected[c]) << n_k << ' ' << count;
        }
      }
    }
  }
}

TEST(WeightedSums, EveryTargetOfThisMachineIsReached) {
  std::set<std::string> names;
  std::size_t targets = 0;
  for (EachTarget target; target.next(); ++targets) names.insert(WeightedSums::target());
  EXPECT_GE(targets, 1U);
  EXPECT_EQ(names.size(), targets);
}

}  // namespace
