#include <subquad/core/error.hpp>
#include <subquad/exact/rational.hpp>

#include <gmp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace subquad::exact {
namespace {

using boost::multiprecision::denominator;
using boost::multiprecision::numerator;

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Digits to a number. GMP reads in base 10 explicitly: a leading zero would mean octal otherwise.
Integer digits_to_integer(std::string_view digits) {
  Integer value;
  mpz_set_str(value.backend().data(), std::string(digits).c_str(), 10);
  return value;
}

Integer power_of_ten(std::uint64_t exponent) {
  Integer value;
  mpz_ui_pow_ui(value.backend().data(), 10, exponent);
  return value;
}

/// The decimal exponent "e-12" behind the mantissa; nothing if malformed or beyond the limit.
std::optional<std::int64_t> parse_exponent(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (!all_digits(text)) return std::nullopt;
  std::int64_t value = 0;
  for (char c : text) {
    value = value * 10 + (c - '0');
    if (value > kMaxDecimalExponent) return std::nullopt;
  }
  return negative ? -value : value;
}

std::optional<Rational> parse_fraction(std::string_view numerator_text, std::string_view denominator_text) {
  if (!all_digits(numerator_text) || !all_digits(denominator_text)) return std::nullopt;
  const Integer denominator_value = digits_to_integer(denominator_text);
  if (denominator_value == 0) return std::nullopt;
  return Rational(digits_to_integer(numerator_text), denominator_value);
}

std::optional<Rational> parse_decimal(std::string_view word) {
  std::int64_t exponent = 0;
  if (const auto e = word.find_first_of("eE"); e != std::string_view::npos) {
    const auto parsed = parse_exponent(word.substr(e + 1));
    if (!parsed) return std::nullopt;
    exponent = *parsed;
    word = word.substr(0, e);
  }
  std::string digits;
  if (const auto point = word.find('.'); point != std::string_view::npos) {
    const std::string_view fraction = word.substr(point + 1);
    digits.append(word.substr(0, point)).append(fraction);
    exponent -= static_cast<std::int64_t>(fraction.size());
  } else {
    digits = std::string(word);
  }
  if (!all_digits(digits)) return std::nullopt;
  const Integer mantissa = digits_to_integer(digits);
  if (exponent >= 0) return Rational(mantissa * power_of_ten(static_cast<std::uint64_t>(exponent)));
  return Rational(mantissa, power_of_ten(static_cast<std::uint64_t>(-exponent)));
}

Integer divide(const Integer& a, const Integer& b, Rounding rounding) {
  Integer quotient;
  if (rounding == Rounding::down) {
    mpz_fdiv_q(quotient.backend().data(), a.backend().data(), b.backend().data());
  } else if (rounding == Rounding::up) {
    mpz_cdiv_q(quotient.backend().data(), a.backend().data(), b.backend().data());
  } else if (a >= 0) {
    quotient = (2 * a + b) / (2 * b);  // b > 0; truncation is floor here
  } else {
    quotient = -((-2 * a + b) / (2 * b));
  }
  return quotient;
}

/// x 2^bits, as a quotient rounded in the given direction.
Integer scaled(const Rational& x, std::int64_t bits, Rounding rounding) {
  const Integer shift = Integer(1) << static_cast<std::size_t>(std::abs(bits));
  return bits >= 0 ? divide(numerator(x) * shift, denominator(x), rounding)
                   : divide(numerator(x), denominator(x) * shift, rounding);
}

Rounding away_mirrored(Rounding rounding) {
  return rounding == Rounding::down ? Rounding::up : rounding == Rounding::up ? Rounding::down : Rounding::nearest;
}

/// floor(log10(x)) for x > 0.
std::int64_t floor_log10(const Rational& x) {
  // log10(2) = 0.30102999566..; the estimate is off by at most one, and the comparison below mends that.
  auto exponent = static_cast<std::int64_t>(std::floor(static_cast<double>(floor_log2(x)) * 0.30102999566398120));
  const auto power = [](std::int64_t e) {
    return e >= 0 ? Rational(power_of_ten(static_cast<std::uint64_t>(e)))
                  : Rational(Integer(1), power_of_ten(static_cast<std::uint64_t>(-e)));
  };
  while (power(exponent + 1) <= x) ++exponent;
  while (power(exponent) > x) --exponent;
  return exponent;
}

}  // namespace

std::optional<Rational> parse_rational(std::string_view word) {
  bool negative = false;
  if (!word.empty() && (word.front() == '+' || word.front() == '-')) {
    negative = word.front() == '-';
    word.remove_prefix(1);
  }
  const auto slash = word.find('/');
  const std::optional<Rational> value = slash == std::string_view::npos
                                            ? parse_decimal(word)
                                            : parse_fraction(word.substr(0, slash), word.substr(slash + 1));
  if (!value || !negative) return value;
  return Rational(-*value);
}

Rational from_double(double value) {
  require(std::isfinite(value), ErrorKind::parameter, "a rational number is asked for {}, expected a finite number",
          value);
  Rational result;
  mpq_set_d(result.backend().data(), value);
  return result;
}

std::int64_t floor_log2(const Rational& x) {
  require(x != 0, ErrorKind::parameter, "log2 of zero is asked for, expected a number other than zero");
  const Integer a = abs(Integer(numerator(x)));
  const Integer b = denominator(x);
  const auto guess = static_cast<std::int64_t>(msb(a)) - static_cast<std::int64_t>(msb(b));
  // a/b lies in (2^(guess-1), 2^(guess+1)).
  const bool below =
      guess >= 0 ? a < (b << static_cast<std::size_t>(guess)) : (a << static_cast<std::size_t>(-guess)) < b;
  return below ? guess - 1 : guess;
}

Integer floor_integer(const Rational& x) {
  return divide(numerator(x), denominator(x), Rounding::down);
}

Integer ceil_integer(const Rational& x) {
  return divide(numerator(x), denominator(x), Rounding::up);
}

Rational power_of_two(std::int64_t exponent) {
  require(std::abs(exponent) <= (std::int64_t{1} << 30), ErrorKind::resource,
          "2^{} is asked for, expected an exponent within 2^30", exponent);
  const Integer power = Integer(1) << static_cast<std::size_t>(std::abs(exponent));
  return exponent >= 0 ? Rational(power) : Rational(Integer(1), power);
}

Rational round_to_multiple(const Rational& x, std::int64_t bits, Rounding rounding) {
  return Rational(scaled(x, bits, rounding)) * power_of_two(-bits);
}

Rational round_to_bits(const Rational& x, std::int64_t bits, Rounding rounding) {
  require(bits >= 1, ErrorKind::parameter, "rounding to {} bits is asked for, expected at least 1", bits);
  if (x == 0) return x;
  return round_to_multiple(x, bits - 1 - floor_log2(x), rounding);
}

std::string to_decimal(const Rational& x, int digits, Rounding rounding) {
  require(digits >= 1 && digits <= 10000, ErrorKind::parameter, "{} decimal digits are asked for, expected 1 to 10000",
          digits);
  if (x == 0) return "0";
  const bool negative = x < 0;
  const Rational magnitude = abs(x);
  const Rounding direction = negative ? away_mirrored(rounding) : rounding;
  std::int64_t exponent = floor_log10(magnitude);
  const std::int64_t shift = digits - 1 - exponent;
  const Integer ten = power_of_ten(static_cast<std::uint64_t>(std::abs(shift)));
  const Integer mantissa = shift >= 0 ? divide(numerator(magnitude) * ten, denominator(magnitude), direction)
                                      : divide(numerator(magnitude), denominator(magnitude) * ten, direction);
  std::string text = mantissa.str();
  if (text.size() > static_cast<std::size_t>(digits)) {  // 9.99.. was rounded up to 10.0..
    text.pop_back();
    ++exponent;
  }
  return fmt::format("{}{}{}{}{}", negative ? "-" : "", text.substr(0, 1), digits > 1 ? "." : "", text.substr(1),
                     exponent != 0 ? fmt::format("e{}", exponent) : "");
}

double to_double(const Rational& x, Rounding rounding) {
  if (x == 0) return 0.0;
  const double nearest = x.convert_to<double>();
  if (rounding == Rounding::nearest) return nearest;
  double result = nearest;
  if (std::isinf(result)) result = std::copysign(std::numeric_limits<double>::max(), result);
  // The conversion may round either way: step until the double is on the right side and its neighbour is not.
  const double infinity = std::numeric_limits<double>::infinity();
  if (rounding == Rounding::down) {
    while (from_double(result) > x) {
      result = std::nextafter(result, -infinity);
      if (std::isinf(result)) return result;
    }
    for (double next = std::nextafter(result, infinity); std::isfinite(next) && from_double(next) <= x;
         next = std::nextafter(next, infinity)) {
      result = next;
    }
  } else {
    while (from_double(result) < x) {
      result = std::nextafter(result, infinity);
      if (std::isinf(result)) return result;
    }
    for (double next = std::nextafter(result, -infinity); std::isfinite(next) && from_double(next) >= x;
         next = std::nextafter(next, -infinity)) {
      result = next;
    }
  }
  return result;
}

Integer binomial(std::uint64_t n, std::uint64_t k) {
  if (k > n) return 0;
  Integer result;
  Integer top(n);
  mpz_bin_ui(result.backend().data(), top.backend().data(), std::min(k, n - k));
  return result;
}

}  // namespace subquad::exact
