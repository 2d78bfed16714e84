// Largest difference of two matrices, for tests: a NaN anywhere makes the result NaN.
//
// Accept with `max_abs_error(x, y) <= tolerance`, never by refusing `> tolerance`: NaN must fail. std::max is of no use
// here, since std::max(worst, NaN) keeps `worst`.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <limits>

namespace subquad::test {

/// The larger of two errors; NaN if either is NaN.
inline long double larger_error(long double x, long double y) {
  if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<long double>::quiet_NaN();
  return x < y ? y : x;
}

/// Returns the largest |computed - expected| over all entries, in long double; 0 for empty matrices of the same shape;
/// NaN if the shapes differ or any entry of either is NaN. Infinite entries match only equal ones (else inf or NaN).
template <class X, class Y>
long double max_abs_error(const Eigen::DenseBase<X>& computed, const Eigen::DenseBase<Y>& expected) {
  if (computed.rows() != expected.rows() || computed.cols() != expected.cols()) {
    return std::numeric_limits<long double>::quiet_NaN();
  }
  long double worst = 0;
  for (Eigen::Index i = 0; i < computed.rows(); ++i) {
    for (Eigen::Index j = 0; j < computed.cols(); ++j) {
      const auto x = static_cast<long double>(computed.derived().coeff(i, j));
      const auto y = static_cast<long double>(expected.derived().coeff(i, j));
      worst = larger_error(worst, x == y ? 0 : std::fabs(x - y));
    }
  }
  return worst;
}

/// Returns the largest |computed - expected| / tolerance, each entry against its own tolerance: the computed matrix is
/// accepted iff the result is <= 1. An exact entry counts 0 even with tolerance 0. NaN as above, and for a tolerance
/// that is negative, infinite or NaN: such a tolerance would accept anything.
template <class X, class Y, class Z>
long double max_error_ratio(const Eigen::DenseBase<X>& computed, const Eigen::DenseBase<Y>& expected,
                            const Eigen::DenseBase<Z>& tolerance) {
  const bool same_shape = computed.rows() == expected.rows() && computed.cols() == expected.cols() &&
                          computed.rows() == tolerance.rows() && computed.cols() == tolerance.cols();
  if (!same_shape) return std::numeric_limits<long double>::quiet_NaN();
  long double worst = 0;
  for (Eigen::Index i = 0; i < computed.rows(); ++i) {
    for (Eigen::Index j = 0; j < computed.cols(); ++j) {
      const auto allowed = static_cast<long double>(tolerance.derived().coeff(i, j));
      if (!(allowed >= 0 && allowed <= std::numeric_limits<long double>::max())) {
        return std::numeric_limits<long double>::quiet_NaN();
      }
      const auto x = static_cast<long double>(computed.derived().coeff(i, j));
      const auto y = static_cast<long double>(expected.derived().coeff(i, j));
      worst = larger_error(worst, x == y ? 0 : std::fabs(x - y) / allowed);
    }
  }
  return worst;
}

}  // namespace subquad::test
