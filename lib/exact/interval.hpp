// Intervals: rigorous enclosures of real numbers, with directed rounding (MPFI, Revol & Rouillier 2005, over MPFR).
//
// Semantics  an Interval is a non-empty set [low, high] of reals, low < +inf and high > -inf, ends may be infinite.
//            Containment: for all x in X and y in Y, the real number x op y lies in X op Y, whatever the precision.
//            Where no useful bound exists (0 * unbounded, division by an interval around 0) the result is [-inf, +inf].
// Precision  of the ends, in bits, fixed per object. x op y has the larger precision of both; x op= y keeps that of x.
// Notes      MPFR's exponents go to 2^(+-2^30), so that e^(+-10^8) is an ordinary number here.
#pragma once

#include <subquad/core/count.hpp>
#include <subquad/exact/rational.hpp>

#include <mpfi.h>

#include <cstdint>
#include <string>

namespace subquad::exact {

/// What is known about the order of two enclosed numbers.
enum class Comparison {
  less,     ///< certainly x < y
  equal,    ///< certainly x = y: both are the same single point
  greater,  ///< certainly x > y
  unknown   ///< the enclosures overlap
};

/// A closed interval of reals. A value type; a moved-from object may only be assigned to or destroyed.
class Interval {
 public:
  static constexpr int kMinPrecisionBits = 2;
  static constexpr int kMaxPrecisionBits = 1'000'000;
  static constexpr int kDefaultPrecisionBits = 128;

  /// Makes [0, 0]. precision_bits in [kMinPrecisionBits, kMaxPrecisionBits], else Error(parameter).
  explicit Interval(int precision_bits = kDefaultPrecisionBits);
  Interval(const Interval& other);
  Interval(Interval&& other) noexcept;
  Interval& operator=(const Interval& other);  ///< takes over the precision too
  Interval& operator=(Interval&& other) noexcept;
  ~Interval();

  /// Encloses a finite double: exactly, if precision_bits >= 53. Throws Error(parameter) for NaN and infinities.
  static Interval from_double(double value, int precision_bits = kDefaultPrecisionBits);
  /// Encloses an integer, exactly if it has at most precision_bits bits.
  static Interval from_integer(std::int64_t value, int precision_bits = kDefaultPrecisionBits);
  /// Encloses a rational number within one unit in the last place of each end.
  static Interval from_rational(const Rational& value, int precision_bits = kDefaultPrecisionBits);
  /// Encloses [low, high]; low = -inf and high = +inf are allowed. Throws Error(parameter) for NaN, for low > high (the
  /// empty set), and for [inf, inf] or [-inf, -inf], which hold no real number.
  static Interval between(double low, double high, int precision_bits = kDefaultPrecisionBits);
  /// All reals.
  static Interval entire(int precision_bits = kDefaultPrecisionBits);

  int precision_bits() const noexcept;

  /// The ends, rounded outward to double: the interval lies within [low(), high()]. May be infinite.
  double low() const;
  double high() const;
  /// Returns an upper bound of high - low (infinite if an end is). Zero exactly for single points.
  double width() const;
  /// Returns the single point at the upper (lower) end. Throws Error(parameter) if that end is infinite.
  Interval upper_end() const;
  Interval lower_end() const;

  bool is_point() const;
  bool is_bounded() const;
  /// Returns whether the number (the whole of the other interval) lies inside. NaN lies nowhere.
  bool contains(double value) const;
  bool contains(const Rational& value) const;
  bool contains(const Interval& other) const;

  Interval& operator+=(const Interval& other);
  Interval& operator-=(const Interval& other);
  Interval& operator*=(const Interval& other);
  /// Throws Error(parameter) if the divisor is exactly zero; a divisor that merely contains zero gives entire().
  Interval& operator/=(const Interval& other);
  /// Adds x y without rounding the product: one step of a dot product of doubles. x, y finite, else Error(parameter).
  Interval& add_product(double x, double y);

  /// Returns "[low, high]" with `digits` significant decimal digits, rounded outward.
  std::string to_string(int digits = 17) const;

  friend Interval operator+(const Interval& x, const Interval& y);
  friend Interval operator-(const Interval& x, const Interval& y);
  friend Interval operator*(const Interval& x, const Interval& y);
  friend Interval operator/(const Interval& x, const Interval& y);
  friend Interval operator-(const Interval& x);

  friend Interval abs(const Interval& x);
  friend Interval exp(const Interval& x);
  /// Natural logarithm. Throws Error(parameter) unless the interval lies in [0, inf) and is not the point 0;
  /// an interval that begins at 0 gives low = -inf.
  friend Interval log(const Interval& x);
  /// Throws Error(parameter) for an interval with negative numbers.
  friend Interval sqrt(const Interval& x);
  /// x^exponent; x^0 = 1. Each end is within one rounding of the tightest enclosure.
  friend Interval pow(const Interval& x, std::uint64_t exponent);
  /// Enclosures of max(x, y) and min(x, y).
  friend Interval max(const Interval& x, const Interval& y);
  friend Interval min(const Interval& x, const Interval& y);
  /// The smallest interval around both.
  friend Interval hull(const Interval& x, const Interval& y);
  /// The numbers in both. Throws Error(internal) if there are none: two enclosures of one number always meet.
  friend Interval intersect(const Interval& x, const Interval& y);

  /// Returns the order of the two numbers as far as it is certain.
  friend Comparison compare(const Interval& x, const Interval& y);
  /// Returns true if certainly x <= y; false says nothing.
  friend bool certainly_at_most(const Interval& x, const Interval& y);

 private:
  void settle();

  mpfi_t value_;
  bool owns_ = true;
};

}  // namespace subquad::exact
