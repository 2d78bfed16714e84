// Hash families: drawn functions follow their exact law, equal points always collide, bad points are refused.
#include "binomial_bound.hpp"
#include "expect_error.hpp"

#include <subquad/ann/hash_family.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace {

using namespace subquad::ann;
using subquad::ErrorKind;
using subquad::Random;
using subquad::problems::MatrixD;
using subquad::test::compatible;
using subquad::test::expect_error;

std::vector<HashFamily> families(std::uint64_t dim) {
  return {e2lsh(dim, 0.8), bit_sampling(dim), hyperplane(dim), cross_polytope(dim), spherical_cap(dim, 1.2, 24)};
}

/// Points of the family's kind.
MatrixD random_points(const HashFamily& family, Eigen::Index n, Random& random) {
  MatrixD points(n, static_cast<Eigen::Index>(family.dim));
  for (Eigen::Index e = 0; e < points.size(); ++e) {
    points.data()[e] = family.metric == Metric::hamming ? (random.bernoulli(0.4) ? 1.0 : 0.0) : random.normal();
  }
  return points;
}

TEST(HashFamily, DrawnFunctionsFollowTheLaw) {
  constexpr std::uint64_t kDraws = 20'000;
  for (const HashFamily& family : families(6)) {
    Random random(1);
    MatrixD points = random_points(family, 6, random);
    if (family.metric != Metric::hamming) points.row(1) = points.row(0) + 0.3 * points.row(1);  // one close pair
    const CodeMatrix codes = family.draw(kDraws, Random(2))->hash(points);
    for (Eigen::Index i = 0; i < points.rows(); ++i) {
      for (Eigen::Index j = 0; j < i; ++j) {
        const double p = family.collision_probability(distance(family.metric, points.row(i), points.row(j)));
        std::uint64_t equal = 0;
        for (Eigen::Index c = 0; c < codes.cols(); ++c) equal += codes(i, c) == codes(j, c) ? 1 : 0;
        EXPECT_TRUE(compatible(equal, kDraws, p)) << family.name << ' ' << i << ' ' << j;
        // Control: a law that is off by 0.04 + 10% is refuted (where it is a probability).
        if (p > 0.3 && p < 0.8) {
          EXPECT_FALSE(compatible(equal, kDraws, 1.1 * p + 0.04)) << family.name;
        }
      }
    }
  }
}

TEST(HashFamily, TuplesAreIndependentDrawsOfTheSeed) {
  for (const HashFamily& family : families(5)) {
    Random random(3);
    const MatrixD points = random_points(family, 40, random);
    const CodeMatrix a = family.draw(8, Random(4))->hash(points);
    EXPECT_EQ(a, family.draw(8, Random(4))->hash(points)) << family.name;
    EXPECT_NE(a, family.draw(8, Random(5))->hash(points)) << family.name;
    EXPECT_NE(a.col(0), a.col(1)) << family.name;
  }
}

TEST(HashFamily, EqualPointsAlwaysCollideWhereverTheyStand) {
  for (const HashFamily& family : families(7)) {
    Random random(6);
    MatrixD points = random_points(family, 700, random);
    points.row(699) = points.row(0);  // another block of the hashing loop
    points.row(3) = points.row(0);
    if (family.metric != Metric::hamming) {
      points.row(5) = points.row(4);
      points(4, 2) = 0.0;
      points(5, 2) = -0.0;
    }
    const auto tuple = family.draw(50, Random(7));
    const CodeMatrix codes = tuple->hash(points);
    EXPECT_EQ(codes.row(0), codes.row(699)) << family.name;
    EXPECT_EQ(codes.row(0), codes.row(3)) << family.name;
    if (family.metric != Metric::hamming) {
      EXPECT_EQ(codes.row(4), codes.row(5)) << family.name;
    }
    EXPECT_EQ(tuple->hash(points.row(0)), codes.row(0)) << family.name;  // alone as in a crowd
  }
}

TEST(HashFamily, AngularFamiliesIgnoreLength) {
  for (const HashFamily& family : families(4)) {
    if (family.metric != Metric::angular) continue;
    Random random(8);
    const MatrixD points = random_points(family, 30, random);
    EXPECT_EQ(family.draw(20, Random(9))->hash(points), family.draw(20, Random(9))->hash(MatrixD(1024 * points)));
  }
}

TEST(HashFamily, DirectionsAtTheEndsOfTheRange) {
  Random random(10);
  for (const HashFamily& family : {hyperplane(8), cross_polytope(8), spherical_cap(8, 1.2, 24)}) {
    const MatrixD points = random_points(family, 20, random);
    const auto tuple = family.draw(30, Random(11));
    for (const double scale : {0x1p-1040, 0x1p-600, 0x1p600, 0x1p1015}) {
      const MatrixD other = (points * scale).eval();
      const CodeMatrix codes = tuple->hash(other);
      if (scale > 0x1p-1000) {  // smaller entries have lost digits
        EXPECT_EQ(codes, tuple->hash(points)) << family.name << ' ' << scale;
      }
      EXPECT_NEAR(distance(Metric::angular, other.row(0), other.row(1)),
                  distance(Metric::angular, points.row(0), points.row(1)), 1e-6);
      EXPECT_EQ(codes.row(3), tuple->hash(other.row(3)));  // alone as in a crowd
    }
  }
}

TEST(HashFamily, CostsOfOneCode) {
  EXPECT_EQ(e2lsh(6, 1).operations_per_code, 6);
  EXPECT_EQ(cross_polytope(6).operations_per_code, 36);
  EXPECT_EQ(bit_sampling(6).operations_per_code, 1);
  EXPECT_NEAR(spherical_cap(6, 0, 1'000'000).operations_per_code, 12, 1e-9);  // every other cap holds a point
  EXPECT_NEAR(spherical_cap(6, 60, 10).operations_per_code, 60, 1e-9);        // none does
}

TEST(HashFamily, Distances) {
  Eigen::RowVectorXd x(2), y(2);
  x << 3, 0;
  y << 0, 4;
  EXPECT_EQ(distance(Metric::euclidean, x, y), 5);
  EXPECT_NEAR(distance(Metric::angular, x, y), std::sqrt(2.0), 1e-15);
  EXPECT_EQ(distance(Metric::hamming, x, y), 2);
}

TEST(HashFamily, HugeCoordinatesDoNotOverflowCodes) {
  MatrixD points(2, 1);
  points << 1e300, -1e300;
  const CodeMatrix codes = e2lsh(1, 1e-3).draw(3, Random(1))->hash(points);
  for (Eigen::Index c = 0; c < 3; ++c) EXPECT_NE(codes(0, c), codes(1, c));
}

TEST(HashFamily, BadInput) {
  expect_error(ErrorKind::parameter, "dimension 0", [] { e2lsh(0, 1); });
  expect_error(ErrorKind::parameter, "width 0", [] { e2lsh(2, 0); });
  expect_error(ErrorKind::parameter, "width nan", [] { e2lsh(2, std::nan("")); });
  expect_error(ErrorKind::parameter, "dimension 0", [] { bit_sampling(0); });
  expect_error(ErrorKind::parameter, "dimension 0", [] { hyperplane(0); });
  expect_error(ErrorKind::parameter, "dimension 0", [] { cross_polytope(0); });
  expect_error(ErrorKind::parameter, "no cap", [] { spherical_cap(2, 1, 0); });
  expect_error(ErrorKind::parameter, "threshold inf",
               [] { spherical_cap(2, std::numeric_limits<double>::infinity(), 1); });
  MatrixD points = MatrixD::Ones(2, 2);
  for (const HashFamily& family : families(2)) {
    points.setOnes();
    EXPECT_NO_THROW(check_points(family, points, "K"));
    expect_error(ErrorKind::parameter, "K has 3 columns, expected 2",
                 [&] { check_points(family, MatrixD::Ones(1, 3), "K"); });
    points(1, 0) = std::nan("");
    expect_error(ErrorKind::parameter, "K[1,0] is nan", [&] { check_points(family, points, "K"); });
  }
  points.setOnes();
  points(0, 1) = 0.5;
  expect_error(ErrorKind::parameter, "K[0,1] is 0.5, expected 0 or 1",
               [&] { check_points(bit_sampling(2), points, "K"); });
  points.row(1).setZero();
  expect_error(ErrorKind::parameter, "row 1 of K is zero", [&] { check_points(hyperplane(2), points, "K"); });
  EXPECT_NO_THROW(check_points(e2lsh(2, 1), points, "K"));
}

}  // namespace
