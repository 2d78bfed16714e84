// Powers of two with a proved error, scalar: 2^(y - shift) for an integer shift.
#pragma once

#include <cmath>

namespace subquad::attention {

/// Relative error of proved_exp2 (lemma 2 of docs/proofs/attention_output.md: Taylor's polynomial of degree 11 on
/// |f| <= 1/2, by Horner's rule, fused or not).
inline constexpr double kProvedExp2Error = 0x1p-45;
/// Results below 2^-1000 are replaced by 0.
inline constexpr double kProvedExp2Smallest = 0x1p-1000;

/// Returns 2^(y - shift) within kProvedExp2Error, or 0 if it is below 2^-999. |y| <= 2^50, shift an integer, y <=
/// shift.
inline double proved_exp2(double y, double shift) {
  constexpr double kCoefficients[] = {0x1p+0,
                                      0x1.62e42fefa39efp-1,
                                      0x1.ebfbdff82c58fp-3,
                                      0x1.c6b08d704a0cp-5,
                                      0x1.3b2ab6fba4e77p-7,
                                      0x1.5d87fe78a6731p-10,
                                      0x1.430912f86c787p-13,
                                      0x1.ffcbfc588b0c7p-17,
                                      0x1.62c0223a5c824p-20,
                                      0x1.b5253d395e7c4p-24,
                                      0x1.e4cf5158b8ecap-28,
                                      0x1.e8cac7351bb25p-32};
  const double nearest = std::nearbyint(y);
  if (nearest - shift < -1000.0) return 0.0;
  const double f = y - nearest;
  double p = kCoefficients[11];
  for (int i = 10; i >= 0; --i) p = p * f + kCoefficients[i];
  return std::ldexp(p, static_cast<int>(nearest - shift));
}

}  // namespace subquad::attention
