// Binomial bound: is a count of independent successes compatible with a probability? Exact tails, no approximation.
#pragma once

#include <boost/math/distributions/binomial.hpp>
#include <gtest/gtest.h>

#include <cstdint>

namespace subquad::test {

/// False-alarm probability of one measurement. Tests have fixed seeds, so an alarm is a fault or astonishing bad luck.
inline constexpr double kFalseAlarm = 1e-9;

/// Succeeds iff `successes` of `trials` lies between the kFalseAlarm/2 quantiles of Bin(trials, probability).
inline testing::AssertionResult compatible(std::uint64_t successes, std::uint64_t trials, double probability) {
  const boost::math::binomial_distribution<double> law(static_cast<double>(trials), probability);
  const auto count = static_cast<double>(successes);
  const double at_most = boost::math::cdf(law, count);
  const double at_least = successes == 0 ? 1.0 : boost::math::cdf(boost::math::complement(law, count - 1));
  if (at_most >= kFalseAlarm / 2 && at_least >= kFalseAlarm / 2) return testing::AssertionSuccess();
  return testing::AssertionFailure() << successes << " of " << trials << " at probability " << probability << ": tails "
                                     << at_most << " and " << at_least;
}

}  // namespace subquad::test
