#include "degree_experiment.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/line_reader.hpp>
#include <subquad/core/stopwatch.hpp>
#include <subquad/exact/exp_certification.hpp>
#include <subquad/verifiers/exp_polynomial.hpp>

namespace subquad::drivers {
namespace {

using exact::ErrorMeasure;
using exact::ExpProblem;
using exact::Rational;
using exact::Rounding;

Rational parse(const std::string& word) {
  const auto value = exact::parse_rational(word);
  require(value.has_value(), ErrorKind::parameter, "degrees: {}, expected an exact number such as 0.25, 12 or 1e-6",
          subquad::quoted(word));
  return *value;
}

ExpProblem problem_of(DegreeTable table, const Rational& size) {
  require(size >= 0, ErrorKind::parameter, "degrees: B = {}, expected at least 0", size.str());
  if (table == DegreeTable::relative) return {ErrorMeasure::relative, -size, size};
  if (table == DegreeTable::absolute) return {ErrorMeasure::absolute, 0, size};
  return {ErrorMeasure::absolute, -size, 0};
}

DegreeCell cell(DegreeTable table, const std::string& size, const std::string& epsilon_text,
                const Execution& execution) {
  const ExpProblem problem = problem_of(table, parse(size));
  const Rational epsilon = parse(epsilon_text);
  const Stopwatch watch;
  const exact::CertifiedMinimalDegree m = certified_minimal_degree(problem, epsilon, execution);
  DegreeCell result{size, epsilon_text, m.degree(), "", "", false, watch.seconds()};
  result.error_bound = to_decimal(m.approximant.error_bound, 10, Rounding::up);
  verifiers::ExpPolynomialClaim claim;
  claim.problem = problem;
  claim.polynomial = m.approximant.polynomial;
  claim.epsilon = epsilon;
  claim.intervals = m.approximant.intervals;
  if (m.lower) {
    claim.lower = verifiers::ExpLowerClaim{m.lower->degree, m.lower->bound, m.lower->points};
    result.lower_bound = to_decimal(m.lower->bound, 10, Rounding::down);
  }
  result.certified = verify_exp_polynomial(claim).minimal;
  return result;
}

}  // namespace

DegreeOptions with_defaults(DegreeOptions options) {
  if (options.sizes.empty()) {
    switch (options.table) {
      case DegreeTable::relative:
        options.sizes = {"0.25", "0.5", "1", "2", "3", "4", "6", "9", "12", "16", "25"};
        break;
      case DegreeTable::absolute:
        options.sizes = {"1", "2", "4", "8", "16", "32"};
        break;
      case DegreeTable::decaying:
        options.sizes = {"1", "2", "4", "8", "16", "32", "64"};
        break;
    }
  }
  if (options.epsilons.empty())
    options.epsilons = {"1e-1", "1e-2", "1e-3", "1e-4", "1e-6", "1e-8", "1e-10", "1e-12", "1e-16"};
  return options;
}

std::vector<DegreeCell> run_degrees(const DegreeOptions& given, const Execution& execution) {
  const DegreeOptions options = with_defaults(given);
  const ProgressScope progress(execution, "degrees", options.sizes.size() * options.epsilons.size());
  std::vector<DegreeCell> cells;
  for (const std::string& size : options.sizes) {
    for (const std::string& epsilon : options.epsilons) {
      execution.check_stop();
      cells.push_back(cell(options.table, size, epsilon, execution));
      progress.advance(1);
    }
  }
  return cells;
}

}  // namespace subquad::drivers
