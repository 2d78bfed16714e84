// Fixed-point polynomials: enclosures of p(x) by integers of bounded length, for bounds that need many values
// (private).
//
// An exact value of degree g at a point with b bits has g b bits; a certificate of degree 400 would handle numbers of a
// quarter of a million bits. Here Horner's rule runs in units of 2^-scale, with a count of the units that roundings may
// have cost.
#pragma once

#include <subquad/exact/polynomial.hpp>
#include <subquad/exact/rational.hpp>

#include <cstdint>
#include <vector>

namespace subquad::exact {

/// An enclosure of a real number by rationals.
struct Enclosure {
  Rational low;
  Rational high;
};

/// p on [-radius, radius], to about 2^-bits.
class FixedPointPolynomial {
 public:
  /// radius >= 0, bits >= 0.
  FixedPointPolynomial(const Polynomial& p, const Rational& radius, std::int64_t bits);

  /// Encloses p(x), |x| <= radius, with high - low <= 2^-bits; a point if no rounding was needed. The caller keeps x
  /// inside.
  Enclosure operator()(const Rational& x) const;

 private:
  struct Coefficient {
    Integer units;  ///< floor(c_k 2^(k log2_radius) 2^scale)
    bool exact;     ///< nothing was cut off
  };
  std::vector<Coefficient> coefficients_;
  std::int64_t log2_radius_ = 0;  ///< |x| <= 2^log2_radius
  std::int64_t scale_ = 0;
};

}  // namespace subquad::exact
