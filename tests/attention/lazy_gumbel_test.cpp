// Lazy Gumbel samples: the softmax law for every kind of row, cost, gaps, and bad input.
#include "expect_error.hpp"
#include "mean_bound.hpp"
#include "softmax_rows.hpp"

#include <subquad/attention/lazy_gumbel.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/goodness_of_fit.hpp>
#include <subquad/core/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace subquad::test;
using subquad::ErrorKind;
using subquad::g_test;
using subquad::GoodnessOfFit;
using subquad::Random;
using subquad::attention::GumbelHead;
using subquad::attention::GumbelSample;
using subquad::attention::LazyGumbelSampler;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::array kHeads{GumbelHead::each_key, GumbelHead::maximum, GumbelHead::rejection};

/// A row of logits with the k keys that are listed.
struct Row {
  std::vector<double> logits;
  std::vector<std::uint32_t> listed;

  LazyGumbelSampler sampler(GumbelHead head, double gap = 0.0) const {
    std::vector<double> values;
    for (const std::uint32_t key : listed) values.push_back(logits[key]);
    return {listed, values, logits.size(), [this](std::uint32_t key) { return logits[key]; }, gap, head};
  }
};

/// Lists the k largest logits.
Row best_listed(std::vector<double> logits, std::size_t k) {
  Row row{std::move(logits), {}};
  std::vector<std::uint32_t> order(row.logits.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return row.logits[a] > row.logits[b]; });
  row.listed.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k));
  return row;
}

GoodnessOfFit fit(const Row& row, GumbelHead head, double gap, int draws, std::uint64_t seed,
                  const std::vector<double>& law) {
  const LazyGumbelSampler sampler = row.sampler(head, gap);
  Random random(seed);
  std::vector<std::uint64_t> counts(row.logits.size(), 0);
  for (int t = 0; t < draws; ++t) ++counts[sampler.draw(random).key];
  return g_test(counts, law);
}

std::vector<double> normal_logits(Random& random, std::size_t n, double spread) {
  std::vector<double> logits(n);
  for (double& z : logits) z = spread * random.normal();
  return logits;
}

/// The kinds of rows that the law is tested on, by name.
std::vector<std::pair<std::string, Row>> rows() {
  Random random(1);
  std::vector<std::pair<std::string, Row>> rows;
  rows.emplace_back("one key", best_listed({3.0}, 1));
  rows.emplace_back("two keys, one listed", best_listed({0.3, 0.0}, 1));
  rows.emplace_back("all listed", best_listed(normal_logits(random, 50, 1), 50));
  rows.emplace_back("flat", best_listed(std::vector<double>(2000, 0.0), 45));
  rows.emplace_back("flat, one listed", best_listed(std::vector<double>(300, -7.0), 1));
  rows.emplace_back("ties at the threshold", best_listed(
                                                 [] {
                                                   std::vector<double> z(500, 1.0);
                                                   for (std::size_t j = 0; j < 10; ++j) z[37 * j] = 2.0;
                                                   return z;
                                                 }(),
                                                 15));
  rows.emplace_back("normal", best_listed(normal_logits(random, 2000, 1), 45));
  rows.emplace_back("peaked", best_listed(normal_logits(random, 1000, 6), 10));
  rows.emplace_back("far below: large b", best_listed(
                                              [] {
                                                std::vector<double> z(400, -900.0);
                                                z[3] = 0.0;
                                                z[9] = 0.5;
                                                return z;
                                              }(),
                                              2));
  rows.emplace_back("large logits", best_listed(
                                        [&] {
                                          std::vector<double> z = normal_logits(random, 300, 1);
                                          for (double& x : z) x += 1e6;
                                          return z;
                                        }(),
                                        7));
  rows.emplace_back("masked keys", best_listed(
                                       [&] {
                                         std::vector<double> z = normal_logits(random, 200, 1);
                                         for (std::size_t j = 0; j < z.size(); j += 3) z[j] = -kInfinity;
                                         return z;
                                       }(),
                                       20));
  rows.emplace_back("masked keys listed", best_listed({0.0, -kInfinity, 1.0, -kInfinity, -kInfinity}, 4));
  return rows;
}

TEST(LazyGumbel, SamplesHaveTheSoftmaxLaw) {
  for (const auto& [name, row] : rows()) {
    for (const GumbelHead head : kHeads) {
      const GoodnessOfFit found = fit(row, head, 0.0, 30'000, 2, softmax(row.logits));
      EXPECT_FALSE(found.refuted()) << name << ": G = " << found.statistic << ", p = " << found.p_value;
    }
  }
}

TEST(LazyGumbel, AWrongLawIsRefuted) {
  Random random(3);
  const Row row = best_listed(normal_logits(random, 300, 1), 17);
  for (const std::uint32_t key : {row.listed.front(), 0u}) {
    Row tilted = row;
    tilted.logits[key] += 0.7;  // in the sampler, not in the law
    EXPECT_TRUE(fit(tilted, GumbelHead::maximum, 1.0, 200'000, 4, softmax(row.logits)).refuted()) << key;
  }
}

TEST(LazyGumbel, AnIndexThatMissesKeysNeedsItsGap) {
  // The listed keys are the ranks 20 to 30: twenty better ones are missed.
  Random random(5);
  Row row = best_listed(normal_logits(random, 300, 1), 30);
  const double best = row.logits[row.listed.front()];
  row.listed.erase(row.listed.begin(), row.listed.begin() + 20);
  const double gap = best - row.logits[row.listed.back()];
  ASSERT_GT(gap, 0.5);
  const std::vector<double> law = softmax(row.logits);
  for (const GumbelHead head : kHeads) {
    EXPECT_FALSE(fit(row, head, gap, 40'000, 6, law).refuted());
    EXPECT_FALSE(fit(row, head, gap + 1, 20'000, 7, law).refuted());  // overstated: only slower
    EXPECT_TRUE(fit(row, head, 0.0, 40'000, 8, law).refuted()) << "an understated gap went unnoticed";
  }
}

TEST(LazyGumbel, ExpectedTailDrawsAreWithinTheBound) {
  struct Case {
    Row row;
    double gap;
  };
  Random random(9);
  const std::vector<Case> cases{{best_listed(std::vector<double>(2000, 0.0), 50), 0.0},
                                {best_listed(normal_logits(random, 2000, 1), 50), 0.0},
                                {best_listed(normal_logits(random, 500, 1), 1), 0.0},
                                {best_listed(std::vector<double>(500, 0.0), 50), 1.0}};
  double largest_share = 0;
  for (const Case& c : cases) {
    const auto n = static_cast<double>(c.row.logits.size());
    const auto k = static_cast<double>(c.row.listed.size());
    const double bound = (n - k) * std::exp(c.gap) / k;
    const LazyGumbelSampler sampler = c.row.sampler(GumbelHead::maximum, c.gap);
    MeanBound mean(n - k);
    for (int t = 0; t < 40'000; ++t) mean.add(static_cast<double>(sampler.draw(random).tail_draws));
    EXPECT_LE(mean.mean() - mean.radius(), bound);
    if (mean.mean() / bound > largest_share) largest_share = mean.mean() / bound;
    if (&c == &cases.front()) {  // the flat row attains k/(k+1) of the bound: a bound of 0.85 is refuted
      EXPECT_GT(mean.mean() - mean.radius(), 0.85 * bound);
    }
  }
  EXPECT_GT(largest_share, 0.9);
}

TEST(LazyGumbel, HugeAndTinyRatesAreHarmless) {
  // b = M - L from -1e5 (a gap far too large) to 1e5.
  for (const double offset : {-1e5, -800.0, -30.0, 0.0, 30.0, 740.0, 800.0, 1e5}) {
    Row row{std::vector<double>(100, -offset), {0, 1}};
    row.logits[0] = row.logits[1] = 0;
    const double gap = offset < 0 ? -offset : 0;
    for (const GumbelHead head : kHeads) {
      Random random(10);
      std::vector<std::uint64_t> counts(100, 0);
      const LazyGumbelSampler sampler = row.sampler(head, gap);
      for (int t = 0; t < 2000; ++t) ++counts[sampler.draw(random).key];
      EXPECT_FALSE(g_test(counts, softmax(row.logits)).refuted()) << offset;
    }
  }
}

TEST(LazyGumbel, ACommonOffsetOfLogitsCostsNoDigits) {
  // Near 2^52 the logits are exact halves, but a sum of one and a Gumbel variable keeps no more than halves.
  Random random(14);
  std::vector<double> logits(200);
  for (double& z : logits) z = 0x1p51 + std::round(4 * random.normal()) / 2;
  const Row row = best_listed(logits, 14);
  for (const GumbelHead head : kHeads) EXPECT_FALSE(fit(row, head, 0.0, 100'000, 15, softmax(logits)).refuted());
}

TEST(LazyGumbel, RejectionLooksAtFewLogits) {
  // E[m] = (n - k) e^L/sum e^z: just below 1 on the flat row, where Algorithm 1 looks at (n - k)/(k + 1).
  const Row row = best_listed(std::vector<double>(2000, 0.0), 50);
  const LazyGumbelSampler sampler = row.sampler(GumbelHead::rejection);
  Random random(16);
  MeanBound mean(1);  // on a flat row every proposal stands: m is 0 or 1
  for (int t = 0; t < 40'000; ++t) mean.add(static_cast<double>(sampler.draw(random).tail_draws));
  EXPECT_TRUE(mean.agrees(1950.0 / 2000));
  EXPECT_FALSE(mean.agrees(1950.0 / 51));
}

TEST(LazyGumbel, SameSeedSameSamples) {
  Random random(11);
  const Row row = best_listed(normal_logits(random, 100, 1), 5);
  const LazyGumbelSampler sampler = row.sampler(GumbelHead::maximum);
  Random a(12), b(12);
  for (int t = 0; t < 100; ++t) EXPECT_EQ(sampler.draw(a).key, sampler.draw(b).key);
}

TEST(LazyGumbel, BadInput) {
  const auto make = [](std::vector<std::uint32_t> keys, std::vector<double> logits, std::uint64_t n, double gap = 0.0,
                       double other = 0.0) {
    return LazyGumbelSampler(
        keys, logits, n, [other](std::uint32_t) { return other; }, gap);
  };
  expect_error(ErrorKind::parameter, "0 listed keys", [&] { make({}, {}, 3); });
  expect_error(ErrorKind::parameter, "with 1 logits", [&] { make({0, 1}, {0.0}, 3); });
  expect_error(ErrorKind::parameter, "of 1 keys", [&] { make({0, 1}, {0.0, 0.0}, 1); });
  expect_error(ErrorKind::parameter, "key 3 is listed", [&] { make({3}, {0.0}, 3); });
  expect_error(ErrorKind::parameter, "key 1 is listed twice", [&] { make({1, 1}, {0.0, 0.0}, 3); });
  expect_error(ErrorKind::parameter, "is nan", [&] { make({1}, {std::nan("")}, 3); });
  expect_error(ErrorKind::parameter, "is inf", [&] { make({1}, {kInfinity}, 3); });
  expect_error(ErrorKind::parameter, "weight 0", [&] { make({1}, {-kInfinity}, 3); });
  expect_error(ErrorKind::parameter, "gap -1", [&] { make({1}, {0.0}, 3, -1); });
  expect_error(ErrorKind::parameter, "gap nan", [&] { make({1}, {0.0}, 3, std::nan("")); });
  const LazyGumbelSampler bad = make({1}, {0.0}, 300, 10, std::nan(""));
  Random random(13);
  expect_error(ErrorKind::parameter, "the logit of key", [&] { bad.draw(random); });
}

}  // namespace
