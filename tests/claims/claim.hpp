// Claims as tests: cases, violations, worst slack (measured/bound), and a negative control that must be refuted.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace subquad::test {

/// Collects the cases of one claim "measured <= bound".
class Claim {
 public:
  explicit Claim(std::string id) : id_(std::move(id)) {}

  /// One case. NaN is a violation.
  void add(double measured, double bound, const std::string& what) {
    ++cases_;
    const double slack =
        bound > 0 ? measured / bound : (measured <= bound ? 0.0 : std::numeric_limits<double>::infinity());
    if (!(slack <= worst_)) worst_ = slack;
    if (!(measured <= bound)) {
      ++violations_;
      if (violations_ <= 5) ADD_FAILURE() << id_ << ": " << what << ": measured " << measured << ", bound " << bound;
    }
  }

  /// One case of the control: the same check against a wrong bound, or with a planted fault.
  void add_control(double measured, double wrong_bound) {
    ++control_cases_;
    if (!(measured <= wrong_bound)) ++control_caught_;
  }

  /// Prints the claim's row and fails if it is violated or powerless.
  void finish() const {
    fmt::print("claim {:<10} cases {:>6}  violations {}  worst slack {:.4f}  control: caught {} of {}\n", id_, cases_,
               violations_, worst_, control_caught_, control_cases_);
    EXPECT_GT(cases_, 0u) << id_;
    EXPECT_EQ(violations_, 0u) << id_;
    EXPECT_GT(control_caught_, 0u) << id_ << " is powerless: its control was not refuted";
  }

  double worst_slack() const { return worst_; }

 private:
  std::string id_;
  std::uint64_t cases_ = 0;
  std::uint64_t violations_ = 0;
  double worst_ = 0.0;
  std::uint64_t control_cases_ = 0;
  std::uint64_t control_caught_ = 0;
};

}  // namespace subquad::test
