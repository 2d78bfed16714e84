#include <subquad/core/error.hpp>
#include <subquad/exact/exp_bracket.hpp>

#include <gmp.h>

#include <algorithm>

namespace subquad::exact {
namespace {

using boost::multiprecision::denominator;
using boost::multiprecision::numerator;

Integer shift_down(const Integer& x, std::int64_t bits) {
  Integer result;
  mpz_fdiv_q_2exp(result.backend().data(), x.backend().data(), static_cast<mp_bitcnt_t>(bits));
  return result;
}

Integer shift_up(const Integer& x, std::int64_t bits) {
  Integer result;
  mpz_cdiv_q_2exp(result.backend().data(), x.backend().data(), static_cast<mp_bitcnt_t>(bits));
  return result;
}

Integer divide_up(const Integer& a, const Integer& b) {
  Integer result;
  mpz_cdiv_q(result.backend().data(), a.backend().data(), b.backend().data());
  return result;
}

/// Cuts the bracket to `bits` bits, outward.
void shorten(ExpBracket& bracket, std::int64_t bits) {
  const std::int64_t surplus = static_cast<std::int64_t>(msb(bracket.high)) + 1 - bits;
  if (surplus <= 0) return;
  bracket.low = shift_down(bracket.low, surplus);
  bracket.high = shift_up(bracket.high, surplus);
  bracket.exponent += surplus;
}

/// Bracket of e^y for 0 <= y < 1/2, y in [y_low, y_high] 2^-p: Taylor with floors below and ceilings above.
ExpBracket taylor_bracket(const Integer& y_low, const Integer& y_high, std::int64_t p) {
  const Integer one = Integer(1) << static_cast<std::size_t>(p);
  Integer low = one;
  Integer high = one;
  Integer term_low = one;
  Integer term_high = one;
  for (unsigned k = 1; term_high > 1; ++k) {
    term_low = shift_down(term_low * y_low, p) / k;
    term_high = divide_up(shift_up(term_high * y_high, p), k);
    low += term_low;
    high += term_high;
  }
  // The terms behind the last one, t_K <= 1 unit, sum to at most t_K (y + y^2 + ..)/(K+1) <= 1 unit as y < 1/2.
  return {low, high + 1, -p};
}

/// e^x for x > 0.
ExpBracket positive_bracket(const Rational& x, std::int64_t bits) {
  // Divide by 2^halvings to get below 2^-8: the series is short then; each squaring doubles the relative error.
  const std::int64_t halvings = std::max<std::int64_t>(floor_log2(x) + 9, 0);
  // Roundings: at most p/8 terms of a unit each, doubled by each squaring, and a unit more a squaring.
  const std::int64_t p = bits + halvings + 10 + static_cast<std::int64_t>(msb(Integer(bits + halvings + 1)));
  const Integer shifted = numerator(x) << static_cast<std::size_t>(p);
  const Integer divisor = denominator(x) << static_cast<std::size_t>(halvings);
  ExpBracket bracket = taylor_bracket(shifted / divisor, divide_up(shifted, divisor), p);
  for (std::int64_t i = 0; i < halvings; ++i) {
    bracket.low *= bracket.low;
    bracket.high *= bracket.high;
    bracket.exponent *= 2;
    shorten(bracket, p + 8);
  }
  return bracket;
}

ExpBracket reciprocal(const ExpBracket& bracket) {
  const std::int64_t p = 2 * (static_cast<std::int64_t>(msb(bracket.high)) + 1);
  const Integer one = Integer(1) << static_cast<std::size_t>(p);
  return {one / bracket.high, divide_up(one, bracket.low), -p - bracket.exponent};
}

}  // namespace

Rational ExpBracket::lower() const {
  return Rational(low) * power_of_two(exponent);
}

Rational ExpBracket::upper() const {
  return Rational(high) * power_of_two(exponent);
}

ExpBracket exp_bracket(const Rational& x, std::int64_t bits) {
  require(bits >= 1 && bits <= 1'000'000, ErrorKind::resource,
          "a bracket of exp with {} bits is asked for, expected 1 to 1000000", bits);
  require(abs(x) <= kMaxExpArgument, ErrorKind::resource, "exp of a number beyond {} is asked for (about 2^{})",
          kMaxExpArgument, x == 0 ? 0 : floor_log2(x));
  if (x == 0) return {1, 1, 0};
  ExpBracket bracket = x > 0 ? positive_bracket(x, bits) : reciprocal(positive_bracket(-x, bits + 2));
  shorten(bracket, bits + 8);
  require(bracket.high - bracket.low <= (bracket.low >> static_cast<std::size_t>(bits)), ErrorKind::internal,
          "the bracket of exp is wider than its {} bits", bits);
  return bracket;
}

}  // namespace subquad::exact
