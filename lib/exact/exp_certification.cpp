#include <subquad/core/error.hpp>
#include <subquad/exact/exp_bracket.hpp>
#include <subquad/exact/exp_certification.hpp>
#include <subquad/exact/exp_degree.hpp>
#include <subquad/exact/exp_minimax.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace subquad::exact {
namespace {

constexpr double kBitsPerNat = 1.4426950408889634;

void require_degree(int degree) {
  require(degree >= 0, ErrorKind::parameter, "degree {} is asked for, expected at least 0", degree);
  require(degree <= kMaxCertifiedDegree, ErrorKind::resource,
          "a certificate for degree {} is asked for, expected at most {}: it would cost degree^2 big integers", degree,
          kMaxCertifiedDegree);
}

std::int64_t bits_below(const Rational& x) {
  return std::max<std::int64_t>(0, -floor_log2(x));
}

std::int64_t bits_above(const Rational& x) {
  return x < 1 ? 0 : floor_log2(x) + 1;
}

/// Brackets of exp in the upper certificate: relative accuracy far below the slack, also where e^x is largest.
std::int64_t upper_bits(const ExpProblem& problem, const Rational& slack) {
  const double reach =
      problem.measure == ErrorMeasure::absolute ? std::max(0.0, to_double(problem.b, Rounding::up)) : 0.0;
  return 64 + bits_below(slack) + static_cast<std::int64_t>(kBitsPerNat * reach);
}

/// How narrow the critical intervals must be so that h^2 |Q'| e^-u stays below the slack.
int interval_log2_width(const ExpProblem& problem, const Polynomial& p, const Rational& slack) {
  const Polynomial marker = problem.measure == ErrorMeasure::relative ? p.derivative() - p : p.derivative();
  Rational steepness = marker.derivative().absolute_bound(problem.radius()) + 1;
  double bits = static_cast<double>(bits_above(steepness * (problem.b - problem.a) * (problem.b - problem.a)) +
                                    bits_below(slack));
  bits +=
      kBitsPerNat * (problem.measure == ErrorMeasure::relative ? std::max(0.0, -to_double(problem.a, Rounding::down))
                                                               : std::max(0.0, to_double(problem.b, Rounding::up)));
  return std::max(20, static_cast<int>(bits / 2) + 6);
}

std::int64_t rounding_bits(const ExpProblem& problem, const Polynomial& p, const Rational& slack) {
  Rational condition = p.absolute_bound(problem.radius());
  if (problem.measure == ErrorMeasure::relative) condition /= exp_bracket(problem.a, 16).lower();
  return std::max<std::int64_t>(2, floor_log2(Rational(4 * condition / slack)) + 1);
}

/// A polynomial that is known to be within `error` (not proved), rounded and proved to be within `error` + `slack`.
std::optional<CertifiedExpPolynomial> prove(const ExpProblem& problem, const MinimaxApproximation& best,
                                            const Rational& slack) {
  CertifiedExpPolynomial out;
  out.problem = problem;
  out.polynomial = round_coefficients(best.polynomial, rounding_bits(problem, best.polynomial, slack));
  if (out.polynomial.degree() != best.polynomial.degree()) return std::nullopt;
  const std::vector<Rational> starts(best.points.begin() + 1, best.points.end() - 1);
  const int log2_width = interval_log2_width(problem, out.polynomial, slack);
  out.intervals = critical_intervals(problem, out.polynomial, starts, log2_width);
  const ErrorBound bound = alternation_upper_bound(problem, out.polynomial, out.intervals, upper_bits(problem, slack));
  if (!bound.bound) return std::nullopt;
  out.error_bound = *bound.bound;
  return out;
}

/// The interval is one point: the constant nearest to e^a.
CertifiedExpPolynomial certified_at_point(const ExpProblem& problem, const Rational& epsilon) {
  const std::int64_t bits = upper_bits(problem, epsilon) + 4;
  const ExpBracket bracket = exp_bracket(problem.a, bits);
  CertifiedExpPolynomial out;
  out.problem = problem;
  out.polynomial = Polynomial{round_to_bits((bracket.lower() + bracket.upper()) / 2, bits, Rounding::nearest)};
  out.error_bound = *alternation_upper_bound(problem, out.polynomial, {}, bits).bound;
  return out;
}

/// The constant e^c, c the centre, if that is near enough: for short intervals no search is needed.
std::optional<CertifiedExpPolynomial> certified_constant(const ExpProblem& problem, const Rational& epsilon) {
  // E_0 is tanh R >= min(R, 1)/2, or (e^b - e^a)/2 >= e^a R: below that there is nothing to try.
  const Rational least = problem.measure == ErrorMeasure::relative
                             ? Rational(std::min(problem.half_width(), Rational(1)) / 2)
                             : Rational(problem.half_width() * exp_bracket(problem.a, 8).lower());
  if (epsilon < least) return std::nullopt;
  const std::int64_t bits = upper_bits(problem, epsilon) + 8;
  const ExpBracket bracket = exp_bracket(problem.centre(), bits);
  CertifiedExpPolynomial out;
  out.problem = problem;
  out.polynomial = Polynomial{round_to_bits((bracket.lower() + bracket.upper()) / 2, bits, Rounding::nearest)};
  const ErrorBound bound = alternation_upper_bound(problem, out.polynomial, {}, bits);
  if (!bound.bound || *bound.bound >= epsilon) return std::nullopt;
  out.error_bound = *bound.bound;
  return out;
}

/// Few bits suffice for points: an error of x costs the square of it.
std::vector<Rational> shortened(const ExpProblem& problem, const std::vector<Rational>& points, int bits) {
  const Rational unit = problem.half_width() * power_of_two(-bits);
  std::vector<Rational> out;
  for (const Rational& x : points) {
    const Rational steps((x - problem.a) / unit);
    out.push_back(problem.a + unit * Rational(floor_integer(Rational(steps + Rational(1, 2)))));
  }
  out.back() = problem.b;
  return out;
}

std::int64_t lower_bits(const ExpProblem& problem, const Rational& error) {
  const double reach =
      problem.measure == ErrorMeasure::absolute ? std::max(0.0, to_double(problem.b, Rounding::up)) : 0.0;
  return 80 + bits_below(error) + static_cast<std::int64_t>(kBitsPerNat * reach);
}

std::optional<CertifiedLowerBound> prove_lower(const ExpProblem& problem, int degree,
                                               const std::vector<Rational>& points, const Rational& error) {
  const ErrorBound bound = dual_lower_bound(problem, degree, points, lower_bits(problem, error));
  if (!bound.bound) return std::nullopt;
  return CertifiedLowerBound{degree, points, *bound.bound};
}

}  // namespace

std::optional<CertifiedExpPolynomial> certified_approximant(const ExpProblem& problem, const Rational& epsilon,
                                                            int degree, const Execution& execution) {
  validate(problem);
  validate_epsilon(problem, epsilon);
  require_degree(degree);
  if (problem.a == problem.b) return certified_at_point(problem, epsilon);
  // First a target a little below epsilon, which leaves slack for few bits; then as near as the exchange goes.
  for (const int log2_gap : {8, 24, 60}) {
    const Rational target = epsilon * (1 - power_of_two(-log2_gap / 2));
    const MinimaxApproximation best = minimax(problem, degree, log2_gap, target, execution);
    if (best.levelled_error >= epsilon) return std::nullopt;
    if (best.largest_error >= epsilon) continue;
    const auto proved = prove(problem, best, Rational(epsilon - best.largest_error));
    if (proved && proved->error_bound < epsilon) return proved;
  }
  return std::nullopt;
}

std::optional<CertifiedLowerBound> certified_lower_bound(const ExpProblem& problem, const Rational& epsilon, int degree,
                                                         const Execution& execution) {
  validate(problem);
  validate_epsilon(problem, epsilon);
  require_degree(degree);
  if (problem.a == problem.b) return std::nullopt;
  for (const int log2_gap : {8, 24, 60}) {
    const MinimaxApproximation best = minimax(problem, degree, log2_gap, epsilon, execution);
    if (best.levelled_error < epsilon && best.largest_error < epsilon) return std::nullopt;
    const int bits = std::max(log2_gap, 16) + 2 * static_cast<int>(std::ceil(std::log2(degree + 2.0)));
    const auto proved = prove_lower(problem, degree, shortened(problem, best.points, bits), epsilon);
    if (proved && proved->bound >= epsilon) return proved;
  }
  return std::nullopt;
}

CertifiedMinimalDegree certified_minimal_degree(const ExpProblem& problem, const Rational& epsilon,
                                                const Execution& execution) {
  validate(problem);
  validate_epsilon(problem, epsilon);
  CertifiedMinimalDegree out;
  out.epsilon = epsilon;
  if (problem.a == problem.b) {
    out.approximant = certified_at_point(problem, epsilon);
    return out;
  }
  if (auto constant = certified_constant(problem, epsilon)) {
    out.approximant = std::move(*constant);
    return out;
  }
  const int guess = predicted_degree(problem, epsilon);
  require_degree(guess);
  // Upwards from the guess to a degree that suffices, then downwards while a smaller one does.
  int degree = guess;
  std::optional<CertifiedExpPolynomial> approximant;
  while (!(approximant = certified_approximant(problem, epsilon, degree, execution))) {
    execution.check_stop();
    if (const auto lower = certified_lower_bound(problem, epsilon, degree, execution)) out.lower = lower;
    require(degree < guess + 8, ErrorKind::undecided, "no degree from {} to {} is proved to reach epsilon", guess,
            degree);
    ++degree;
  }
  while (degree > 0 && !(out.lower && out.lower->degree == degree - 1)) {
    execution.check_stop();
    if (auto lower = certified_lower_bound(problem, epsilon, degree - 1, execution)) {
      out.lower = std::move(lower);
      break;
    }
    auto smaller = certified_approximant(problem, epsilon, degree - 1, execution);
    require(smaller.has_value(), ErrorKind::undecided,
            "epsilon agrees with the least error of degree {} to more than 60 bits", degree - 1);
    approximant = std::move(smaller);
    --degree;
  }
  out.approximant = std::move(*approximant);
  return out;
}

MinimaxEnclosure enclose_minimax_error(const ExpProblem& problem, int degree, int digits, const Execution& execution) {
  validate(problem);
  require_degree(degree);
  require(problem.a < problem.b, ErrorKind::parameter, "the interval is the point {}, expected two different ends",
          problem.a.str());
  require(digits >= 1 && digits <= 100, ErrorKind::parameter, "{} digits are asked for, expected 1 to 100", digits);
  execution.check_stop();
  const int gap = static_cast<int>(std::ceil((digits + 2) * 3.3219280948873626));
  const MinimaxApproximation best = minimax(problem, degree, gap, std::nullopt, execution);
  auto upper = prove(problem, best, Rational(best.largest_error * power_of_two(-gap)));
  require(upper.has_value(), ErrorKind::undecided, "no upper certificate was found for degree {}", degree);
  execution.check_stop();
  const int point_bits = gap / 2 + 8 + 2 * static_cast<int>(std::ceil(std::log2(degree + 2.0)));
  auto lower = prove_lower(problem, degree, shortened(problem, best.points, point_bits),
                           Rational(best.levelled_error * power_of_two(-gap)));
  require(lower.has_value(), ErrorKind::undecided, "no lower certificate was found for degree {}", degree);
  return {std::move(*upper), std::move(*lower)};
}

}  // namespace subquad::exact
