#include "fixed_point_polynomial.hpp"

#include <subquad/core/error.hpp>
#include <subquad/exact/exp_bracket.hpp>
#include <subquad/exact/exp_error_bounds.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace subquad::exact {
namespace {

/// No sign is looked for with more bits than this.
constexpr std::int64_t kMostBits = 4'000'000;

Enclosure enclose_exp(const Rational& x, std::int64_t bits) {
  const ExpBracket bracket = exp_bracket(x, bits);
  return {bracket.lower(), bracket.upper()};
}

Enclosure magnitude(const Rational& low, const Rational& high) {
  if (low >= 0) return {low, high};
  if (high <= 0) return {-high, -low};
  return {Rational(0), std::max(Rational(-low), high)};
}

/// |p - e| or |p/e - 1| for enclosed p and e > 0.
Enclosure error_enclosure(ErrorMeasure measure, const Enclosure& p, const Enclosure& e) {
  if (measure == ErrorMeasure::absolute) return magnitude(p.low - e.high, p.high - e.low);
  return magnitude(p.low / (p.low >= 0 ? e.high : e.low) - 1, p.high / (p.high >= 0 ? e.low : e.high) - 1);
}

/// Bits behind the point that a value needs to be known to a relative 2^-bits of e^x wherever x >= a.
std::int64_t value_bits(const ExpProblem& problem, std::int64_t bits) {
  const Rational below =
      problem.a < 0 && problem.measure == ErrorMeasure::relative ? Rational(-problem.a) : Rational(0);
  return bits + 4 + ceil_integer(Rational(below * 3 / 2)).convert_to<std::int64_t>();  // log2 e < 3/2
}

/// How much |f| can be between two points where f is enclosed.
Rational largest_magnitude(const Enclosure& f) {
  return std::max(Rational(abs(f.low)), Rational(abs(f.high)));
}

/// What the alternation argument looks at: P, the function whose sign changes mark critical points, and a bound of its
/// slope.
class ErrorCurve {
 public:
  ErrorCurve(const ExpProblem& problem, const Polynomial& p, std::int64_t bits)
      : measure_(problem.measure),
        radius_(problem.radius()),
        bits_(bits),
        value_bits_(value_bits(problem, bits)),
        marker_polynomial_(marker(problem, p)),
        value_(p, radius_, value_bits_),
        marker_(marker_polynomial_, radius_, 2 * value_bits_) {
    if (problem.measure == ErrorMeasure::relative) {
      marker_slope_bound_ = marker_polynomial_.derivative().absolute_bound(radius_);
    } else {
      marker_slope_bound_ = marker_polynomial_.derivative().absolute_bound(radius_) + enclose_exp(problem.b, 8).high;
    }
  }

  Enclosure error(const Rational& x) const { return error_enclosure(measure_, value_(x), enclose_exp(x, bits_)); }

  /// The marker at x, P' - P or P' - e^x, with its sign proved if that is possible: 0 stands for unknown.
  std::pair<Enclosure, int> marker_at(const Rational& x) const {
    Enclosure found = marker_enclosure(marker_(x), x, bits_);
    for (std::int64_t factor = 4; proved_sign(found) == 0 && factor <= 64 && factor * value_bits_ <= kMostBits;
         factor *= 4) {
      const FixedPointPolynomial finer(marker_polynomial_, radius_, factor * value_bits_);
      found = marker_enclosure(finer(x), x, std::min<std::int64_t>(factor * bits_, 1'000'000));
    }
    // A root at the very end of an interval is not told apart by any precision: 0 is the truth there.
    return {found, proved_sign(found)};
  }

  /// An upper bound of the error anywhere in [u, v].
  Rational error_within(const CriticalInterval& interval, const Enclosure& marker_low,
                        const Enclosure& marker_high) const {
    const Rational h = interval.high - interval.low;
    const Rational steepest =
        std::max(largest_magnitude(marker_low), largest_magnitude(marker_high)) + marker_slope_bound_ * h;
    Rational drift = h * steepest;
    if (measure_ == ErrorMeasure::relative) drift /= enclose_exp(interval.low, 16).low;
    return error(interval.low).high + drift;
  }

 private:
  static Polynomial marker(const ExpProblem& problem, const Polynomial& p) {
    return problem.measure == ErrorMeasure::relative ? p.derivative() - p : p.derivative();
  }

  static int proved_sign(const Enclosure& x) { return x.low > 0 ? 1 : x.high < 0 ? -1 : 0; }

  Enclosure marker_enclosure(const Enclosure& polynomial, const Rational& x, std::int64_t bits) const {
    if (measure_ == ErrorMeasure::relative) return polynomial;
    const Enclosure e = enclose_exp(x, bits);
    return {polynomial.low - e.high, polynomial.high - e.low};
  }

  ErrorMeasure measure_;
  Rational radius_;
  std::int64_t bits_;
  std::int64_t value_bits_;
  Polynomial marker_polynomial_;
  FixedPointPolynomial value_;
  FixedPointPolynomial marker_;
  Rational marker_slope_bound_;
};

ErrorBound obstacle(std::string text) {
  return {std::nullopt, std::move(text)};
}

std::string show(const Rational& x) {
  return to_decimal(x, 10, Rounding::nearest);
}

}  // namespace

PointError error_at(const ExpProblem& problem, const Polynomial& p, const Rational& x, std::int64_t bits) {
  const Rational radius = std::max(problem.radius(), Rational(abs(x)));
  ExpProblem here = problem;
  here.a = std::min(here.a, x);
  Enclosure error = error_enclosure(problem.measure, FixedPointPolynomial(p, radius, value_bits(here, bits))(x),
                                    enclose_exp(x, bits));
  return {std::move(error.low), std::move(error.high)};
}

ErrorBound alternation_upper_bound(const ExpProblem& problem, const Polynomial& p,
                                   std::span<const CriticalInterval> intervals, std::int64_t bits) {
  validate(problem);
  const auto expected = static_cast<std::size_t>(std::max(p.degree(), 0));
  if (intervals.size() != expected) {
    return obstacle(
        fmt::format("{} critical intervals, expected {}: as many as the degree", intervals.size(), expected));
  }
  const ErrorCurve curve(problem, p, bits);
  Rational largest = std::max(curve.error(problem.a).high, curve.error(problem.b).high);
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const CriticalInterval& interval = intervals[i];
    if (interval.low < problem.a || interval.high > problem.b || !(interval.low < interval.high)) {
      return obstacle(
          fmt::format("critical interval {} is [{}, {}], expected one inside [{}, {}] with its ends in order", i,
                      show(interval.low), show(interval.high), show(problem.a), show(problem.b)));
    }
    if (i > 0 && interval.low < intervals[i - 1].high) {
      return obstacle(fmt::format("critical intervals {} and {} overlap or are out of order", i - 1, i));
    }
    const auto [marker_low, sign_low] = curve.marker_at(interval.low);
    const auto [marker_high, sign_high] = curve.marker_at(interval.high);
    if (sign_low * sign_high >= 0) {
      return obstacle(fmt::format("no proved change of sign in critical interval {}, [{}, {}]", i, show(interval.low),
                                  show(interval.high)));
    }
    largest = std::max(largest, curve.error_within(interval, marker_low, marker_high));
  }
  // Two open signs at a shared end would be one root counted twice, but a proved sign is a root of neither interval.
  return {round_to_bits(largest, 128, Rounding::up), ""};
}

ErrorBound dual_lower_bound(const ExpProblem& problem, int degree, std::span<const Rational> points,
                            std::int64_t bits) {
  validate(problem);
  require(degree >= 0, ErrorKind::parameter, "a lower bound for degree {} is asked for, expected at least 0", degree);
  const std::size_t n = points.size();
  if (n != static_cast<std::size_t>(degree) + 2) {
    return obstacle(fmt::format("{} points, expected {}: the degree and 2", n, degree + 2));
  }
  Integer common = 1;
  for (const Rational& x : points) {
    if (x < problem.a || x > problem.b) {
      return obstacle(fmt::format("the point {} lies outside [{}, {}]", show(x), show(problem.a), show(problem.b)));
    }
    common = lcm(common, Integer(denominator(x)));
  }
  std::vector<Integer> scaled;  // the points times their common denominator: the factor cancels in the quotient
  for (const Rational& x : points) scaled.push_back(numerator(x) * (common / denominator(x)));

  // Each |w_i| and each |w_i| e^x_i as low 2^exponent .. high 2^exponent with `bits` bits.
  struct Term {
    bool negative;
    Integer low, high;          // |w_i|
    Integer low_exp, high_exp;  // |w_i| e^x_i
    std::int64_t exponent, exponent_exp;
  };
  std::vector<Term> terms;
  for (std::size_t i = 0; i < n; ++i) {
    Integer product = 1;
    for (std::size_t j = 0; j < n; ++j) {
      if (j != i) product *= scaled[i] - scaled[j];
    }
    if (product == 0) return obstacle(fmt::format("the point {} stands twice", show(points[i])));
    Term term;
    term.negative = product < 0;
    product = abs(product);
    const std::int64_t shift = bits + static_cast<std::int64_t>(msb(product)) + 1;
    term.low = (Integer(1) << static_cast<std::size_t>(shift)) / product;
    term.high = term.low + 1;
    term.exponent = -shift;
    const ExpBracket e = exp_bracket(points[i], bits);
    term.low_exp = term.low * e.low;
    term.high_exp = term.high * e.high;
    term.exponent_exp = term.exponent + e.exponent;
    terms.push_back(std::move(term));
  }
  // Sums in units of the largest term's last bits; what is shifted out is accounted for by the unit added above.
  const auto top = [](const Integer& x, std::int64_t exponent) { return static_cast<std::int64_t>(msb(x)) + exponent; };
  std::int64_t highest = top(terms[0].high_exp, terms[0].exponent_exp);
  for (const Term& t : terms) {
    highest = std::max(highest, top(t.high_exp, t.exponent_exp));
    if (problem.measure == ErrorMeasure::absolute) highest = std::max(highest, top(t.high, t.exponent));
  }
  const std::int64_t unit = highest - bits - 16;
  const auto in_units = [unit](const Integer& x, std::int64_t exponent, bool upward) {
    const std::int64_t shift = exponent - unit;
    if (shift >= 0) return Integer(x << static_cast<std::size_t>(shift));
    Integer quotient = x >> static_cast<std::size_t>(-shift);
    if (upward) ++quotient;
    return quotient;
  };
  Integer sum_low = 0;
  Integer sum_high = 0;
  Integer weight_high = 0;
  for (const Term& t : terms) {
    const Integer low = in_units(t.low_exp, t.exponent_exp, false);
    const Integer high = in_units(t.high_exp, t.exponent_exp, true);
    sum_low += t.negative ? Integer(-high) : low;
    sum_high += t.negative ? Integer(-low) : high;
    weight_high += problem.measure == ErrorMeasure::relative ? high : in_units(t.high, t.exponent, true);
  }
  if (sum_low <= 0 && sum_high >= 0) {
    return obstacle(fmt::format("the sum over the points is not told apart from zero at {} bits", bits));
  }
  const Integer magnitude_low = sum_low > 0 ? sum_low : Integer(-sum_high);
  return {round_to_bits(Rational(magnitude_low, weight_high), 128, Rounding::down), ""};
}

}  // namespace subquad::exact
