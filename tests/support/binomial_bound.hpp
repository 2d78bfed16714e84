// Binomial bound: is a count of independent successes compatible with a probability? Exact tails, no approximation.
#pragma once

#include <subquad/core/binomial_bounds.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace subquad::test {

/// Succeeds iff `successes` of `trials` lies between the kFalseAlarm/2 quantiles of Bin(trials, probability).
inline testing::AssertionResult compatible(std::uint64_t successes, std::uint64_t trials, double probability) {
  const double at_most = binomial_lower_tail(successes, trials, probability);
  const double at_least = binomial_upper_tail(successes, trials, probability);
  if (at_most >= kFalseAlarm / 2 && at_least >= kFalseAlarm / 2) return testing::AssertionSuccess();
  return testing::AssertionFailure() << successes << " of " << trials << " at probability " << probability << ": tails "
                                     << at_most << " and " << at_least;
}

}  // namespace subquad::test
