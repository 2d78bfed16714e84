// Attention enclosure: outputs of attention with values in {0, 1}, enclosed by plain MPFR with directed rounding.
//
// Independent of lib/exact and of every kernel: the tests' own reference.
#pragma once

#include <subquad/problems/attention.hpp>

#include <mpfr.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

namespace subquad::test {

/// A number with both of its roundings. Copying is not needed and not possible.
class Enclosed {
 public:
  Enclosed() {
    mpfr_init2(low_, kBits);
    mpfr_init2(high_, kBits);
    mpfr_set_zero(low_, 1);
    mpfr_set_zero(high_, 1);
  }
  ~Enclosed() {
    mpfr_clear(low_);
    mpfr_clear(high_);
  }
  Enclosed(const Enclosed&) = delete;
  Enclosed& operator=(const Enclosed&) = delete;

  void add_exp_of(mpfr_srcptr exact) {
    mpfr_t term;
    mpfr_init2(term, kBits);
    mpfr_exp(term, exact, MPFR_RNDD);
    mpfr_add(low_, low_, term, MPFR_RNDD);
    mpfr_exp(term, exact, MPFR_RNDU);
    mpfr_add(high_, high_, term, MPFR_RNDU);
    mpfr_clear(term);
  }

  static constexpr mpfr_prec_t kBits = 384;
  mpfr_t low_;
  mpfr_t high_;
};

/// Enclosures of one output u = N/(N + Z) and of the logarithms that the proofs speak about.
struct RowEnclosure {
  double low = 0, high = 0;                      ///< of u
  double odds_log_low = 0, odds_log_high = 0;    ///< of ln(N/Z), the logit of u; infinite where N or Z is 0
  double log_low = 0, log_high = 0;              ///< of ln u; -inf where N is 0
  double log_total_low = 0, log_total_high = 0;  ///< of ln(N + Z), the paper's ln D_ii
};

namespace internal {

inline double lower(mpfr_srcptr x) {
  return mpfr_get_d(x, MPFR_RNDD);
}
inline double upper(mpfr_srcptr x) {
  return mpfr_get_d(x, MPFR_RNDU);
}

/// ln(a) - ln(b) rounded one way; a, b >= 0 not both 0.
inline double log_ratio(mpfr_srcptr a, mpfr_srcptr b, mpfr_rnd_t direction) {
  if (mpfr_zero_p(a)) return -std::numeric_limits<double>::infinity();
  if (mpfr_zero_p(b)) return std::numeric_limits<double>::infinity();
  mpfr_t x;
  mpfr_t y;
  mpfr_init2(x, Enclosed::kBits);
  mpfr_init2(y, Enclosed::kBits);
  mpfr_log(x, a, direction);
  mpfr_log(y, b, direction == MPFR_RNDD ? MPFR_RNDU : MPFR_RNDD);
  mpfr_sub(x, x, y, direction);
  const double result = mpfr_get_d(x, direction);
  mpfr_clear(x);
  mpfr_clear(y);
  return result;
}

}  // namespace internal

/// Encloses the first output column of row i. v's entries are 0 or 1. Throws if a logit is not exact in 384 bits.
inline RowEnclosure enclose_row(const problems::Attention::Instance& instance, Eigen::Index i) {
  Enclosed numerator;
  Enclosed others;
  mpfr_t logit;
  mpfr_t term;
  mpfr_init2(logit, Enclosed::kBits);
  mpfr_init2(term, Enclosed::kBits);
  for (Eigen::Index j = 0; j < instance.k.rows(); ++j) {
    mpfr_set_zero(logit, 1);
    int inexact = 0;
    for (Eigen::Index c = 0; c < instance.k.cols(); ++c) {
      inexact |= mpfr_set_d(term, instance.q(i, c), MPFR_RNDN);
      inexact |= mpfr_mul_d(term, term, instance.k(j, c), MPFR_RNDN);
      inexact |= mpfr_add(logit, logit, term, MPFR_RNDN);
    }
    inexact |= mpfr_mul_d(logit, logit, instance.scale, MPFR_RNDN);
    if (inexact != 0) throw std::logic_error("a logit needs more than 384 bits");
    const double value = instance.v(j, 0);
    if (value != 0.0 && value != 1.0) throw std::logic_error("a value is neither 0 nor 1");
    (value == 1.0 ? numerator : others).add_exp_of(logit);
  }
  RowEnclosure row;
  Enclosed total;
  mpfr_add(total.low_, numerator.low_, others.low_, MPFR_RNDD);
  mpfr_add(total.high_, numerator.high_, others.high_, MPFR_RNDU);
  // u grows with N and falls with Z.
  mpfr_add(term, numerator.low_, others.high_, MPFR_RNDU);
  mpfr_div(logit, numerator.low_, term, MPFR_RNDD);
  row.low = internal::lower(logit);
  row.log_low = internal::log_ratio(numerator.low_, term, MPFR_RNDD);
  mpfr_add(term, numerator.high_, others.low_, MPFR_RNDD);
  mpfr_div(logit, numerator.high_, term, MPFR_RNDU);
  row.high = internal::upper(logit);
  row.log_high = internal::log_ratio(numerator.high_, term, MPFR_RNDU);
  row.odds_log_low = internal::log_ratio(numerator.low_, others.high_, MPFR_RNDD);
  row.odds_log_high = internal::log_ratio(numerator.high_, others.low_, MPFR_RNDU);
  mpfr_set_ui(term, 1, MPFR_RNDN);
  row.log_total_low = internal::log_ratio(total.low_, term, MPFR_RNDD);
  row.log_total_high = internal::log_ratio(total.high_, term, MPFR_RNDU);
  mpfr_clear(logit);
  mpfr_clear(term);
  return row;
}

}  // namespace subquad::test
