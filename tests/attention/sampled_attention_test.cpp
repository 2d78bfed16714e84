// Sampled attention: sample sizes by hand, convergence within the stated bounds, determinism, bad input.
#include "attention_hundred_digits.hpp"
#include "binomial_bound.hpp"
#include "brute_force_neighbors.hpp"
#include "expect_error.hpp"
#include "softmax_rows.hpp"

#include <subquad/ann/top_k.hpp>
#include <subquad/attention/sampled_attention.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace {

using namespace subquad::test;
using namespace subquad::attention;
using subquad::Count;
using subquad::ErrorKind;
using subquad::Execution;
using subquad::Random;
using subquad::ann::Neighbors;
using subquad::problems::Attention;
using subquad::problems::AttentionMask;
using subquad::problems::MatrixD;

Attention::Instance bounded_instance(std::uint64_t seed, Eigen::Index n, Eigen::Index n_k) {
  Random random(seed);
  Attention::Instance x = normal_instance(random, n, n_k, 4, 3);
  x.scale = 0.7;
  x.v = x.v.cwiseMax(-1).cwiseMin(1);
  return x;
}

TEST(SampleSizes, ByHand) {
  EXPECT_EQ(hoeffding_samples(1, 0.1, 0.05), 738u);  // 200 ln 40 = 737.8
  EXPECT_EQ(hoeffding_samples(10, 1, 0.05), 738u);   // depends on B_V/epsilon only
  EXPECT_EQ(median_of_means_plan(0.25, 0.1, 0.05).group_size, 100u);
  EXPECT_EQ(median_of_means_plan(0.25, 0.1, 0.05).groups, 25u);  // 8 ln 20 = 23.97, made odd
  EXPECT_EQ(median_of_means_relative_plan(1, 0.02, 0.5, 0.05).group_size, 800u);
  EXPECT_EQ(upweighted_tail_samples(1100, 100, 1, 0.5, 0.05), Count(2952));  // 2 * 100 * 4 ln 40 = 2951.1
  EXPECT_EQ(upweighted_tail_samples(1100, 100, 1, 0.5, 0.05, std::log(2.0)), Count(11805));  // four times as many
  EXPECT_EQ(upweighted_tail_samples_of_paper(1100, 100, 1, 0.5, 0.05), Count(14023));  // 8 * 100 * 4 ln 80 = 14022.5
  EXPECT_EQ(upweighted_tail_samples(100, 100, 1, 0.5, 0.05), Count(0));
}

TEST(SampleSizes, BadArguments) {
  for (const double bad : {0.0, -1.0, std::nan("")}) {
    expect_error(ErrorKind::parameter, "epsilon", [&] { hoeffding_samples(1, bad, 0.1); });
    expect_error(ErrorKind::parameter, "delta", [&] { hoeffding_samples(1, 0.1, bad); });
    expect_error(ErrorKind::parameter, "delta", [&] { median_of_means_plan(1, 0.1, bad); });
    expect_error(ErrorKind::parameter, "lower bound", [&] { median_of_means_relative_plan(1, bad, 0.1, 0.1); });
    expect_error(ErrorKind::parameter, "epsilon", [&] { upweighted_tail_samples(10, 2, 1, bad, 0.1); });
  }
  expect_error(ErrorKind::parameter, "delta", [] { hoeffding_samples(1, 0.1, 1.0); });
  expect_error(ErrorKind::parameter, "B_V", [] { hoeffding_samples(-1, 0.1, 0.5); });
  expect_error(ErrorKind::parameter, "gap", [] { upweighted_tail_samples(10, 2, 1, 0.1, 0.1, -1); });
  expect_error(ErrorKind::parameter, "k = 0 of 10", [] { upweighted_tail_samples(10, 0, 1, 0.1, 0.1); });
  expect_error(ErrorKind::parameter, "k = 11 of 10", [] { upweighted_tail_samples(10, 11, 1, 0.1, 0.1); });
  expect_error(ErrorKind::resource, "2^62", [] { hoeffding_samples(1, 1e-12, 0.1); });
}

TEST(SampledAttention, EveryEstimatorIsWithinItsBound) {
  const Attention::Instance x = bounded_instance(1, 30, 200);
  const MatrixD exact = softmax_rows(x) * x.v;
  const Neighbors neighbors = brute_force_neighbors(x.q, x.k, 40);
  const double epsilon = 0.15;
  const double delta = 1e-10;  // 90 entries: an alarm has probability below 1e-8
  SampledOptions options;
  options.estimator = Estimator::mean;
  options.samples = hoeffding_samples(1, epsilon, delta);
  EXPECT_LE((sampled_attention(x, neighbors, options).output - exact).cwiseAbs().maxCoeff(), epsilon);
  options.estimator = Estimator::median_of_means;
  const MedianOfMeansPlan plan = median_of_means_plan(1, epsilon, delta);
  options.samples = plan.group_size;
  options.groups = plan.groups;
  EXPECT_LE((sampled_attention(x, neighbors, options).output - exact).cwiseAbs().maxCoeff(), epsilon);
  options = {};
  options.samples = upweighted_tail_samples(200, 40, 1, epsilon, delta).convert_to<std::uint64_t>();
  const SampledResult upweighted = sampled_attention(x, neighbors, options);
  EXPECT_LE((upweighted.output - exact).cwiseAbs().maxCoeff(), epsilon);
  EXPECT_EQ(upweighted.logits, 30 * options.samples);
}

TEST(SampledAttention, AllKeysListedIsExactForTheUpweightedTail) {
  const Attention::Instance x = bounded_instance(2, 5, 20);
  const Neighbors all = brute_force_neighbors(x.q, x.k, 20);
  const SampledResult result = sampled_attention(x, all, {});
  EXPECT_LE((result.output - softmax_rows(x) * x.v).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_EQ(result.logits, 0u);
}

TEST(SampledAttention, ABadIndexCannotOverflow) {
  Attention::Instance x = bounded_instance(3, 3, 50);
  x.scale = 5000;
  Neighbors worst = brute_force_neighbors(MatrixD(-x.q), x.k, 5);  // the five worst keys
  worst.exact = false;
  SampledOptions options;
  options.samples = 200;
  EXPECT_TRUE(sampled_attention(x, worst, options).output.allFinite());
}

TEST(SampledAttention, RowsDrawIndependently) {
  // 3000 equal rows, each one sample of a value +-1: their mean is near 0 unless rows drew the same numbers.
  Attention::Instance x = bounded_instance(8, 3000, 4);
  x.q.rowwise() = x.q.row(0).eval();
  x.scale = 0;
  x.v = MatrixD::Ones(4, 1);
  x.v(1, 0) = x.v(2, 0) = -1;
  const Neighbors neighbors = brute_force_neighbors(x.q, x.k, 2);
  for (const Estimator estimator : {Estimator::mean, Estimator::median_of_means, Estimator::upweighted_tail}) {
    const SampledOptions options{estimator, 1};
    EXPECT_LE(std::fabs(sampled_attention(x, neighbors, options).output.mean()), std::sqrt(2 * std::log(2e9) / 3000));
  }
}

TEST(SampledAttention, TheMedianIsTheMiddleOne) {
  // Groups of one sample of a value 0 or 1 with probability 0.6: the median of 101 is 1 with probability 0.979, their
  // quantile 0.4 only with probability 0.5.
  Attention::Instance x = bounded_instance(9, 2000, 5);
  x.scale = 0;
  x.v = MatrixD::Ones(5, 1);
  x.v(1, 0) = x.v(2, 0) = 0;
  double tail = 0;  // P[Bin(101, 0.6) >= 51]
  double term = std::pow(0.4, 101);
  for (int j = 0; j <= 101; ++j) {
    if (j >= 51) tail += term;
    term *= 1.5 * (101 - j) / (j + 1);
  }
  const MatrixD output =
      sampled_attention(x, brute_force_neighbors(x.q, x.k, 2), {Estimator::median_of_means, 1, 101}).output;
  EXPECT_TRUE(compatible(static_cast<std::uint64_t>(std::lround(output.sum())), 2000, tail));
}

TEST(SampledAttention, DependsOnTheSeedOnly) {
  const Attention::Instance x = bounded_instance(4, 40, 60);
  const Neighbors neighbors = brute_force_neighbors(x.q, x.k, 8);
  for (const Estimator estimator : {Estimator::mean, Estimator::median_of_means, Estimator::upweighted_tail}) {
    SampledOptions options{estimator, 20, 3, 0.0, 0};
    Execution one, three;
    one.threads = 1;
    three.threads = 3;
    const MatrixD a = sampled_attention(x, neighbors, options, one).output;
    EXPECT_EQ(a, sampled_attention(x, neighbors, options, three).output);
    options.seed = 1;
    EXPECT_NE(a, sampled_attention(x, neighbors, options, one).output);
  }
}

TEST(SampledAttention, BadInput) {
  const Attention::Instance x = bounded_instance(5, 4, 9);
  const Neighbors good = brute_force_neighbors(x.q, x.k, 3);
  const auto refuse = [&](const char* part, const Neighbors& neighbors, const SampledOptions& options) {
    expect_error(ErrorKind::parameter, part, [&] { sampled_attention(x, neighbors, options); });
  };
  refuse("0 samples", good, {});
  refuse("no group", good, {Estimator::median_of_means, 3, 0});
  refuse("gap -1", good, {Estimator::mean, 3, 1, -1.0});
  refuse("masked",
         brute_force_neighbors(x.q, x.k, 3, subquad::ann::Similarity::inner_product, AttentionMask::lower_triangle()),
         {Estimator::mean, 3});
  refuse("neighbours of 2 queries", brute_force_neighbors(MatrixD(x.q.topRows(2)), x.k, 3), {Estimator::mean, 3});
  Neighbors bad = good;
  bad.index(2, 0) = 9;
  refuse("lists key 9 of 9", bad, {Estimator::mean, 3});
  const SampledOptions tail{Estimator::upweighted_tail, 3};
  bad = good;
  bad.index(1, 2) = bad.index(1, 0);
  refuse("query 1 lists key", bad, tail);
  refuse("by distance", brute_force_neighbors(x.q, x.k, 3, subquad::ann::Similarity::euclidean), tail);
  bad = good;
  bad.score_error.resize(0);
  refuse("scores and score errors", bad, tail);
  Attention::Instance other = x;
  other.scale = -0.5;
  expect_error(ErrorKind::parameter, "scale -0.5", [&] { sampled_attention(other, good, tail); });
  other = x;
  other.q *= 1e200;
  other.k *= 1e200;
  other.entry_bound = 1e300;
  expect_error(ErrorKind::parameter, "the logit of query", [&] { sampled_attention(other, good, tail); });
}

TEST(SampledAttention, RowsOfAnApproximateIndexMayListFewerKeys) {
  // All columns are there, but row 1 fills only two of them: without samples its tail would be lost.
  const Attention::Instance x = bounded_instance(6, 3, 9);
  Neighbors padded = brute_force_neighbors(x.q, x.k, 9);
  padded.exact = false;
  for (Eigen::Index a = 2; a < 9; ++a) padded.index(1, a) = subquad::ann::kNoKey;
  expect_error(ErrorKind::parameter, "0 samples", [&] { sampled_attention(x, padded, {}); });
  SampledOptions options;
  options.samples = 200'000;
  EXPECT_LE((sampled_attention(x, padded, options).output - softmax_rows(x) * x.v).cwiseAbs().maxCoeff(), 0.02);
}

TEST(SampledAttention, RoundingOfAnExactSearchIsPartOfItsGap) {
  // Keys share a large component, so that float32 scores pass over better keys: proved, and by far more than nothing.
  Random random(7);
  Attention::Instance x = normal_instance(random, 1, 300, 8, 1);
  x.scale = 0.7;
  x.q.col(0).setConstant(3000);
  x.k.col(0).setConstant(3000);
  x.entry_bound = 3000;
  const MatrixD law = softmax_rows(x);
  const Neighbors neighbors = subquad::ann::exact_top_k_in_float32(x.q, x.k, 20);
  ASSERT_TRUE(neighbors.exact);
  // Value 1 for the keys that were passed over though they are better than the worst listed one, else -1.
  double worst = 1;
  for (Eigen::Index a = 0; a < 20; ++a) worst = std::min(worst, law(0, neighbors.index(0, a)));
  for (Eigen::Index j = 0; j < 300; ++j) x.v(j, 0) = law(0, j) > worst ? 1 : -1;
  for (Eigen::Index a = 0; a < 20; ++a) x.v(neighbors.index(0, a), 0) = -1;
  const double exact = (law * x.v)(0, 0);
  SampledOptions options{Estimator::mean, 10'000};
  const double radius = std::sqrt(2 * std::log(2e9) / 10'000);  // Hoeffding at 1e-9
  EXPECT_LE(std::fabs(sampled_attention(x, neighbors, options).output(0, 0) - exact), radius);
  Neighbors trusted = neighbors;  // control: as if the scores were exact
  trusted.exact = false;
  EXPECT_GT(std::fabs(sampled_attention(x, trusted, options).output(0, 0) - exact), radius);
}

}  // namespace
