#include <subquad/core/error.hpp>
#include <subquad/core/line_reader.hpp>
#include <subquad/reductions/tolerance.hpp>

#include <algorithm>
#include <cstdint>

namespace subquad::reductions {

namespace {

using exact::Interval;
using exact::Rational;

constexpr std::size_t kMaxCharacters = 1000;
constexpr std::int64_t kMaxExponent = 1000;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Reads digits from the front of `text` into `digits`; returns how many.
std::size_t take_digits(std::string_view& text, std::string& digits) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  digits.append(text.substr(0, count));
  text.remove_prefix(count);
  return count;
}

Rational parse_decimal(std::string_view decimal) {
  const auto malformed = [&](std::string_view why) {
    fail(ErrorKind::parameter, "tolerance {} {}, expected a decimal number in (0, 1/2) such as 0.1", quoted(decimal),
         why);
  };
  if (decimal.size() > kMaxCharacters) malformed("is longer than 1000 characters");
  std::string_view rest = decimal;
  if (!rest.empty() && rest.front() == '+') rest.remove_prefix(1);
  std::string digits;
  std::size_t integer_digits = take_digits(rest, digits);
  std::size_t fraction_digits = 0;
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    fraction_digits = take_digits(rest, digits);
  }
  if (integer_digits + fraction_digits == 0) malformed("is not a number");
  std::int64_t exponent = 0;
  if (!rest.empty() && (rest.front() == 'e' || rest.front() == 'E')) {
    rest.remove_prefix(1);
    bool negative = false;
    if (!rest.empty() && (rest.front() == '+' || rest.front() == '-')) {
      negative = rest.front() == '-';
      rest.remove_prefix(1);
    }
    std::string exponent_digits;
    if (take_digits(rest, exponent_digits) == 0) malformed("has an empty exponent");
    for (const char c : exponent_digits) exponent = std::min<std::int64_t>(exponent * 10 + (c - '0'), kMaxExponent + 1);
    if (exponent > kMaxExponent) malformed("has an exponent beyond 1000");
    if (negative) exponent = -exponent;
  }
  if (!rest.empty()) malformed("is not a number");

  // A leading zero would make GMP read octal.
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  exponent -= static_cast<std::int64_t>(fraction_digits);
  const Count mantissa(digits);
  const Count power = boost::multiprecision::pow(Count(10), static_cast<unsigned>(exponent < 0 ? -exponent : exponent));
  return exponent < 0 ? Rational(mantissa, power) : Rational(Count(mantissa * power), Count(1));
}

std::uint64_t bit_length(const Count& x) {
  return x == 0 ? 0 : boost::multiprecision::msb(x) + 1;
}

}  // namespace

Tolerance::Tolerance(std::string_view decimal) : text_(decimal), value_(parse_decimal(decimal)) {
  require(value_ > 0 && 2 * value_ < 1, ErrorKind::parameter, "tolerance {} is outside (0, 1/2)", quoted(decimal));
}

int Tolerance::precision_bits() const {
  const std::uint64_t bits = bit_length(Count(numerator(value_))) + bit_length(Count(denominator(value_)));
  return 192 + 2 * static_cast<int>(bits);
}

Interval Tolerance::half_log_rho() const {
  const Rational odds = (1 + 2 * value_) / (1 - 2 * value_);
  return log(Interval::from_rational(odds, precision_bits()));
}

double Tolerance::log_lower_bound() const {
  return log(Interval::from_rational(value_, precision_bits())).low();
}

}  // namespace subquad::reductions
