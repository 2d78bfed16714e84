// Collision probabilities: published anchors, closed forms, monotonicity, edges, bad input.
#include "expect_error.hpp"

#include <subquad/ann/collision_probability.hpp>
#include <subquad/core/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

namespace {

using namespace subquad::ann;
using subquad::ErrorKind;
using subquad::test::expect_error;

TEST(CollisionProbability, E2LshAnchors) {
  EXPECT_NEAR(e2lsh_collision_probability(1, 1), .3687463803725072, 1e-15);
  EXPECT_NEAR(e2lsh_collision_probability(1, .25), .09921934257717963, 1e-16);
  EXPECT_NEAR(e2lsh_collision_probability(1, .125), .04980295435329474, 1e-16);
  EXPECT_EQ(e2lsh_collision_probability(0, 3), 1);
  // W/u only; tiny quotients keep their digits: p ~ W/(u sqrt(2 pi)).
  EXPECT_NEAR(e2lsh_collision_probability(8, 1), e2lsh_collision_probability(1, .125), 1e-16);
  for (const double t : {1e-3, 1e-6, 1e-100}) {
    const double leading = t / std::sqrt(2 * std::numbers::pi);
    EXPECT_NEAR(e2lsh_collision_probability(1, t) / leading, 1 - t * t / 12, 1e-12);
  }
  // Both sides of the switch of formulas.
  EXPECT_NEAR(e2lsh_collision_probability(1, 0.1 - 1e-12), e2lsh_collision_probability(1, 0.1), 1e-12);
}

TEST(CollisionProbability, ClosedForms) {
  EXPECT_EQ(bit_sampling_collision_probability(3, 10), 0.7);
  EXPECT_EQ(bit_sampling_collision_probability(10, 10), 0);
  EXPECT_NEAR(hyperplane_collision_probability(1), 2.0 / 3, 1e-15);
  EXPECT_NEAR(hyperplane_collision_probability(std::numbers::sqrt2), 0.5, 1e-15);
  EXPECT_EQ(hyperplane_collision_probability(0), 1);
  EXPECT_EQ(hyperplane_collision_probability(2), 0);
  EXPECT_NEAR(hyperplane_collision_probability(2 - 1e-14) / (2e-7 / std::numbers::pi), 1, 0.01);
}

TEST(CollisionProbability, CrossPolytopeAnchors) {
  // One dimension: the sign of a Gaussian times +-1, so 1 or 0 on the sphere {-1, 1}; as a law in u it is a hyperplane.
  EXPECT_NEAR(cross_polytope_collision_probability(1, 1), 2.0 / 3, 1e-7);
  // Two dimensions: two hyperplanes.
  for (const double u : {0.25, 0.7, 1.0, 1.3, 1.9}) {
    const double p = hyperplane_collision_probability(u);
    EXPECT_NEAR(cross_polytope_collision_probability(u, 2), p * p, 1e-7) << u;
  }
  for (const std::uint64_t d : {2u, 3u, 8u, 64u}) {  // orthogonal points: independent codes
    EXPECT_NEAR(cross_polytope_collision_probability(std::numbers::sqrt2, d), 1.0 / (2.0 * static_cast<double>(d)),
                1e-7);
  }
  EXPECT_NEAR(cross_polytope_collision_probability(1, 8), .232501, 1e-6);
  EXPECT_NEAR(cross_polytope_collision_probability(1, 64), .098176, 1e-6);
  EXPECT_EQ(cross_polytope_collision_probability(2, 8), 0);
}

TEST(CollisionProbability, CrossPolytopeTails) {
  // Relative digits for close and for nearly opposite points.
  for (const double u : {1e-12, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 0.05, 1.9, 1.99, 1.9999, 2 - 1e-9}) {
    const double p = hyperplane_collision_probability(u);
    EXPECT_NEAR(cross_polytope_collision_probability(u, 1) / p, 1, 1e-11) << u;
    EXPECT_NEAR(cross_polytope_collision_probability(u, 2) / (p * p), 1, 1e-11) << u;
  }
  for (const std::uint64_t d : {2u, 64u, 1024u, 20'000u}) {
    EXPECT_NEAR(cross_polytope_collision_probability(std::numbers::sqrt2, d) * 2 * static_cast<double>(d), 1, 1e-10);
    // 1 - p is proportional to u for small u.
    const double slope = (1 - cross_polytope_collision_probability(1e-4, d)) / 1e-4;
    EXPECT_NEAR((1 - cross_polytope_collision_probability(1e-6, d)) / 1e-6 / slope, 1, 1e-3) << d;
  }
  // By conditional quadrature of F in another program (no Owen's T), relative 1e-14.
  EXPECT_NEAR(cross_polytope_collision_probability(0.001, 64) / 0.998535945818, 1, 1e-11);
  EXPECT_NEAR(cross_polytope_collision_probability(0.6, 1024) / 0.21602479952610973, 1, 1e-11);
  EXPECT_NEAR(cross_polytope_collision_probability(1.95, 64) / 4.108039467385292e-15, 1, 1e-11);
  EXPECT_NEAR(cross_polytope_collision_probability(1.99, 64) / 1.8222838001995374e-31, 1, 1e-11);
}

TEST(CollisionProbability, SphericalCapsOfClosePoints) {
  // By mpmath at 25 digits.
  EXPECT_NEAR(spherical_cap_collision_probability(1e-8, 3, 1'000'000), 0.9999999738046631, 1e-13);
  EXPECT_NEAR(spherical_cap_collision_probability(1e-8, 1.5, 64), 0.9999999847167828, 1e-13);
  EXPECT_NEAR(spherical_cap_collision_probability(1e-4, 3, 1'000'000), 0.9997380809333284, 1e-13);
}

TEST(CollisionProbability, SphericalCapAnchors) {
  EXPECT_NEAR(spherical_cap_collision_probability(1, 1.5, 1'000'000), .158928, 1e-6);
  EXPECT_EQ(spherical_cap_collision_probability(0, 1.5, 10), 1);
  // Threshold 0, one cap, antipodal points: exactly one of them is held.
  EXPECT_NEAR(spherical_cap_collision_probability(2, 0, 1), 0, 1e-9);
  // Threshold 0, one cap: both or neither, which is a hyperplane.
  for (const double u : {0.1, 0.5, 1.0, 1.7}) {
    EXPECT_NEAR(spherical_cap_collision_probability(u, 0, 1), hyperplane_collision_probability(u), 1e-9) << u;
  }
  EXPECT_NEAR(spherical_cap_collision_probability(1.9, 60, 5), 1, 1e-12);  // caps that hold nothing: one shared code
}

TEST(CollisionProbability, NonIncreasing) {
  const std::vector<std::function<double(double)>> laws{
      [](double u) { return e2lsh_collision_probability(u, 0.7); },
      [](double u) { return hyperplane_collision_probability(u); },
      [](double u) { return cross_polytope_collision_probability(u, 5); },
      [](double u) { return spherical_cap_collision_probability(u, 1.2, 30); },
      [](double u) { return bit_sampling_collision_probability(u, 2); }};
  for (const auto& law : laws) {
    double before = 1;
    for (int i = 0; i <= 40; ++i) {
      const double p = law(0.05 * i);
      EXPECT_LE(p, before + 1e-9) << i;
      EXPECT_GE(p, 0);
      before = p;
    }
  }
}

TEST(CollisionProbability, BadInput) {
  const double nan = std::nan("");
  for (const double bad : {-1.0, nan, 2.1}) {
    expect_error(ErrorKind::parameter, "expected 0 to 2", [&] { hyperplane_collision_probability(bad); });
    expect_error(ErrorKind::parameter, "expected 0 to 2", [&] { cross_polytope_collision_probability(bad, 3); });
    expect_error(ErrorKind::parameter, "expected 0 to 2", [&] { spherical_cap_collision_probability(bad, 1, 3); });
  }
  for (const double bad : {0.0, -1.0, nan}) {
    expect_error(ErrorKind::parameter, "width", [&] { e2lsh_collision_probability(1, bad); });
  }
  expect_error(ErrorKind::parameter, "distance", [&] { e2lsh_collision_probability(-1, 1); });
  expect_error(ErrorKind::parameter, "distance", [&] { e2lsh_collision_probability(nan, 1); });
  expect_error(ErrorKind::parameter, "expected 0 to 4", [] { bit_sampling_collision_probability(5, 4); });
  expect_error(ErrorKind::parameter, "dimension 0", [] { bit_sampling_collision_probability(0, 0); });
  expect_error(ErrorKind::parameter, "dimension 0", [] { cross_polytope_collision_probability(1, 0); });
  expect_error(ErrorKind::parameter, "no cap", [] { spherical_cap_collision_probability(1, 1, 0); });
  expect_error(ErrorKind::parameter, "threshold", [&] { spherical_cap_collision_probability(1, nan, 2); });
}

}  // namespace
