#include <subquad/core/error.hpp>
#include <subquad/exact/exp_bracket.hpp>
#include <subquad/exact/exp_problem.hpp>

#include <algorithm>

namespace subquad::exact {

std::string_view to_string(ErrorMeasure measure) noexcept {
  return measure == ErrorMeasure::relative ? "relative" : "absolute";
}

Rational ExpProblem::radius() const {
  return std::max(Rational(abs(a)), Rational(abs(b)));
}

void validate(const ExpProblem& problem) {
  require(problem.a <= problem.b, ErrorKind::parameter, "the interval [{}, {}] is empty, expected the left end first",
          problem.a.str(), problem.b.str());
  require(problem.radius() <= kMaxExpArgument, ErrorKind::resource,
          "the interval reaches beyond {}, where e^x is not bracketed", kMaxExpArgument);
}

void validate_epsilon(const ExpProblem& problem, const Rational& epsilon) {
  require(epsilon > 0, ErrorKind::parameter, "epsilon is {}, expected more than 0",
          to_decimal(epsilon, 6, Rounding::nearest));
  require(problem.measure == ErrorMeasure::absolute || epsilon < 1, ErrorKind::parameter,
          "epsilon is {}, expected less than 1: the polynomial 0 has relative error 1",
          to_decimal(epsilon, 6, Rounding::nearest));
}

std::string describe(const ExpProblem& problem) {
  return std::string(to_string(problem.measure)) + " error on [" + problem.a.str() + ", " + problem.b.str() + "]";
}

}  // namespace subquad::exact
