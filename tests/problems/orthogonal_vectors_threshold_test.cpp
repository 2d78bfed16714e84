#include "expect_error.hpp"

#include <subquad/problems/orthogonal_vectors_threshold.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace subquad::problems {
namespace {

using Shape = OrthogonalVectorsShape;

TEST(Threshold, PublishedDensities) {
  // p* for n = 2^e, dim = c e, mean 1 depends on c only.
  const std::pair<std::uint64_t, double> table[] = {{1, .8660}, {2, .7071},  {4, .5412},
                                                    {8, .3989}, {16, .2881}, {32, .2059}};
  for (const auto& [c, density] : table)
    for (const std::uint64_t e : {4u, 10u, 20u})
      EXPECT_NEAR(iid_threshold_density({std::uint64_t{1} << e, std::uint64_t{1} << e, c * e}, 1), density, 5e-5);
}

RC_GTEST_PROP(Threshold, DensityHitsTheMean, ()) {
  const Shape shape{*rc::gen::inRange<std::uint64_t>(1, 1 << 20), *rc::gen::inRange<std::uint64_t>(1, 1 << 20),
                    *rc::gen::inRange<std::uint64_t>(1, 400)};
  const double most = static_cast<double>(shape.num_a) * static_cast<double>(shape.num_b);
  const double mean = most * std::pow(2.0, -*rc::gen::inRange(0, 60));
  const double density = iid_threshold_density(shape, mean);
  RC_ASSERT(density >= 0 && density <= 1);
  // Near density 1 the rounding of p^2 is magnified by p^2/(1-p^2) in each of dim factors.
  const double slack = 1e-15 * static_cast<double>(shape.dim) * (2 + 1 / (1 - density * density));
  RC_ASSERT(std::abs(iid_expected_pairs(shape, density) / mean - 1) <= slack);
}

/// Mean and variance of the number of orthogonal pairs by listing all instances: exact up to rounding.
std::pair<double, double> moments_by_enumeration(const Shape& shape, double density) {
  const std::uint64_t bits = (shape.num_a + shape.num_b) * shape.dim;
  long double mean = 0;
  long double square = 0;
  for (std::uint64_t code = 0; code < (std::uint64_t{1} << bits); ++code) {
    const auto row = [&](std::uint64_t r) { return (code >> (r * shape.dim)) & ((std::uint64_t{1} << shape.dim) - 1); };
    const int ones = std::popcount(code);
    const long double probability = std::pow(static_cast<long double>(density), ones) *
                                    std::pow(1 - static_cast<long double>(density), static_cast<int>(bits) - ones);
    double count = 0;
    for (std::uint64_t i = 0; i < shape.num_a; ++i)
      for (std::uint64_t j = 0; j < shape.num_b; ++j) count += (row(i) & row(shape.num_a + j)) == 0 ? 1 : 0;
    mean += probability * count;
    square += probability * count * count;
  }
  return {static_cast<double>(mean), static_cast<double>(square - mean * mean)};
}

TEST(Threshold, MomentsAgreeWithEnumeration) {
  for (const Shape& shape :
       {Shape{1, 1, 1}, Shape{2, 2, 2}, Shape{3, 1, 3}, Shape{1, 4, 2}, Shape{3, 2, 3}, Shape{2, 3, 0}}) {
    for (const double density : {0.0, 0.1, 0.5, 0.8, 1.0}) {
      const auto [mean, variance] = moments_by_enumeration(shape, density);
      EXPECT_NEAR(iid_expected_pairs(shape, density), mean, 1e-12);
      EXPECT_NEAR(iid_variance_of_pairs(shape, density), variance, 1e-12);
    }
  }
}

TEST(Threshold, PublishedVarianceRatios) {
  // At mean 1: c = 2 is borderline (3), c = 4 concentrates, c >= 8 is nearly Poisson (1).
  const auto ratio = [](std::uint64_t c, std::uint64_t e) {
    const Shape shape{std::uint64_t{1} << e, std::uint64_t{1} << e, c * e};
    return iid_variance_of_pairs(shape, iid_threshold_density(shape, 1));
  };
  EXPECT_NEAR(ratio(2, 20), 3.0, 0.01);
  EXPECT_NEAR(ratio(4, 8), 1.59, 0.005);
  EXPECT_NEAR(ratio(4, 20), 1.10, 0.005);
  EXPECT_LE(ratio(8, 20), 1.01);
  EXPECT_GE(ratio(1, 20), 2 * ratio(1, 10));  // c < 2 diverges
}

/// P(orthogonal) by listing all vectors of weight y against a fixed one of weight x.
Rational probability_by_enumeration(std::uint64_t dim, std::uint64_t x, std::uint64_t y) {
  const std::uint64_t a = (std::uint64_t{1} << x) - 1;
  std::uint64_t all = 0, disjoint = 0;
  for (std::uint64_t b = 0; b < (std::uint64_t{1} << dim); ++b) {
    if (static_cast<std::uint64_t>(std::popcount(b)) != y) continue;
    ++all;
    disjoint += (a & b) == 0 ? 1 : 0;
  }
  return Rational(Count(disjoint), Count(all));
}

TEST(ConstantWeight, ProbabilityAgreesWithEnumeration) {
  for (std::uint64_t dim = 0; dim <= 9; ++dim)
    for (std::uint64_t x = 0; x <= dim; ++x)
      for (std::uint64_t y = 0; y <= dim; ++y)
        EXPECT_EQ(orthogonality_probability(dim, x, y), probability_by_enumeration(dim, x, y))
            << dim << ' ' << x << ' ' << y;
  test::expect_error(ErrorKind::parameter, [] { orthogonality_probability(4, 5, 1); });
}

TEST(ConstantWeight, PublishedExample) {
  const Rational mean = constant_weight_expected_pairs({128, 128, 56}, {19, 0, 0});
  EXPECT_NEAR(mean.convert_to<double>(), 0.68, 0.005);
}

TEST(ConstantWeight, ExpectationCountsEveryKindOfPair) {
  const Rational r11 = orthogonality_probability(6, 2, 2);
  const Rational r12 = orthogonality_probability(6, 2, 3);
  const Rational r22 = orthogonality_probability(6, 3, 3);
  EXPECT_EQ(constant_weight_expected_pairs({5, 4, 6}, {2, 2, 1}),
            r11 * (3 * 3) + r12 * (3 * 1 + 2 * 3) + r22 * (2 * 1));
  EXPECT_EQ(constant_weight_expected_pairs({0, 4, 6}, {2, 0, 1}), 0);
  test::expect_error(ErrorKind::parameter, [] { constant_weight_expected_pairs({5, 4, 6}, {6, 1, 0}); });
  test::expect_error(ErrorKind::parameter, [] { constant_weight_expected_pairs({5, 4, 6}, {2, 6, 0}); });
  EXPECT_EQ(constant_weight_expected_pairs({5, 4, 6}, {6, 0, 0}), 0);
}

RC_GTEST_PROP(ConstantWeight, WeightsAreNearestToTheMean, ()) {
  const Shape shape{*rc::gen::inRange<std::uint64_t>(1, 60), *rc::gen::inRange<std::uint64_t>(1, 60),
                    *rc::gen::inRange<std::uint64_t>(1, 60)};
  const double mean = static_cast<double>(shape.num_a * shape.num_b) * std::pow(2.0, -*rc::gen::inRange(0, 12));
  const ConstantWeights best = constant_weights_for(shape, mean);
  const Rational wanted(mean);
  const auto distance = [&](const ConstantWeights& weights) -> Rational {
    return abs(Rational(constant_weight_expected_pairs(shape, weights) - wanted));
  };
  const Rational reached = distance(best);
  // Against all members of the family: weights w, some b heavier, or all b and some a heavier.
  for (std::uint64_t w = 0; w < shape.dim; ++w) {
    for (std::uint64_t heavier = 0; heavier <= shape.num_b; ++heavier) RC_ASSERT(reached <= distance({w, 0, heavier}));
    for (std::uint64_t heavier = 0; heavier <= shape.num_a; ++heavier)
      RC_ASSERT(reached <= distance({w, heavier, shape.num_b}));
  }
}

TEST(Threshold, RefusesParametersOutOfRange) {
  test::expect_error(ErrorKind::parameter, [] { iid_expected_pairs({1, 1, 1}, 1.5); });
  test::expect_error(ErrorKind::parameter, [] { iid_variance_of_pairs({1, 1, 1}, std::nan("")); });
  test::expect_error(ErrorKind::parameter, [] { iid_threshold_density({2, 2, 0}, 1); });
  test::expect_error(ErrorKind::parameter, [] { iid_threshold_density({2, 2, 3}, 0); });
  test::expect_error(ErrorKind::parameter, [] { iid_threshold_density({2, 2, 3}, 5); });
  test::expect_error(ErrorKind::parameter, [] { constant_weights_for({0, 2, 3}, 1); });
  EXPECT_EQ(iid_threshold_density({2, 2, 3}, 4), 0.0);
  EXPECT_EQ(iid_variance_of_pairs({0, 2, 3}, 0.5), 0.0);
}

}  // namespace
}  // namespace subquad::problems
