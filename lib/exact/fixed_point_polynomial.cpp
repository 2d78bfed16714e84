#include "fixed_point_polynomial.hpp"

#include <gmp.h>

#include <utility>

namespace subquad::exact {

FixedPointPolynomial::FixedPointPolynomial(const Polynomial& p, const Rational& radius, std::int64_t bits) {
  // In t = x/2^r with |t| <= 1, an error of one unit in a step stays at most one unit to the end.
  log2_radius_ = radius > 0 ? floor_log2(radius) + 1 : 0;
  const auto roundings = static_cast<std::int64_t>(6 * (p.degree() + 2));
  scale_ = bits + 1 + static_cast<std::int64_t>(msb(Integer(roundings)));
  std::int64_t shift = scale_;
  for (const Rational& c : p.coefficients()) {
    const Rational scaled = c * power_of_two(shift);
    coefficients_.push_back({floor_integer(scaled), denominator(scaled) == 1});
    shift += log2_radius_;
  }
}

Enclosure FixedPointPolynomial::operator()(const Rational& x) const {
  const Integer top = numerator(x);
  const Integer bottom = denominator(x);
  // x/2^r = top/(bottom 2^r). A denominator that is a power of two is shifted out.
  const bool dyadic = lsb(bottom) == msb(bottom);
  const std::int64_t shift = log2_radius_ + (dyadic ? static_cast<std::int64_t>(lsb(bottom)) : 0);
  Integer sum = 0;
  std::int64_t lost = 0;  // units: every rounding costs less than one, and |t| <= 1 does not magnify it
  for (std::size_t k = coefficients_.size(); k-- > 0;) {
    sum *= top;
    mpz_t& z = sum.backend().data();
    if (shift < 0) mpz_mul_2exp(z, z, static_cast<mp_bitcnt_t>(-shift));
    if (!dyadic && sum != 0) {
      mpz_fdiv_q(z, z, bottom.backend().data());
      ++lost;
    }
    if (shift > 0) {
      if (mpz_divisible_2exp_p(z, static_cast<mp_bitcnt_t>(shift)) == 0) ++lost;
      mpz_fdiv_q_2exp(z, z, static_cast<mp_bitcnt_t>(shift));
    }
    sum += coefficients_[k].units;
    if (!coefficients_[k].exact) ++lost;
  }
  const Rational unit = power_of_two(-scale_);
  return {Rational(sum - lost) * unit, Rational(sum + lost) * unit};
}

}  // namespace subquad::exact
