// Working reals: MPFR numbers of fixed precision for searches whose results are proved elsewhere (private).
#pragma once

#include <subquad/exact/rational.hpp>

#include <boost/multiprecision/mpfr.hpp>

#include <vector>

namespace subquad::exact {

/// A number with at least `Digits` decimal digits.
template <unsigned Digits>
using WorkingReal =
    boost::multiprecision::number<boost::multiprecision::mpfr_float_backend<Digits>, boost::multiprecision::et_off>;

/// Rounds to the nearest Real.
template <class Real>
Real to_real(const Rational& x) {
  Real result;
  mpfr_set_q(result.backend().data(), x.backend().data(), MPFR_RNDN);
  return result;
}

/// Exactly the number that `x` is: a dyadic fraction.
template <class Real>
Rational to_rational(const Real& x) {
  if (x == 0) return 0;
  Integer mantissa;
  const mpfr_exp_t exponent = mpfr_get_z_2exp(mantissa.backend().data(), x.backend().data());
  return Rational(mantissa) * power_of_two(exponent);
}

/// sum_k c_k x^k.
template <class Real>
Real horner(const std::vector<Real>& coefficients, const Real& x) {
  Real sum = 0;
  for (std::size_t k = coefficients.size(); k-- > 0;) sum = sum * x + coefficients[k];
  return sum;
}

/// Coefficients of the derivative.
template <class Real>
std::vector<Real> differentiate(const std::vector<Real>& coefficients) {
  std::vector<Real> result;
  for (std::size_t k = 1; k < coefficients.size(); ++k) result.push_back(coefficients[k] * static_cast<unsigned>(k));
  return result;
}

}  // namespace subquad::exact
