// The approximation problem: e^x by polynomials of degree g, in relative or absolute error, on a closed interval.
//
//   E_g = min over deg P <= g of max over x in [a, b] of |P(x) - e^x| / e^x   (relative)   or   |P(x) - e^x|
//   (absolute)
#pragma once

#include <subquad/exact/rational.hpp>

#include <string>
#include <string_view>

namespace subquad::exact {

/// How the distance of P(x) from e^x is measured.
enum class ErrorMeasure {
  relative,  ///< |P(x) - e^x| / e^x: what rows of attention need, as they are normalised afterwards
  absolute   ///< |P(x) - e^x|
};

/// "relative", "absolute".
std::string_view to_string(ErrorMeasure measure) noexcept;

/// A problem instance. E_g of the relative problem depends on b - a only; that of the absolute one is e^a times that on
/// [0, b-a].
struct ExpProblem {
  ErrorMeasure measure = ErrorMeasure::relative;
  Rational a;  ///< left end
  Rational b;  ///< right end, >= a

  Rational half_width() const { return (b - a) / 2; }
  Rational centre() const { return (a + b) / 2; }
  /// max(|a|, |b|).
  Rational radius() const;
  friend bool operator==(const ExpProblem&, const ExpProblem&) = default;
};

/// Throws Error(parameter) if a > b, and Error(resource) if |a| or |b| is beyond kMaxExpArgument.
void validate(const ExpProblem& problem);

/// Throws Error(parameter) unless 0 < epsilon, and epsilon < 1 in the relative problem (where P = 0 has error 1).
void validate_epsilon(const ExpProblem& problem, const Rational& epsilon);

/// "relative error on [-1, 1]".
std::string describe(const ExpProblem& problem);

}  // namespace subquad::exact
