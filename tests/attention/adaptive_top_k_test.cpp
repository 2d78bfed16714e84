// Adaptive top-k attention: within its tolerance by a hundred digits, few keys where few do, all where all are needed.
#include "attention_hundred_digits.hpp"
#include "expect_error.hpp"

#include <subquad/attention/adaptive_top_k.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace {

using namespace subquad::test;
using subquad::ErrorKind;
using subquad::Random;
using subquad::ann::Arithmetic;
using subquad::attention::adaptive_top_k_attention;
using subquad::attention::AdaptiveTopKResult;
using subquad::problems::Attention;
using subquad::problems::MatrixD;

double largest_error(const Attention::Instance& x, const MatrixD& output) {
  double largest = 0;
  for (Eigen::Index i = 0; i < x.q.rows(); ++i) {
    const auto exact = attention_hundred_digits(x, i);
    for (Eigen::Index c = 0; c < x.v.cols(); ++c) {
      const double error = static_cast<double>(
          Digits100(abs(Digits100(exact[static_cast<std::size_t>(c)].value - Digits100(output(i, c))))));
      if (!(error <= largest)) largest = error;
    }
  }
  return largest;
}

TEST(AdaptiveTopK, IsWithinItsBoundsAndTheTolerance) {
  Random random(1);
  for (const double spread : {0.1, 1.0, 4.0}) {
    for (const double tolerance : {0.1, 1e-3, 1e-9}) {
      for (const Arithmetic arithmetic : {Arithmetic::float32, Arithmetic::float64}) {
        Attention::Instance x = normal_instance(random, 6, 300, 4, 2);
        x.scale = 1;
        x.q *= spread;
        const AdaptiveTopKResult result = adaptive_top_k_attention(x, tolerance, arithmetic);
        EXPECT_LE(result.error_bound.maxCoeff(), tolerance);
        EXPECT_LE(largest_error(x, result.output), result.error_bound.maxCoeff());
      }
    }
  }
}

TEST(AdaptiveTopK, TakesAsManyKeysAsTheRowNeeds) {
  // Query 0 sees one key far above the rest, query 1 only equal ones.
  Attention::Instance x;
  x.q = MatrixD::Zero(2, 1);
  x.q(0, 0) = 40;
  x.k = MatrixD::Zero(400, 1);
  x.k(17, 0) = 1;
  x.v = MatrixD::Zero(400, 1);
  x.v.topRows(200).setOnes();
  x.entry_bound = 40;
  x.scale = 1;
  const AdaptiveTopKResult result = adaptive_top_k_attention(x, 1e-6);
  EXPECT_EQ(result.keys[0], 20u);
  EXPECT_EQ(result.keys[1], 400u);
  EXPECT_NEAR(result.output(0, 0), 1, 1e-6);
  EXPECT_NEAR(result.output(1, 0), 0.5, 1e-12);
  // A tolerance of the whole spread needs nothing.
  EXPECT_EQ(adaptive_top_k_attention(x, 2.0).keys[1], 20u);
}

TEST(AdaptiveTopK, EdgesAndErrors) {
  Attention::Instance x;
  x.q = MatrixD::Ones(1, 2);
  x.k = MatrixD::Ones(1, 2);
  x.v = MatrixD::Constant(1, 1, 3);
  x.entry_bound = 3;
  EXPECT_NEAR(adaptive_top_k_attention(x, 1e-3).output(0, 0), 3, 1e-15);
  for (const double bad : {0.0, -1.0, std::nan("")}) {
    expect_error(ErrorKind::parameter, "eps_a", [&] { adaptive_top_k_attention(x, bad); });
  }
  expect_error(ErrorKind::undecided, "rounding of doubles", [&] { adaptive_top_k_attention(x, 1e-30); });
  x.scale = -1;
  expect_error(ErrorKind::parameter, "scale -1", [&] { adaptive_top_k_attention(x, 1e-3); });
  x.q.resize(0, 2);
  x.scale = 1;
  EXPECT_EQ(adaptive_top_k_attention(x, 1e-3).output.rows(), 0);
}

}  // namespace
