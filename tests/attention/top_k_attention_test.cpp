// Top-k attention: its output, and certificates that are never exceeded (a hundred digits) and are not idle either.
#include "attention_hundred_digits.hpp"
#include "brute_force_neighbors.hpp"
#include "expect_error.hpp"

#include <subquad/attention/top_k_attention.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using namespace subquad::test;
using subquad::ErrorKind;
using subquad::Random;
using subquad::ann::kNoKey;
using subquad::ann::Neighbors;
using subquad::attention::top_k_attention;
using subquad::attention::TopKResult;
using subquad::problems::Attention;
using subquad::problems::AttentionMask;
using subquad::problems::MatrixD;

/// The exact softmax mass outside the listed keys of a row, and the exact output's largest difference from `output`.
struct Truth {
  double tail_mass = 0.0;
  double error = 0.0;
};

Truth truth(const Attention::Instance& x, const Neighbors& neighbors, const TopKResult& result, Eigen::Index row) {
  Attention::Instance visible = x;
  const auto count = static_cast<Eigen::Index>(
      neighbors.mask.visible(static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(x.k.rows())));
  visible.k = MatrixD(x.k.topRows(count));
  visible.v = MatrixD(x.v.topRows(count));
  // Column 0 of these values marks the listed keys, so that the first output is the mass inside.
  Attention::Instance marked = visible;
  marked.v = MatrixD::Zero(count, 1);
  for (Eigen::Index a = 0; a < neighbors.index.cols(); ++a) {
    if (neighbors.index(row, a) != kNoKey) marked.v(neighbors.index(row, a), 0) = 1;
  }
  Truth t;
  t.tail_mass = static_cast<double>(Digits100(1 - attention_hundred_digits(marked, row)[0].value));
  const auto exact = attention_hundred_digits(visible, row);
  for (Eigen::Index c = 0; c < x.v.cols(); ++c) {
    const double error = static_cast<double>(
        Digits100(abs(Digits100(exact[static_cast<std::size_t>(c)].value - Digits100(result.output(row, c))))));
    if (!(error <= t.error)) t.error = error;  // NaN stays
  }
  return t;
}

Attention::Instance instance(Random& random, Eigen::Index n, Eigen::Index n_k, Eigen::Index d, double spread) {
  Attention::Instance x = normal_instance(random, n, n_k, d, 3);
  x.scale = 1;
  x.q *= spread;
  return x;
}

TEST(TopKAttention, HandChecked) {
  // Logits ln 8, ln 4, ln 2, 0: the two best have weights 2/3 and 1/3, and miss a mass of 3/15 <= (2 * 4)/(12 + 8).
  Attention::Instance x;
  x.q = MatrixD::Ones(1, 1);
  x.k.resize(4, 1);
  x.k << std::log(2.0), std::log(8.0), 0, std::log(4.0);
  x.v.resize(4, 1);
  x.v << 0, 3, 9, 6;
  x.entry_bound = 10;
  const TopKResult result = top_k_attention(x, brute_force_neighbors(x.q, x.k, 2));
  EXPECT_NEAR(result.output(0, 0), 4.0, 1e-14);
  EXPECT_NEAR(result.tail_mass[0], 8.0 / 20, 1e-12);
  EXPECT_NEAR(result.error_bound[0], 9 * 8.0 / 20, 1e-10);
}

TEST(TopKAttention, CertificatesHoldAndAreNotIdle) {
  Random random(1);
  double largest_share = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const auto n_k = static_cast<Eigen::Index>(1 + random.below(200));
    const auto d = static_cast<Eigen::Index>(1 + random.below(8));
    const Attention::Instance x = instance(random, 3, n_k, d, std::exp(4 * random.unit() - 2));
    const auto k = 1 + random.below(static_cast<std::uint64_t>(n_k));
    const AttentionMask mask =
        trial % 3 == 0 ? AttentionMask::lower_triangle(random.below(100)) : AttentionMask::none();
    const Neighbors neighbors = brute_force_neighbors(x.q, x.k, k, subquad::ann::Similarity::inner_product, mask);
    const TopKResult result = top_k_attention(x, neighbors);
    for (Eigen::Index i = 0; i < 3; ++i) {
      const Truth t = truth(x, neighbors, result, i);
      EXPECT_LE(t.tail_mass, result.tail_mass[i]) << trial;
      EXPECT_LE(t.error, result.error_bound[i]) << trial;
      if (result.tail_mass[i] > 0 && t.tail_mass / result.tail_mass[i] > largest_share)
        largest_share = t.tail_mass / result.tail_mass[i];
    }
  }
  EXPECT_GT(largest_share, 0.5);
}

TEST(TopKAttention, EqualLogitsAttainTheCertificate) {
  // All logits equal: the mass outside is (n - k)/n, exactly tau. Values: the listed at one end, the others at the
  // other.
  Attention::Instance x;
  x.q = MatrixD::Ones(1, 2);
  x.k = MatrixD::Ones(10, 2);
  x.v = MatrixD::Constant(10, 1, -1.0);
  x.v.topRows(4).setOnes();
  x.entry_bound = 1;
  const Neighbors neighbors = brute_force_neighbors(x.q, x.k, 4);
  const TopKResult result = top_k_attention(x, neighbors);
  const Truth t = truth(x, neighbors, result, 0);
  EXPECT_NEAR(t.error, 2 * 0.6, 1e-15);
  EXPECT_GE(t.error / result.error_bound[0], 1 - 1e-11);
  EXPECT_LE(t.error, result.error_bound[0]);
}

TEST(TopKAttention, RoundingAloneWhenAllKeysAreListed) {
  Random random(2);
  for (int trial = 0; trial < 20; ++trial) {
    const Attention::Instance x = instance(random, 2, 40, 5, 3.0);
    const Neighbors neighbors = brute_force_neighbors(x.q, x.k, 40);
    const TopKResult result = top_k_attention(x, neighbors);
    for (Eigen::Index i = 0; i < 2; ++i) {
      EXPECT_EQ(result.tail_mass[i], 0);
      EXPECT_LE(result.error_bound[i], 1e-10);
      EXPECT_LE(truth(x, neighbors, result, i).error, result.error_bound[i]);
    }
  }
}

TEST(TopKAttention, AnApproximateSearchNeedsItsGap) {
  Random random(3);
  const Attention::Instance x = instance(random, 4, 12, 3, 1.0);
  Neighbors neighbors = brute_force_neighbors(x.q, x.k, 10);
  // The best key is replaced by one that is not listed: now keys are missed by up to the difference of their logits.
  const Neighbors more = brute_force_neighbors(x.q, x.k, 11);
  double gap = 0;
  for (Eigen::Index i = 0; i < 4; ++i) {
    const double missed = more.score(i, 0) - more.score(i, 10);
    if (missed > gap) gap = missed;
    neighbors.index(i, 0) = more.index(i, 10);
  }
  neighbors.exact = false;
  const TopKResult unknown = top_k_attention(x, neighbors);
  const TopKResult known = top_k_attention(x, neighbors, gap * (1 + 1e-12));
  const TopKResult understated = top_k_attention(x, neighbors, 0.0);
  bool caught = false;
  for (Eigen::Index i = 0; i < 4; ++i) {
    EXPECT_EQ(unknown.error_bound[i], std::numeric_limits<double>::infinity());
    EXPECT_EQ(unknown.tail_mass[i], 1.0);
    const Truth t = truth(x, neighbors, known, i);
    EXPECT_LE(t.tail_mass, known.tail_mass[i]);
    EXPECT_LE(t.error, known.error_bound[i]);
    EXPECT_EQ(known.output.row(i), unknown.output.row(i));
    caught = caught || t.tail_mass > understated.tail_mass[i];
  }
  EXPECT_TRUE(caught) << "an understated gap went unnoticed";
}

TEST(TopKAttention, TinyAndLargeLogits) {
  for (const double spread : {1e-300, 1e-10, 1e3, 1e6}) {
    Random random(4);
    const Attention::Instance x = instance(random, 3, 30, 4, spread);
    for (const std::uint64_t k : {1u, 7u, 30u}) {
      const Neighbors neighbors = brute_force_neighbors(x.q, x.k, k);
      const TopKResult result = top_k_attention(x, neighbors);
      for (Eigen::Index i = 0; i < 3; ++i) {
        const Truth t = truth(x, neighbors, result, i);
        EXPECT_LE(t.tail_mass, result.tail_mass[i]) << spread << ' ' << k;
        EXPECT_LE(t.error, result.error_bound[i]) << spread << ' ' << k;
      }
    }
  }
}

TEST(TopKAttention, BadInput) {
  Random random(5);
  const Attention::Instance x = instance(random, 2, 6, 2, 1.0);
  const Neighbors good = brute_force_neighbors(x.q, x.k, 3);
  const auto refuse = [&](const char* part, Attention::Instance y, Neighbors n, std::optional<double> gap = {}) {
    expect_error(ErrorKind::parameter, part, [&] { top_k_attention(y, n, gap); });
  };
  Neighbors bad = good;
  bad.index(1, 2) = bad.index(1, 0);
  refuse("twice", x, bad);
  bad = good;
  bad.index(0, 0) = 6;
  refuse("sees the keys below 6", x, bad);
  bad = good;
  bad.index.row(1).setConstant(kNoKey);
  refuse("no key is listed for query 1", x, bad);
  bad = good;
  bad.index.conservativeResize(1, 3);
  refuse("neighbours of 1 queries, expected 2", x, bad);
  bad = good;
  bad.similarity = subquad::ann::Similarity::euclidean;
  refuse("inner product", x, bad);
  Attention::Instance y = x;
  y.scale = -1;
  refuse("scale -1", y, good);
  y = x;
  y.q(1, 0) = std::nan("");
  refuse("Q[1,0]", y, good);
  refuse("gap -1", x, good, -1.0);
  refuse("gap nan", x, good, std::nan(""));
  y = x;
  y.q *= 1e15;
  y.entry_bound = 1e300;
  expect_error(ErrorKind::unsupported, "too large to say anything", [&] { top_k_attention(y, good); });
}

}  // namespace
