// Goodness of fit: a hand-computed statistic, no alarm on true samples, an alarm on slightly wrong ones.
#include "expect_error.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/goodness_of_fit.hpp>
#include <subquad/core/random.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace {

using subquad::ErrorKind;
using subquad::g_test;
using Counts = std::vector<std::uint64_t>;
using Law = std::vector<double>;

TEST(GoodnessOfFit, HandComputed) {
  const auto result = g_test(Counts{30, 70}, Law{0.5, 0.5});
  EXPECT_NEAR(result.statistic, 2 * (30 * std::log(0.6) + 70 * std::log(1.4)), 1e-12);
  EXPECT_EQ(result.cells, 2u);
  EXPECT_NEAR(result.p_value, std::erfc(std::sqrt(result.statistic / 2)), 1e-12);  // chi-square, one degree of freedom
}

TEST(GoodnessOfFit, MergesRareCellsAndSeesImpossibleOnes) {
  const auto result = g_test(Counts{97, 1, 1, 1}, Law{0.97, 0.01, 0.01, 0.01});
  EXPECT_EQ(result.cells, 1u);  // three rare cells expect 3 together: merged into the large one
  EXPECT_FALSE(result.refuted());
  EXPECT_TRUE(g_test(Counts{99, 1}, Law{1.0, 0.0}).refuted());
  EXPECT_FALSE(g_test(Counts{100, 0}, Law{1.0, 0.0}).refuted());
}

TEST(GoodnessOfFit, TrueSamplesPassAndTiltedOnesFail) {
  Law law(200);
  double sum = 0;
  for (std::size_t i = 0; i < law.size(); ++i) sum += law[i] = std::exp(-0.03 * static_cast<double>(i));
  for (double& p : law) p /= sum;
  Law tilted = law;
  tilted[0] += 0.004;
  tilted[1] -= 0.004;
  subquad::Random random(3);
  Counts counts(law.size());
  for (int t = 0; t < 200'000; ++t) {
    double u = random.unit();
    std::size_t i = 0;
    while (i + 1 < law.size() && u >= law[i]) u -= law[i++];
    ++counts[i];
  }
  EXPECT_GT(g_test(counts, law).p_value, 1e-3);
  EXPECT_TRUE(g_test(counts, tilted).refuted());
}

TEST(GoodnessOfFit, VeryManySparseCellsAreNoAlarm) {
  constexpr std::size_t kCells = 100'000;
  const Law law(kCells, 1.0 / kCells);
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    subquad::Random random(seed);
    Counts counts(kCells);
    for (std::size_t t = 0; t < 5 * kCells; ++t) ++counts[random.below(kCells)];
    EXPECT_GT(g_test(counts, law).p_value, 1e-4) << seed;
  }
}

TEST(GoodnessOfFit, BadArguments) {
  using subquad::test::expect_error;
  expect_error(ErrorKind::parameter, "2 counts and 1", [] { g_test(Counts{1, 2}, Law{1.0}); });
  expect_error(ErrorKind::parameter, "add up", [] { g_test(Counts{1, 2}, Law{0.5, 0.4}); });
  expect_error(ErrorKind::parameter, "no observation", [] { g_test(Counts{0, 0}, Law{0.5, 0.5}); });
  expect_error(ErrorKind::parameter, "probability", [] { g_test(Counts{1, 2}, Law{1.5, -0.5}); });
}

}  // namespace
