// Mean bound: how far the mean of bounded samples may be from the expectation. Empirical Bernstein, no normal
// approximation.
#pragma once

#include <subquad/core/binomial_bounds.hpp>

#include <cmath>
#include <cstdint>

namespace subquad::test {

/// Collects independent samples that lie in an interval of length `range`.
class MeanBound {
 public:
  explicit MeanBound(double range) : range_(range) {}

  void add(double x) {
    ++count_;
    const double before = x - mean_;
    mean_ += before / static_cast<double>(count_);
    squares_ += before * (x - mean_);
  }

  double mean() const { return mean_; }
  std::uint64_t count() const { return count_; }

  /// The expectation is within this of the mean, except with probability `level` (Maurer & Pontil 2009, Theorem 4, both
  /// sides). `tests` such statements at once: a union bound.
  double radius(double tests = 1.0, double level = kFalseAlarm) const {
    const auto n = static_cast<double>(count_);
    const double log_term = std::log(4 * tests / level);
    return std::sqrt(2 * squares_ / (n - 1) * log_term / n) + 7 * range_ * log_term / (3 * (n - 1));
  }

  /// False also for NaN.
  bool agrees(double expectation, double tests = 1.0) const { return std::fabs(mean_ - expectation) <= radius(tests); }

 private:
  double range_;
  std::uint64_t count_ = 0;
  double mean_ = 0.0;
  double squares_ = 0.0;
};

}  // namespace subquad::test
