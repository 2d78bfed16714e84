// The claim about top-k attention: SQ.KNN.
#include "attention_hundred_digits.hpp"
#include "brute_force_neighbors.hpp"
#include "claim.hpp"

#include <subquad/attention/top_k_attention.hpp>
#include <subquad/core/random.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace subquad::test;
using subquad::Random;
using subquad::attention::top_k_attention;
using subquad::problems::Attention;
using subquad::problems::MatrixD;

/// Random rows; every fifth case is the extremal one: equal logits, values at the two ends.
Attention::Instance make_case(Random& random, int trial, std::uint64_t k) {
  const auto n_k = static_cast<Eigen::Index>(k + 1 + random.below(60));
  Attention::Instance x = normal_instance(random, 1, n_k, 1 + static_cast<Eigen::Index>(random.below(6)), 1);
  x.scale = 1;
  if (trial % 5 == 0) {
    x.k.setOnes();
    x.v.setConstant(-1);
    x.v.topRows(static_cast<Eigen::Index>(k)).setOnes();
  } else {
    x.q *= 3 * random.unit();
  }
  return x;
}

// For every row: the softmax mass outside the k listed keys is at most tau, and the output is off by at most 2 B_V tau.
TEST(Claims, SQ_KNN) {
  Claim mass("SQ.KNN");
  Claim error("SQ.KNN");
  Random random(40);
  for (int trial = 0; trial < 400; ++trial) {
    const std::uint64_t k = 1 + random.below(8);
    const Attention::Instance x = make_case(random, trial, k);
    const auto neighbors = brute_force_neighbors(x.q, x.k, k);
    const auto result = top_k_attention(x, neighbors);
    Attention::Instance marked = x;
    marked.v.setZero();
    for (Eigen::Index a = 0; a < neighbors.index.cols(); ++a) marked.v(neighbors.index(0, a), 0) = 1;
    const double tau = result.tail_mass[0];
    const auto outside = static_cast<double>(Digits100(1 - attention_hundred_digits(marked, 0)[0].value));
    const auto off = static_cast<double>(
        Digits100(abs(Digits100(attention_hundred_digits(x, 0)[0].value - Digits100(result.output(0, 0))))));
    const double value_bound = x.v.cwiseAbs().maxCoeff();
    mass.add(outside, tau, "mass");
    mass.add_control(outside, tau / 2);
    error.add(off, 2 * value_bound * tau, "error");
    error.add_control(off, value_bound * tau);
  }
  mass.finish();
  error.finish();
  EXPECT_GE(error.worst_slack(), 0.999);  // attained
}

}  // namespace
