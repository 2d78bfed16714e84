// Tolerance: the additive error eps_a that a kernel may have, as an exact rational number given in decimal.
//
// Notes  Exact, because a promised gap of 1/2 +- eps_a must not rest on how "0.1" is rounded to binary.
#pragma once

#include <subquad/exact/interval.hpp>

#include <string>
#include <string_view>

namespace subquad::reductions {

/// A rational number in (0, 1/2). Regular; two are equal iff their values are.
class Tolerance {
 public:
  /// 0.1: a tenth, far above what float32 kernels lose.
  Tolerance() : Tolerance("0.1") {}
  /// Reads a decimal such as "0.1", ".25" or "1e-3", exactly. Throws Error(parameter) for anything else, for a value
  /// outside (0, 1/2), for more than 1000 characters and for an exponent beyond +-1000.
  explicit Tolerance(std::string_view decimal);

  const std::string& text() const noexcept { return text_; }
  const exact::Rational& value() const noexcept { return value_; }

  /// Returns a precision at which half_log_rho() is far from zero however small the tolerance is: 192 bits, and two
  /// more for every bit of the numerator and the denominator.
  int precision_bits() const;
  /// Encloses h = ln((1 + 2 eps_a) / (1 - 2 eps_a)) = (ln rho)/2, the logit of 1/2 + eps_a, at precision_bits(). h > 0.
  exact::Interval half_log_rho() const;
  /// Returns a double that is at most ln eps_a: what Attention::Instance::log_tolerance stores.
  double log_lower_bound() const;

  friend bool operator==(const Tolerance& x, const Tolerance& y) { return x.value_ == y.value_; }

 private:
  std::string text_;
  exact::Rational value_;
};

}  // namespace subquad::reductions
