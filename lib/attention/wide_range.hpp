// Wide range: long double as the arithmetic of inputs whose products leave the range of double.
#pragma once

#include <subquad/core/error.hpp>

#include <cstddef>
#include <limits>
#include <vector>

namespace subquad::attention {

using Wide = long double;

/// Throws Error(unsupported) unless products of four doubles stay inside the range of long double.
inline void require_wide_range() {
  require(std::numeric_limits<Wide>::max_exponent >= 4 * std::numeric_limits<double>::max_exponent,
          ErrorKind::unsupported,
          "attention: the logits may leave the range of the arithmetic, and long double is no wider here");
}

/// Rounds to the nearest number of a narrower type as IEEE 754 does: half a unit beyond its largest number and farther
/// it is an infinity (the bare conversion is undefined in C++ there).
template <class Scalar>
Scalar rounded(Wide x) {
  using Limits = std::numeric_limits<Scalar>;
  constexpr Wide kMax = Limits::max();
  constexpr Wide kOverflow = kMax + kMax * static_cast<Wide>(Limits::epsilon()) / 4;
  if (x >= kOverflow) return Limits::infinity();
  if (x <= -kOverflow) return -Limits::infinity();
  return static_cast<Scalar>(x > kMax ? kMax : x < -kMax ? -kMax : x);
}

/// <x, y>, added in order.
template <class Scalar>
Wide wide_dot(const Scalar* x, const Scalar* y, std::size_t size) {
  Wide sum = 0;
  for (std::size_t c = 0; c < size; ++c) sum += static_cast<Wide>(x[c]) * static_cast<Wide>(y[c]);
  return sum;
}

/// sums += factor x.
template <class Scalar>
void add_multiple(Wide factor, const Scalar* x, std::vector<Wide>& sums) {
  for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += factor * static_cast<Wide>(x[c]);
}

/// out = factor sums, rounded.
template <class Scalar>
void store_multiple(const std::vector<Wide>& sums, Wide factor, Scalar* out) {
  for (std::size_t c = 0; c < sums.size(); ++c) out[c] = rounded<Scalar>(sums[c] * factor);
}

}  // namespace subquad::attention
