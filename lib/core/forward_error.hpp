// Forward error: the two quantities that proved bounds of floating-point sums are made of (Higham, Accuracy and
// Stability of Numerical Algorithms, chapters 2 and 3).
//
// Bounds are themselves computed in doubles: sums of products of non-negative numbers, fewer than 2^10 roundings of
// relative size 2^-53 each between two multiplications by kEvaluationSlack.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

namespace subquad {

/// Pays for the rounding of a bound's own evaluation.
inline constexpr double kEvaluationSlack = 1.0 + 0x1p-40;
/// Largest relative error of one rounding to nearest.
inline constexpr double kUnitRoundoff64 = 0x1p-53;
/// The same for float32.
inline constexpr double kUnitRoundoff32 = 0x1p-24;

/// Upper bound of gamma_m = m u/(1 - m u), up to kEvaluationSlack; infinite where it is not defined (m u > 1/4). NaN
/// gives infinity.
inline double gamma_bound(double roundings, double unit_roundoff = kUnitRoundoff64) {
  const double product = roundings * unit_roundoff;
  return product <= 0.25 ? product / (1.0 - product) : std::numeric_limits<double>::infinity();
}

/// Upper bound of the Euclidean norm of `size` numbers, underflow of squares included; infinite on overflow.
template <class Scalar>
double norm_bound(const Scalar* entries, std::size_t size) {
  double squares = 0.0;
  for (std::size_t t = 0; t < size; ++t) squares += static_cast<double>(entries[t]) * static_cast<double>(entries[t]);
  const double roundings = static_cast<double>(size) + 1.0;
  return std::sqrt((squares + static_cast<double>(size) * 0x1p-1074) * (1.0 + 2.0 * gamma_bound(roundings))) *
         kEvaluationSlack;
}

}  // namespace subquad
