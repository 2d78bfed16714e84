#include "kepler_points.hpp"

#include <subquad/core/error.hpp>
#include <subquad/exact/exp_approximants.hpp>
#include <subquad/exact/exp_bracket.hpp>

#include <algorithm>

namespace subquad::exact {
namespace {

/// Larger degrees would need node spacings below what the points carry, and hours.
constexpr int kMaxConstructedDegree = 2000;

void require_degree(const ExpProblem& problem, int degree) {
  validate(problem);
  require(degree >= 0, ErrorKind::parameter, "a polynomial of degree {} is asked for, expected at least 0", degree);
  require(degree <= kMaxConstructedDegree, ErrorKind::resource,
          "a polynomial of degree {} is asked for, expected at most {}", degree, kMaxConstructedDegree);
  require(problem.a < problem.b, ErrorKind::parameter, "the interval is the point {}, expected two different ends",
          problem.a.str());
}

Rational exp_middle(const Rational& x, std::int64_t bits) {
  const ExpBracket bracket = exp_bracket(x, bits);
  return (bracket.lower() + bracket.upper()) / 2;
}

Polynomial interpolate_exp(const std::vector<Rational>& nodes, std::int64_t bits) {
  std::vector<Rational> values;
  for (const Rational& x : nodes) values.push_back(exp_middle(x, bits));
  return interpolate(nodes, values);
}

/// I_k(x) for k = 0 .. degree: sums of positive terms (x/2)^(2j+k) / (j! (j+k)!), in rationals rounded to `bits` bits
/// as they grow.
std::vector<Rational> modified_bessel(const Rational& x, int degree, std::int64_t bits) {
  const Rational half = x / 2;
  const Rational square = round_to_bits(half * half, bits, Rounding::nearest);
  std::vector<Rational> result;
  Rational first = 1;  // (x/2)^k / k!
  for (int k = 0; k <= degree; ++k) {
    if (k > 0) first = round_to_bits(first * half / k, bits, Rounding::nearest);
    Rational sum = first;
    Rational term = first;
    for (int j = 1; term * power_of_two(bits) > sum; ++j) {
      term = round_to_bits(term * square / (static_cast<std::int64_t>(j) * (j + k)), bits, Rounding::nearest);
      sum += term;
    }
    result.push_back(sum);
  }
  return result;
}

}  // namespace

std::vector<Rational> interpolation_nodes(const ExpProblem& problem, int degree, int node_bits) {
  require_degree(problem, degree);
  return kepler_points(problem, degree, 0.5, degree + 1, node_bits);
}

std::vector<Rational> alternation_points(const ExpProblem& problem, int degree, int node_bits) {
  require_degree(problem, degree);
  return kepler_points(problem, degree, 0.0, degree + 2, node_bits);
}

Polynomial node_interpolation(const ExpProblem& problem, int degree, std::int64_t bits) {
  return interpolate_exp(interpolation_nodes(problem, degree), bits);
}

Polynomial taylor(const Rational& centre, int degree, std::int64_t bits) {
  require(degree >= 0 && degree <= kMaxConstructedDegree, ErrorKind::parameter,
          "a Taylor polynomial of degree {} is asked for, expected 0 to {}", degree, kMaxConstructedDegree);
  const Polynomial shifted{-centre, 1};  // x - centre
  const Rational value = exp_middle(centre, bits);
  Polynomial p;
  for (int k = degree; k >= 0; --k) p = p * shifted * Polynomial{Rational(1) / (k + 1)} + Polynomial{1};
  return value * p;
}

Polynomial chebyshev_truncation(const ExpProblem& problem, int degree, std::int64_t bits) {
  require_degree(problem, degree);
  const std::int64_t working = bits + 16 + 2 * ceil_integer(problem.half_width()).convert_to<std::int64_t>();
  std::vector<Rational> coefficients = modified_bessel(problem.half_width(), degree, working);
  const Rational factor = exp_middle(problem.centre(), working);
  for (std::size_t k = 0; k < coefficients.size(); ++k) coefficients[k] *= k == 0 ? factor : Rational(2 * factor);
  return from_chebyshev(coefficients, problem.a, problem.b);
}

Polynomial chebyshev_interpolation(const ExpProblem& problem, int degree, std::int64_t bits) {
  require_degree(problem, degree);
  const ExpProblem uniform{ErrorMeasure::absolute, problem.a, problem.b};
  return interpolate_exp(kepler_points(uniform, degree, 0.5, degree + 1, 24), bits);
}

}  // namespace subquad::exact
