// Binomial bounds: what a count of failures says about a probability. Exact tails, no normal approximation.
#pragma once

#include <cstdint>

namespace subquad {

/// False-alarm probability of every statistical decision of the library.
inline constexpr double kFalseAlarm = 1e-9;

/// Returns P[Bin(trials, p) >= count]: how likely so many failures are if each has probability p. p in [0, 1], count <=
/// trials, else Error(parameter). Relative error near 1e-13 (Boost.Math's incomplete beta function: an estimate).
double binomial_upper_tail(std::uint64_t count, std::uint64_t trials, double p);
/// Returns P[Bin(trials, p) <= count]. As above.
double binomial_lower_tail(std::uint64_t count, std::uint64_t trials, double p);

/// Clopper & Pearson (1934): the least (largest) p for which `count` or more (fewer) failures in `trials` have
/// probability `level`. The true p is below the upper (above the lower) limit except with probability `level`. trials
/// >= 1.
double clopper_pearson_lower(std::uint64_t count, std::uint64_t trials, double level);
double clopper_pearson_upper(std::uint64_t count, std::uint64_t trials, double level);

/// The decision about "fails with probability at most delta".
struct FailureRate {
  std::uint64_t failures = 0;
  std::uint64_t trials = 0;
  double delta = 0.0;        ///< the claimed bound
  double tail = 1.0;         ///< P[Bin(trials, delta) >= failures]
  bool refuted = false;      ///< tail < kFalseAlarm
  double upper_limit = 1.0;  ///< Clopper-Pearson at kFalseAlarm
  double power = 1.0;        ///< the least failure rate that so many trials refute with probability >= 0.999; 1 if none
};
/// Decides. trials >= 1, failures <= trials, delta in [0, 1], else Error(parameter).
FailureRate decide_failure_rate(std::uint64_t failures, std::uint64_t trials, double delta);

}  // namespace subquad
