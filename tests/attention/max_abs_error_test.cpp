// The comparison that every kernel test rests on, with the faults it must not let pass.
#include "max_abs_error.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <limits>

namespace {

using subquad::test::max_abs_error;
using subquad::test::max_error_ratio;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Eigen::MatrixXd ramp() {
  Eigen::MatrixXd x(2, 3);
  x << 1, 2, 3, 4, 5, 6;
  return x;
}

TEST(MaxAbsError, FindsTheLargestDifferenceWhereverItStands) {
  EXPECT_EQ(max_abs_error(ramp(), ramp()), 0);
  for (Eigen::Index e = 0; e < 6; ++e) {
    Eigen::MatrixXd x = ramp();
    x.data()[e] -= 0.5;
    x.data()[(e + 1) % 6] += 0.25;
    EXPECT_EQ(max_abs_error(x, ramp()), 0.5);
    EXPECT_EQ(max_abs_error(ramp(), x), 0.5);
  }
}

TEST(MaxAbsError, ANaNAnywhereIsNeverAccepted) {
  for (Eigen::Index e = 0; e < 6; ++e) {
    Eigen::MatrixXd x = ramp();
    x.data()[(e + 3) % 6] += 100;  // a larger finite error, before or after the NaN, must not hide it
    x.data()[e] = kNaN;
    EXPECT_FALSE(max_abs_error(x, ramp()) <= kInfinity);
    EXPECT_FALSE(max_abs_error(ramp(), x) <= kInfinity);
    EXPECT_FALSE(max_abs_error(x, x) <= kInfinity);
    EXPECT_FALSE(max_error_ratio(x, ramp(), Eigen::MatrixXd::Constant(2, 3, 1e9)) <= 1);
    EXPECT_FALSE(max_error_ratio(ramp(), x, Eigen::MatrixXd::Constant(2, 3, 1e9)) <= 1);
  }
}

TEST(MaxAbsError, InfinitiesMatchOnlyThemselves) {
  Eigen::MatrixXd x = ramp();
  x(1, 1) = kInfinity;
  EXPECT_EQ(max_abs_error(x, x), 0);
  EXPECT_FALSE(max_abs_error(x, ramp()) <= 1e300);
  EXPECT_FALSE(max_abs_error(x, -x) <= 1e300);
}

TEST(MaxAbsError, OtherShapesAreNeverAccepted) {
  EXPECT_FALSE(max_abs_error(ramp(), ramp().transpose()) <= kInfinity);
  EXPECT_FALSE(max_abs_error(ramp(), Eigen::MatrixXd(0, 0)) <= kInfinity);
  EXPECT_FALSE(max_error_ratio(ramp(), ramp(), Eigen::MatrixXd::Ones(2, 2)) <= 1);
  EXPECT_EQ(max_abs_error(Eigen::MatrixXd(0, 3), Eigen::MatrixXd(0, 3)), 0);
}

TEST(MaxErrorRatio, EveryEntryHasItsOwnTolerance) {
  Eigen::MatrixXd x = ramp();
  Eigen::MatrixXd tolerance = Eigen::MatrixXd::Constant(2, 3, 0.25);
  x(0, 2) += 0.25;
  EXPECT_EQ(max_error_ratio(x, ramp(), tolerance), 1);
  tolerance(0, 2) = 0.125;
  EXPECT_EQ(max_error_ratio(x, ramp(), tolerance), 2);
  tolerance(0, 2) = 0;
  EXPECT_FALSE(max_error_ratio(x, ramp(), tolerance) <= 1);
  EXPECT_EQ(max_error_ratio(ramp(), ramp(), Eigen::MatrixXd::Zero(2, 3)), 0);
}

TEST(MaxErrorRatio, AToleranceThatAcceptsAnythingAcceptsNothing) {
  for (const double bad : {kInfinity, kNaN, -1.0}) {
    Eigen::MatrixXd tolerance = Eigen::MatrixXd::Ones(2, 3);
    tolerance(1, 0) = bad;
    EXPECT_FALSE(max_error_ratio(ramp(), ramp(), tolerance) <= 1) << bad;
  }
}

}  // namespace
