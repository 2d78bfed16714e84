#include "remez_exchange-inl.hpp"

#include <subquad/core/error.hpp>
#include <subquad/exact/exp_approximants.hpp>
#include <subquad/exact/exp_bracket.hpp>
#include <subquad/exact/exp_degree.hpp>
#include <subquad/exact/exp_minimax.hpp>

#include <algorithm>
#include <cmath>

namespace subquad::exact {
namespace {

/// log2(e): a nat in bits.
constexpr double kBitsPerNat = 1.4426950408889634;

/// Calls f with a number type of MPFR of at least so many bits. Four sizes: each costs a compilation.
template <class F>
auto with_precision(std::int64_t bits, F&& f) {
  if (bits <= 332) return f(WorkingReal<100>{});
  if (bits <= 830) return f(WorkingReal<250>{});
  if (bits <= 1993) return f(WorkingReal<600>{});
  require(bits <= 3321, ErrorKind::resource, "the exchange would need {} bits, built in are up to 3321", bits);
  return f(WorkingReal<1000>{});
}

std::int64_t round_up(double x) {
  return static_cast<std::int64_t>(std::ceil(x));
}

double half_width(const ExpProblem& problem) {
  return to_double(problem.half_width(), Rounding::up);
}

/// P(x) = e^c P0(x - c).
Polynomial moved_from_centre(const Polynomial& p0, const Rational& centre, std::int64_t bits) {
  if (centre == 0) return p0;
  const ExpBracket bracket = exp_bracket(centre, bits);
  const Polynomial shift{-centre, 1};
  Polynomial p;
  const auto coefficients = p0.coefficients();
  for (std::size_t k = coefficients.size(); k-- > 0;) p = p * shift + Polynomial{coefficients[k]};
  return Rational((bracket.lower() + bracket.upper()) / 2) * p;
}

}  // namespace

MinimaxApproximation minimax(const ExpProblem& problem, int degree, int log2_gap, const std::optional<Rational>& target,
                             const Execution& execution) {
  validate(problem);
  require(degree >= 0, ErrorKind::parameter, "a polynomial of degree {} is asked for, expected at least 0", degree);
  require(problem.a < problem.b, ErrorKind::parameter, "the interval is the point {}, expected two different ends",
          problem.a.str());
  require(log2_gap >= 1, ErrorKind::parameter, "a gap of 2^-{} is asked for, expected at least 1", log2_gap);
  const double r = half_width(problem);
  const ExpProblem centred{problem.measure, -problem.half_width(), problem.half_width()};
  const double log2_error = predicted_log2_error(centred, degree);
  const std::int64_t bits = 64 + log2_gap + round_up(std::max(0.0, -log2_error) + 4.5 * r);
  const std::vector<Rational> start = alternation_points(centred, degree, 40);
  // In centred coordinates the absolute error is smaller by e^c.
  Rational scale = 1;
  if (problem.measure == ErrorMeasure::absolute) scale = exp_bracket(problem.centre(), 64).upper();
  std::optional<Rational> centred_target;
  if (target) centred_target = *target / scale;

  MinimaxApproximation result = with_precision(bits, [&](auto real) {
    return RemezExchange<decltype(real)>(centred, degree, start).run(log2_gap, centred_target, execution);
  });
  for (Rational& x : result.points) x += problem.centre();
  result.polynomial = moved_from_centre(result.polynomial, problem.centre(), bits);
  result.levelled_error *= scale;
  result.largest_error *= scale;
  return result;
}

std::vector<CriticalInterval> critical_intervals(const ExpProblem& problem, const Polynomial& p,
                                                 const std::vector<Rational>& starts, int log2_width) {
  validate(problem);
  if (p.degree() <= 0 || starts.size() != static_cast<std::size_t>(p.degree())) return {};
  // Monomials at 0 cancel down to e^x: the sum of magnitudes over the value says how many bits are lost.
  const Rational condition = p.absolute_bound(problem.radius());
  const double lost = static_cast<double>(std::max<std::int64_t>(0, floor_log2(condition + 1))) +
                      kBitsPerNat * std::max(0.0, -to_double(problem.a, Rounding::down));
  const std::int64_t bits = 64 + 2 * log2_width + round_up(lost);
  return with_precision(
      bits, [&](auto real) { return critical_intervals_near<decltype(real)>(problem, p, starts, log2_width); });
}

}  // namespace subquad::exact
