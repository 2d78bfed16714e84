#include <subquad/core/error.hpp>
#include <subquad/exact/exp_bracket.hpp>
#include <subquad/exact/exp_error_bounds.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace subquad::exact {
namespace {

/// Bernstein coefficients c_k of a polynomial on one box, as integers in units of 2^-scale: |c_k - true| <= error
/// units.
struct Box {
  Rational low;
  Rational high;
  std::vector<Integer> coefficients;
  std::int64_t error = 0;
};

/// Halves the box. Every averaging is rounded down, by less than a unit; there are at most `degree` of them in a row.
std::pair<Box, Box> halve(const Box& box) {
  const std::size_t size = box.coefficients.size();
  const Rational middle = (box.low + box.high) / 2;
  const std::int64_t error = box.error + static_cast<std::int64_t>(size);
  Box left{box.low, middle, {}, error};
  Box right{middle, box.high, box.coefficients, error};
  left.coefficients.reserve(size);
  for (std::size_t done = 0; done < size; ++done) {
    left.coefficients.push_back(right.coefficients.front());
    for (std::size_t k = 0; k + 1 + done < size; ++k) {
      right.coefficients[k] = (right.coefficients[k] + right.coefficients[k + 1]) >> 1;
    }
  }
  return {std::move(left), std::move(right)};
}

/// Proves S(x) e^-x <= limit on [a, b] for a polynomial S.
class OneSidedProof {
 public:
  OneSidedProof(const ExpProblem& problem, const Polynomial& s, const Rational& limit, std::int64_t bits)
      : problem_(problem), value_(s), limit_(limit), bits_(bits) {
    const Polynomial q = s.derivative() - s;
    Rational largest = q.absolute_bound(problem.radius());
    scale_ = bits + 64 + std::max<std::int64_t>(0, largest == 0 ? 0 : -floor_log2(largest));
    Box box{problem.a, problem.b, {}, 1};
    for (const Rational& c : to_bernstein(q, problem.a, problem.b)) {
      box.coefficients.push_back(floor_integer(Rational(c * power_of_two(scale_))));
    }
    boxes_.push_back(std::move(box));
  }

  /// Returns true if proved; else `outcome` says why not.
  bool run(std::uint64_t max_cells, BernsteinOutcome& outcome) {
    if (above(problem_.a, outcome) || above(problem_.b, outcome)) return false;
    while (!boxes_.empty()) {
      if (++outcome.cells > max_cells) {
        outcome.obstacle = fmt::format("{} boxes do not suffice", max_cells);
        return false;
      }
      const Box box = std::move(boxes_.back());
      boxes_.pop_back();
      if (settled(box)) continue;
      auto [left, right] = halve(box);
      if (above(left.high, outcome)) return false;
      boxes_.push_back(std::move(right));
      boxes_.push_back(std::move(left));
    }
    return true;
  }

 private:
  /// Upper bound of S(x) e^-x, and lower bound.
  std::pair<Rational, Rational> value_at(const Rational& x) const {
    const Rational s = value_(x);
    const ExpBracket e = exp_bracket(x, bits_);
    const Rational over_low = s / e.lower();
    const Rational over_high = s / e.upper();
    return {std::max(over_low, over_high), std::min(over_low, over_high)};
  }

  bool above(const Rational& x, BernsteinOutcome& outcome) const {
    if (value_at(x).second <= limit_) return false;
    outcome.witness = x;
    outcome.obstacle = fmt::format("the error at {} is larger", to_decimal(x, 10, Rounding::nearest));
    return true;
  }

  /// True if D = S e^-x <= limit is proved on the whole box. D' = Q e^-x, and Q lies between the least and the largest
  /// coefficient.
  bool settled(const Box& box) const {
    const auto [least, largest] = std::minmax_element(box.coefficients.begin(), box.coefficients.end());
    const Rational unit = power_of_two(-scale_);
    const Rational q_high = Rational(*largest + box.error) * unit;
    const Rational q_low = Rational(*least - box.error) * unit;
    const Rational from_left = value_at(box.low).first;
    const Rational from_right = value_at(box.high).first;
    if (q_low >= 0 || q_high <= 0) return std::max(from_left, from_right) <= limit_;
    const Rational reach = (box.high - box.low) / exp_bracket(box.low, 16).lower();
    return std::min(Rational(from_left + reach * q_high), Rational(from_right - reach * q_low)) <= limit_;
  }

  const ExpProblem& problem_;
  IntegerPolynomial value_;
  Rational limit_;
  std::int64_t bits_;
  std::int64_t scale_ = 0;
  std::vector<Box> boxes_;
};

}  // namespace

BernsteinOutcome bernstein_upper_bound(const ExpProblem& problem, const Polynomial& p, const Rational& epsilon,
                                       std::uint64_t max_cells) {
  validate(problem);
  require(epsilon > 0, ErrorKind::parameter, "epsilon is {}, expected more than 0", epsilon.str());
  BernsteinOutcome outcome;
  const std::int64_t accuracy = 64 + std::max<std::int64_t>(0, -floor_log2(epsilon));
  if (problem.a == problem.b) {  // a single point
    const PointError error = error_at(problem, p, problem.a, 4 * accuracy);
    outcome.proved = error.high <= epsilon;
    if (error.low > epsilon) outcome.witness = problem.a;
    if (!outcome.proved) outcome.obstacle = "the error at the only point is larger or not told apart";
    return outcome;
  }
  const Polynomial one{epsilon};
  const bool relative = problem.measure == ErrorMeasure::relative;
  // P e^-x <= 1 + eps and >= 1 - eps; or (P - eps) e^-x <= 1 and (P + eps) e^-x >= 1, where values are as large as e^-a
  // eps away from 1.
  const std::int64_t bits =
      relative ? accuracy
               : accuracy + 2 * static_cast<std::int64_t>(ceil_integer(problem.radius()).convert_to<std::int64_t>());
  const Polynomial over = relative ? p : p - one;
  const Polynomial under = Rational(-1) * (relative ? p : p + one);
  const Rational over_limit = relative ? Rational(1 + epsilon) : Rational(1);
  const Rational under_limit = relative ? Rational(epsilon - 1) : Rational(-1);
  outcome.proved = OneSidedProof(problem, over, over_limit, bits).run(max_cells, outcome) &&
                   OneSidedProof(problem, under, under_limit, bits).run(max_cells, outcome);
  return outcome;
}

}  // namespace subquad::exact
