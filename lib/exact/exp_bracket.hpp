// Rational brackets of e^x, by integers only: the arithmetic that certificates about exp stand on.
//
// Method  x is divided by 2^k until |x| < 1/2 or so, the Taylor series is summed in integers with floors below and
//         ceilings above and an explicit bound of its tail, and the bracket is squared k times, rounded outward.
//         Negative x by the reciprocal. No floating point, no MPFR. Best polynomials are searched with MPFR and
//         judged with these brackets; Taylor's polynomials are made with them too.
#pragma once

#include <subquad/exact/rational.hpp>

#include <cstdint>

namespace subquad::exact {

/// low 2^exponent <= e^x <= high 2^exponent, 0 < low <= high.
struct ExpBracket {
  Integer low;
  Integer high;
  std::int64_t exponent = 0;

  Rational lower() const;
  Rational upper() const;
};

/// Largest |x| that exp_bracket accepts.
inline constexpr std::int64_t kMaxExpArgument = std::int64_t{1} << 24;

/// Returns a bracket of e^x with high - low <= low 2^-bits; for x = 0 it is the number 1 exactly.
///
/// Ranges  |x| <= kMaxExpArgument, 1 <= bits <= 10^6, else Error(resource)
/// Cost    O(sqrt-free) about bits/log(bits) multiplications of (bits + 64)-bit integers, plus log2|x| + 8 squarings
ExpBracket exp_bracket(const Rational& x, std::int64_t bits);

}  // namespace subquad::exact
