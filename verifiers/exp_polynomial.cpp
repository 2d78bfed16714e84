#include <subquad/core/error.hpp>
#include <subquad/verifiers/exp_polynomial.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace subquad::verifiers {
namespace {

using exact::ErrorBound;
using exact::ErrorMeasure;
using exact::Rational;
using exact::Rounding;

std::string show(const Rational& x, Rounding rounding = Rounding::nearest) {
  return to_decimal(x, 10, rounding);
}

/// Bits that tell errors of size epsilon apart, also where e^x is largest.
std::int64_t starting_bits(const exact::ExpProblem& problem, const Rational& epsilon) {
  std::int64_t bits = 80 + std::max<std::int64_t>(0, -exact::floor_log2(epsilon));
  if (problem.measure == ErrorMeasure::absolute && problem.b > 0) {
    bits += exact::ceil_integer(Rational(problem.b * 3 / 2)).convert_to<std::int64_t>();  // log2 e < 3/2
  }
  return bits;
}

/// A point where the error is certainly epsilon or more; looked for where the certificate itself points to, and
/// between.
std::optional<Rational> find_witness(const ExpPolynomialClaim& claim, std::int64_t bits) {
  std::vector<Rational> places{claim.problem.a, claim.problem.b};
  for (const exact::CriticalInterval& interval : claim.intervals) {
    places.push_back(interval.low);
    places.push_back(interval.high);
  }
  constexpr int kSteps = 64;
  for (int i = 1; i < kSteps; ++i) {
    places.push_back(claim.problem.a + (claim.problem.b - claim.problem.a) * Rational(i, kSteps));
  }
  for (const Rational& x : places) {
    if (x < claim.problem.a || x > claim.problem.b) continue;
    if (error_at(claim.problem, claim.polynomial, x, bits).low >= claim.epsilon) return x;
  }
  return std::nullopt;
}

Report false_at(const ExpPolynomialClaim& claim, const Rational& x, std::int64_t bits) {
  const exact::PointError error = error_at(claim.problem, claim.polynomial, x, bits);
  return {Verdict::refuted, fmt::format("false: the error at {} is at least {}, expected less than {}", show(x),
                                        show(error.low, Rounding::down), show(claim.epsilon))};
}

void judge_by_alternation(const ExpPolynomialClaim& claim, const ExpPolynomialOptions& options,
                          ExpPolynomialReport& report) {
  const std::int64_t first = std::min(starting_bits(claim.problem, claim.epsilon), options.max_bits);
  ErrorBound bound;
  for (std::int64_t bits = first; bits <= options.max_bits; bits *= 2) {
    bound = alternation_upper_bound(claim.problem, claim.polynomial, claim.intervals, bits);
    if (bound.bound && *bound.bound < claim.epsilon) {
      report.proved_upper = bound.bound;
      report.upper = {Verdict::certified,
                      fmt::format("max error <= {} < {}", show(*bound.bound, Rounding::up), show(claim.epsilon))};
      return;
    }
    report.witness = find_witness(claim, bits);
    if (report.witness) {
      report.upper = false_at(claim, *report.witness, bits);
      return;
    }
    if (bits > 4 * first) break;  // what two doublings do not mend is no matter of precision
  }
  report.proved_upper = bound.bound;
  const std::string why =
      bound.bound ? fmt::format("the certificate gives max error <= {} only", show(*bound.bound, Rounding::up))
                  : bound.obstacle;
  const Verdict verdict = first * 4 > options.max_bits ? Verdict::undecided : Verdict::refuted;
  report.upper = {verdict, "not proved: " + why};
}

void judge_by_bernstein(const ExpPolynomialClaim& claim, const ExpPolynomialOptions& options,
                        ExpPolynomialReport& report) {
  // The claim is strict: a little less than epsilon is proved.
  const Rational goal = claim.epsilon * (1 - exact::power_of_two(-64));
  const exact::BernsteinOutcome outcome =
      bernstein_upper_bound(claim.problem, claim.polynomial, goal, options.max_bernstein_cells);
  if (outcome.proved) {
    report.proved_upper = goal;
    report.upper = {Verdict::certified, fmt::format("max error < {} by {} boxes", show(claim.epsilon), outcome.cells)};
    return;
  }
  const std::int64_t bits = starting_bits(claim.problem, claim.epsilon);
  if (outcome.witness && error_at(claim.problem, claim.polynomial, *outcome.witness, bits).low >= claim.epsilon) {
    report.witness = outcome.witness;
    report.upper = false_at(claim, *outcome.witness, bits);
    return;
  }
  report.upper = {Verdict::undecided, "not proved: " + outcome.obstacle};
}

void judge_lower(const ExpPolynomialClaim& claim, const ExpPolynomialOptions& options, ExpPolynomialReport& report) {
  const ExpLowerClaim& lower = *claim.lower;
  if (lower.bound <= 0 || lower.degree < 0) {
    report.lower = {Verdict::refuted,
                    fmt::format("the lower claim is for degree {} and bound {}, expected a degree of at least 0 and a "
                                "positive bound",
                                lower.degree, show(lower.bound))};
    return;
  }
  const std::int64_t first = std::min(starting_bits(claim.problem, lower.bound), options.max_bits);
  ErrorBound bound;
  for (std::int64_t bits = first; bits <= options.max_bits; bits *= 2) {
    bound = dual_lower_bound(claim.problem, lower.degree, lower.points, bits);
    if (bound.bound && *bound.bound >= lower.bound) {
      report.proved_lower = bound.bound;
      report.lower = {Verdict::certified, fmt::format("no polynomial of degree {} is closer than {}", lower.degree,
                                                      show(*bound.bound, Rounding::down))};
      return;
    }
    if (bits > 4 * first) break;
  }
  report.proved_lower = bound.bound;
  const std::string why = bound.bound ? fmt::format("the points give E_{} >= {} only, expected {}", lower.degree,
                                                    show(*bound.bound, Rounding::down), show(lower.bound))
                                      : bound.obstacle;
  const Verdict verdict = first * 4 > options.max_bits ? Verdict::undecided : Verdict::refuted;
  report.lower = {verdict, "not proved: " + why};
}

}  // namespace

ExpPolynomialReport verify_exp_polynomial(const ExpPolynomialClaim& claim, const ExpPolynomialOptions& options) {
  validate(claim.problem);
  validate_epsilon(claim.problem, claim.epsilon);
  ExpPolynomialReport report;
  const Rational reach = claim.problem.radius() * 3 / 2;  // e^R has less than 3R/2 bits
  if (reach > options.max_bits) {
    report.upper = {Verdict::undecided,
                    fmt::format("not looked at: the interval reaches to {}, where e^x needs more than {} bits",
                                show(claim.problem.radius()), options.max_bits)};
    report.lower = {Verdict::undecided, report.upper.reason};
    report.verdict = Verdict::undecided;
    return report;
  }
  if (claim.proof == ExpUpperProof::alternation) {
    judge_by_alternation(claim, options, report);
  } else {
    judge_by_bernstein(claim, options, report);
  }
  report.lower = {Verdict::certified, ""};
  if (claim.lower) judge_lower(claim, options, report);
  report.verdict = combine(report.upper.verdict, report.lower.verdict);
  if (report.verdict == Verdict::certified) {
    const int degree = std::max(claim.polynomial.degree(), 0);
    report.minimal =
        degree == 0 || (claim.lower && claim.lower->degree == degree - 1 && *report.proved_lower >= claim.epsilon);
  }
  return report;
}

}  // namespace subquad::verifiers
