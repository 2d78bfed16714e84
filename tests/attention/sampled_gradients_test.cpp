// Sampled gradients: unbiasedness entry by entry, the stated bounds, determinism, bad input; and the quality measures.
#include "attention_hundred_digits.hpp"
#include "brute_force_neighbors.hpp"
#include "expect_error.hpp"
#include "mean_bound.hpp"
#include "softmax_rows.hpp"

#include <subquad/attention/gradient_quality.hpp>
#include <subquad/attention/sampled_gradients.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace {

using namespace subquad::test;
using namespace subquad::attention;
using subquad::ErrorKind;
using subquad::Execution;
using subquad::Random;
using subquad::ann::Neighbors;
using subquad::problems::Attention;
using subquad::problems::MatrixD;

struct Problem {
  Attention::Instance x;
  MatrixD upstream;
  Neighbors neighbors;
  ReferenceGradients exact;
};

Problem make(std::uint64_t seed, Eigen::Index n, Eigen::Index n_k, std::uint64_t k) {
  Random random(seed);
  Problem p;
  p.x = normal_instance(random, n, n_k, 2, 2);
  p.x.scale = 0.8;
  p.upstream = normal_matrix(random, n, 2, 1);
  p.neighbors = brute_force_neighbors(p.x.q, p.x.k, k);
  p.exact = reference_gradients(p.x, p.upstream);
  return p;
}

/// The mean of many estimates agrees with `expected` in every entry; estimates lie within `range`.
template <class Estimate>
bool unbiased(Estimate&& estimate, const MatrixD& expected, double range, int seeds) {
  std::vector<MeanBound> means(static_cast<std::size_t>(expected.size()), MeanBound(range));
  for (int seed = 0; seed < seeds; ++seed) {
    const MatrixD one = estimate(static_cast<std::uint64_t>(seed));
    for (Eigen::Index e = 0; e < one.size(); ++e) means[static_cast<std::size_t>(e)].add(one.data()[e]);
  }
  bool agree = true;
  for (Eigen::Index e = 0; e < expected.size(); ++e) {
    agree =
        agree && means[static_cast<std::size_t>(e)].agrees(expected.data()[e], static_cast<double>(expected.size()));
  }
  return agree;
}

TEST(SampledGradients, ValueGradientIsUnbiasedBothWays) {
  const Problem p = make(1, 3, 4, 2);
  for (const WalkSign sign : {WalkSign::split, WalkSign::shift}) {
    const auto estimate = [&](std::uint64_t seed) {
      SampledGradientOptions options;
      options.walks = 5;
      options.sign = sign;
      options.seed = seed;
      return sampled_value_gradient(p.x, p.upstream, p.neighbors, options);
    };
    // An entry lies between minus the weight of one set of walks and the weight of the other.
    double range = 0;
    for (Eigen::Index c = 0; c < p.upstream.cols(); ++c) {
      const Eigen::VectorXd y = p.upstream.col(c);
      const double least = y.minCoeff();
      const double weights = sign == WalkSign::split ? y.lpNorm<1>() : (y.array() - least).sum() + 3 * std::fabs(least);
      if (weights > range) range = weights;
    }
    EXPECT_TRUE(unbiased(estimate, p.exact.v, range, 30'000));
    EXPECT_FALSE(unbiased(estimate, MatrixD(1.15 * p.exact.v), range, 30'000)) << "a bias of 15% went unnoticed";
  }
}

TEST(SampledGradients, ValueGradientIsWithinItsBound) {
  const Problem p = make(2, 40, 50, 12);
  SampledGradientOptions options;
  options.walks = walk_samples(50, 2, 0.05, 1e-10);
  const MatrixD estimate = sampled_value_gradient(p.x, p.upstream, p.neighbors, options);
  for (Eigen::Index c = 0; c < 2; ++c) {
    EXPECT_LE((estimate - p.exact.v).col(c).cwiseAbs().maxCoeff(), 0.05 * p.upstream.col(c).lpNorm<1>());
  }
}

TEST(SampledGradients, ZeroColumnsAndOneSignAreExactZerosWhereTheyShouldBe) {
  Problem p = make(3, 10, 7, 7);
  p.upstream.col(0).setZero();
  p.upstream.col(1) = p.upstream.col(1).cwiseAbs();
  SampledGradientOptions options;
  options.walks = 50;
  const MatrixD estimate = sampled_value_gradient(p.x, p.upstream, p.neighbors, options);
  EXPECT_TRUE((estimate.col(0).array() == 0).all());
  EXPECT_TRUE((estimate.col(1).array() >= 0).all());
  EXPECT_NEAR(estimate.col(1).sum(), p.upstream.col(1).sum(), 1e-12);  // every walk ends somewhere
}

TEST(SampledGradients, QueryGradientHasTheExpectationOfASampleCovariance) {
  const Problem p = make(4, 2, 5, 2);
  constexpr std::uint64_t kSamples = 2;
  const auto estimate = [&](std::uint64_t seed) {
    SampledGradientOptions options;
    options.samples = kSamples;
    options.seed = seed;
    return sampled_query_gradient(p.x, p.upstream, p.neighbors, options);
  };
  const double g = (p.upstream * p.x.v.transpose()).cwiseAbs().maxCoeff();
  const double range = 2 * p.x.scale * 2 * g * p.x.k.cwiseAbs().maxCoeff();
  EXPECT_TRUE(unbiased(estimate, MatrixD(p.exact.q * (1 - 1.0 / kSamples)), range, 30'000));
  EXPECT_FALSE(unbiased(estimate, p.exact.q, range, 30'000));
}

TEST(SampledGradients, QueryGradientIsWithinItsBound) {
  const Problem p = make(5, 30, 60, 12);
  SampledGradientOptions options;
  options.samples = 4000;
  const double g = (p.upstream * p.x.v.transpose()).cwiseAbs().maxCoeff();
  const double bound = query_gradient_error_bound(options.samples, p.x.scale, g, p.x.k.cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LE((sampled_query_gradient(p.x, p.upstream, p.neighbors, options) - p.exact.q).cwiseAbs().maxCoeff(), bound);
  options.upweighted = true;
  const MatrixD upweighted = sampled_query_gradient(p.x, p.upstream, p.neighbors, options);
  EXPECT_GT(gradient_quality(upweighted, p.exact.q).cosine, 0.998);
  // Every key listed: exact.
  const Neighbors all = brute_force_neighbors(p.x.q, p.x.k, 60);
  options.samples = 0;
  EXPECT_LE(gradient_quality(sampled_query_gradient(p.x, p.upstream, all, options), p.exact.q).relative_l2, 1e-13);
}

/// The fault that two sets of samples avoid: O_i from the samples that carry the gradient.
MatrixD key_gradient_of_one_set(const Problem& p, std::uint64_t samples, std::uint64_t seed) {
  const MatrixD law = softmax_rows(p.x);
  MatrixD result = MatrixD::Zero(p.x.k.rows(), p.x.k.cols());
  Random random(seed);
  for (Eigen::Index i = 0; i < law.rows(); ++i) {
    std::vector<Eigen::Index> drawn;
    double mean = 0;
    for (std::uint64_t t = 0; t < samples; ++t) {
      double left = random.unit();
      Eigen::Index l = 0;
      while (l + 1 < law.cols() && left >= law(i, l)) left -= law(i, l++);
      drawn.push_back(l);
      mean += p.upstream.row(i).dot(p.x.v.row(l)) / static_cast<double>(samples);
    }
    for (const Eigen::Index l : drawn) {
      const double g = p.upstream.row(i).dot(p.x.v.row(l));
      result.row(l) += p.x.scale * (g - mean) / static_cast<double>(samples) * p.x.q.row(i);
    }
  }
  return result;
}

TEST(SampledGradients, KeyGradientIsUnbiased) {
  const Problem p = make(6, 2, 4, 2);
  constexpr std::uint64_t kSamples = 2;
  const auto estimate = [&](std::uint64_t seed) {
    SampledGradientOptions options;
    options.samples = kSamples;
    options.seed = seed;
    return sampled_key_gradient(p.x, p.upstream, p.neighbors, options);
  };
  const double g = (p.upstream * p.x.v.transpose()).cwiseAbs().maxCoeff();
  const double range = 2 * 2 * p.x.scale * 2 * g * p.x.q.cwiseAbs().maxCoeff();
  EXPECT_TRUE(unbiased(estimate, p.exact.k, range, 30'000));
  // Control: O_i from the same samples has the expectation (1 - 1/samples) dK, here one half.
  const auto biased = [&](std::uint64_t seed) { return key_gradient_of_one_set(p, kSamples, seed); };
  EXPECT_TRUE(unbiased(biased, MatrixD(p.exact.k * (1 - 1.0 / kSamples)), range, 30'000));
  EXPECT_FALSE(unbiased(biased, p.exact.k, range, 30'000)) << "the bias of one set of samples went unnoticed";
}

TEST(SampledGradients, UpweightedGradientsAreExactWithAllKeysListedAndGoodWithSome) {
  const Problem p = make(9, 50, 200, 40);
  SampledGradientOptions options;
  options.upweighted = true;
  const Neighbors all = brute_force_neighbors(p.x.q, p.x.k, 200);
  EXPECT_LE(gradient_quality(sampled_value_gradient(p.x, p.upstream, all, options), p.exact.v).relative_l2, 1e-13);
  EXPECT_LE(gradient_quality(sampled_query_gradient(p.x, p.upstream, all, options), p.exact.q).relative_l2, 1e-13);
  EXPECT_LE(gradient_quality(sampled_key_gradient(p.x, p.upstream, all, options), p.exact.k).relative_l2, 1e-13);
  for (const auto& [samples, least] : {std::pair{40, 0.7}, std::pair{4000, 0.98}}) {
    options.samples = static_cast<std::uint64_t>(samples);
    EXPECT_GT(gradient_quality(sampled_value_gradient(p.x, p.upstream, p.neighbors, options), p.exact.v).cosine, least);
    EXPECT_GT(gradient_quality(sampled_query_gradient(p.x, p.upstream, p.neighbors, options), p.exact.q).cosine, least);
    EXPECT_GT(gradient_quality(sampled_key_gradient(p.x, p.upstream, p.neighbors, options), p.exact.k).cosine, least);
  }
}

/// n equal queries that see two keys with equal weights: G = 1, g = 1 for the first key and -1 for the other.
Problem two_keys(Eigen::Index n, bool approximate) {
  Problem p;
  p.x.q = MatrixD::Ones(n, 1);
  p.x.k.resize(2, 1);
  p.x.k << 1, -1;
  p.x.v = p.x.k;
  p.x.scale = approximate ? 0.5 : 0.0;
  p.x.entry_bound = 1;
  p.upstream = MatrixD::Ones(n, 1);
  p.neighbors = brute_force_neighbors(p.x.q, p.x.k, 1);
  if (approximate) {
    p.neighbors.index.setConstant(1);  // the worse key: the other is above it by 2 scale
    p.neighbors.exact = false;
  }
  p.exact = reference_gradients(p.x, p.upstream);
  return p;
}

TEST(SampledGradients, RowsDrawIndependently) {
  // One walk or two samples a row: rows that drew the same numbers would all take the same key.
  const Problem p = two_keys(4000, false);
  SampledGradientOptions options;
  options.walks = 4000;
  options.samples = 2;
  const double radius = std::sqrt(std::log(2e9) / (2 * 4000));  // Hoeffding at 1e-9 for shares of 4000
  const MatrixD v = sampled_value_gradient(p.x, p.upstream, p.neighbors, options);
  EXPECT_LE((v - p.exact.v).cwiseAbs().maxCoeff() / 4000, radius);
  // With scale 0 the gradients of Q and K vanish; their samples are seen at scale 1e-9.
  Problem q = p;
  q.x.scale = 1e-9;
  q.exact = reference_gradients(q.x, q.upstream);
  const MatrixD rows = sampled_query_gradient(q.x, q.upstream, q.neighbors, options) / 1e-9;  // 1 or 0: keys differ
  EXPECT_NEAR(rows.mean(), 0.5, radius);
  const MatrixD keys = sampled_key_gradient(q.x, q.upstream, q.neighbors, options) / 1e-9;  // means of terms in [-2, 2]
  EXPECT_LE((keys - q.exact.k / 1e-9).cwiseAbs().maxCoeff() / 4000, 4 * radius);
}

TEST(SampledGradients, TheGapReachesEveryGradient) {
  const Problem p = two_keys(20, true);
  for (const double gap : {1.0, 0.0}) {
    SampledGradientOptions options;
    options.walks = 20'000;
    options.samples = 1000;
    options.gap = gap;
    const double radius = std::sqrt(std::log(2e9) / (2 * 20'000));
    const auto error = [&](const MatrixD& estimate, const MatrixD& exact) {
      return (estimate - exact).cwiseAbs().maxCoeff();
    };
    const double v = error(sampled_value_gradient(p.x, p.upstream, p.neighbors, options), p.exact.v) / 20;
    // The gradient of a row with p, 1 - p is scale (1 - m^2), m = 2p - 1; a mean of 20 rows, a sum for a key.
    const MatrixD q = sampled_query_gradient(p.x, p.upstream, p.neighbors, options);
    const double mean_q = std::fabs(q.mean() - (1 - 1e-3) * p.exact.q.mean()) / p.x.scale;
    const double k = error(sampled_key_gradient(p.x, p.upstream, p.neighbors, options), p.exact.k) / 20 / p.x.scale;
    EXPECT_EQ(v <= radius, gap == 1.0) << v;  // understated, the gap biases all of them: the control
    EXPECT_EQ(mean_q <= 4 * radius, gap == 1.0) << mean_q;
    EXPECT_EQ(k <= 4 * radius, gap == 1.0) << k;
  }
}

TEST(SampledGradients, DependOnTheSeedOnly) {
  const Problem p = make(7, 70, 40, 6);
  SampledGradientOptions options;
  options.walks = 30;
  options.samples = 7;
  Execution one, three;
  one.threads = 1;
  three.threads = 3;
  EXPECT_EQ(sampled_value_gradient(p.x, p.upstream, p.neighbors, options, one),
            sampled_value_gradient(p.x, p.upstream, p.neighbors, options, three));
  EXPECT_EQ(sampled_query_gradient(p.x, p.upstream, p.neighbors, options, one),
            sampled_query_gradient(p.x, p.upstream, p.neighbors, options, three));
  EXPECT_EQ(sampled_key_gradient(p.x, p.upstream, p.neighbors, options, one),
            sampled_key_gradient(p.x, p.upstream, p.neighbors, options, three));
}

TEST(SampledGradients, BadInput) {
  const Problem p = make(8, 4, 5, 2);
  SampledGradientOptions options;
  options.walks = options.samples = 3;
  const auto refuse = [&](const char* part, const Problem& bad, const SampledGradientOptions& o) {
    expect_error(ErrorKind::parameter, part, [&] { sampled_value_gradient(bad.x, bad.upstream, bad.neighbors, o); });
    expect_error(ErrorKind::parameter, part, [&] { sampled_query_gradient(bad.x, bad.upstream, bad.neighbors, o); });
    expect_error(ErrorKind::parameter, part, [&] { sampled_key_gradient(bad.x, bad.upstream, bad.neighbors, o); });
  };
  refuse("expected at least 1", p, {});
  Problem bad = p;
  bad.upstream(1, 0) = std::nan("");
  refuse("G[1,0] is nan", bad, options);
  bad = p;
  bad.upstream.resize(4, 3);
  bad.upstream.setZero();
  refuse("upstream gradient is 4 x 3, expected 4 x 2", bad, options);
  SampledGradientOptions negative = options;
  negative.gap = -1;
  refuse("gap -1", p, negative);
  expect_error(ErrorKind::parameter, "epsilon", [] { walk_samples(3, 2, 0.0, 0.1); });
  expect_error(ErrorKind::parameter, "delta", [] { walk_samples(3, 2, 0.1, 1.0); });
  expect_error(ErrorKind::parameter, "delta", [] { query_gradient_error_bound(3, 1, 1, 1, 0.0); });
}

TEST(GradientQuality, ByHand) {
  MatrixD exact(1, 2), estimate(1, 2);
  exact << 3, 4;
  estimate << 4, -3;
  const GradientQuality q = gradient_quality(estimate, exact);
  EXPECT_EQ(q.cosine, 0);
  EXPECT_NEAR(q.relative_l2, std::sqrt(2.0), 1e-15);
  EXPECT_EQ(q.mean_abs, 4);
  EXPECT_EQ(gradient_quality(exact, exact).cosine, 1);
  EXPECT_EQ(gradient_quality(MatrixD::Zero(1, 2), exact).cosine, 0);
  EXPECT_EQ(gradient_quality(exact, MatrixD::Zero(1, 2)).relative_l2, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(gradient_quality(exact * std::nan(""), exact).cosine));
  expect_error(ErrorKind::parameter, "2 x 1", [&] { gradient_quality(MatrixD::Zero(2, 1), exact); });
}

}  // namespace
