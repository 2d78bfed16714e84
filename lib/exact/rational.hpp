// Rationals: exact numbers over GMP, their text, and rounding to few bits or digits in a stated direction.
#pragma once

#include <boost/multiprecision/gmp.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace subquad::exact {

/// An exact integer. GMP through Boost.Multiprecision.
using Integer = boost::multiprecision::mpz_int;
/// An exact rational number, always in lowest terms with a positive denominator. GMP through Boost.Multiprecision.
using Rational = boost::multiprecision::mpq_rational;

/// Where to round.
enum class Rounding { down, up, nearest };

/// Largest decimal exponent (in absolute value) that parse_rational accepts: 10^100000 has 40 kB.
inline constexpr std::int64_t kMaxDecimalExponent = 100'000;

/// Parses the whole word exactly: "3", "-2/7", "0.125", "1e-12", "2.5E3". Empty if it is none of these, if the
/// denominator is zero, or if a decimal exponent is beyond kMaxDecimalExponent. No infinities, no NaN, no blanks.
std::optional<Rational> parse_rational(std::string_view word);

/// Returns the double exactly. Throws Error(parameter) for NaN and infinities.
Rational from_double(double value);

/// Returns floor(log2(|x|)). Throws Error(parameter) for x = 0.
std::int64_t floor_log2(const Rational& x);

/// Returns the largest integer <= x (the least one >= x).
Integer floor_integer(const Rational& x);
Integer ceil_integer(const Rational& x);

/// Returns 2^exponent, also for negative exponents. |exponent| <= 2^30, else Error(resource).
Rational power_of_two(std::int64_t exponent);

/// Returns the multiple of 2^-bits that lies at x, or beside it in the given direction. Nearest: ties away from zero.
Rational round_to_multiple(const Rational& x, std::int64_t bits, Rounding rounding);

/// Returns the number with at most `bits` significant bits that lies at x, or beside it in the given direction. bits >=
/// 1.
Rational round_to_bits(const Rational& x, std::int64_t bits, Rounding rounding);

/// Returns x in scientific notation, "6.218178890454855e-5", with exactly `digits` significant digits, rounded in the
/// given direction (down: towards -infinity). Zero is "0". digits in [1, 10000].
std::string to_decimal(const Rational& x, int digits, Rounding rounding);

/// Returns x rounded to a double in the given direction; overflows to +-inf or the largest double as the direction
/// says.
double to_double(const Rational& x, Rounding rounding);

/// Returns the binomial coefficient C(n, k), 0 if k > n. Cost O(min(k, n-k)) multiplications.
Integer binomial(std::uint64_t n, std::uint64_t k);

}  // namespace subquad::exact
