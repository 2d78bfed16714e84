// Sampled attention: sample sizes by hand, convergence within the stated bounds, determinism, bad input.
#include "attention_hundred_digits.hpp"
#include "brute_force_neighbors.hpp"
#include "expect_error.hpp"
#include "softmax_rows.hpp"

#include <subquad/attention/sampled_attention.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>

#include <gtest/gtest.h>

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
  EXPECT_EQ(upweighted_tail_samples(1100, 100, 1, 0.5, 0.05), Count(14023));  // 8 * 100 * 4 ln 80 = 14022.5
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
}

}  // namespace
