// The exchange algorithm, for any working precision: included by exp_minimax.cpp only (private).
//
// Centred problem: e^t on [-R, R]. In each round the polynomial with equal and alternating errors h on the reference
// points is found (Remez34), and the points move to the extrema of its error. The polynomial meets e^t once between
// neighbouring points, so there are degree + 1 zeros, and between neighbouring zeros there is exactly one extremum: the
// marker Q = P' - P (absolute error: P' - e^t) has at most `degree` zeros. So an extremum that Newton's method misses
// can always be bracketed.
#pragma once

#include "working_real.hpp"

#include <subquad/core/error.hpp>
#include <subquad/exact/exp_minimax.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace subquad::exact {

/// The marker of critical points and its slope: P' - P and P'' - P', or P' - e^x and P'' - e^x.
template <class Real>
class CriticalMarker {
 public:
  CriticalMarker(ErrorMeasure measure, const std::vector<Real>& p) : relative_(measure == ErrorMeasure::relative) {
    q_ = differentiate(p);
    if (relative_) {
      q_.resize(p.size());
      for (std::size_t k = 0; k < p.size(); ++k) q_[k] -= p[k];
    }
    slope_ = differentiate(q_);
  }

  /// The value and the slope at x.
  std::pair<Real, Real> operator()(const Real& x) const {
    Real value = horner(q_, x);
    Real slope = horner(slope_, x);
    if (!relative_) {
      const Real e = exp(x);
      value -= e;
      slope -= e;
    }
    return {value, slope};
  }

 private:
  bool relative_;
  std::vector<Real> q_;
  std::vector<Real> slope_;
};

/// Newton's method from `start`, kept strictly inside (low, high). Empty if it leaves or does not settle to `accuracy`.
template <class Real>
std::optional<Real> newton_root(const CriticalMarker<Real>& marker, Real x, const Real& low, const Real& high,
                                const Real& accuracy) {
  for (int i = 0; i < 24; ++i) {
    const auto [value, slope] = marker(x);
    if (slope == 0) return std::nullopt;
    const Real step = value / slope;
    x -= step;
    if (!(x > low && x < high)) return std::nullopt;
    // Convergence is quadratic: the next step would be about step^2, relative to the distance between points.
    if (abs(step) <= accuracy) return x;
  }
  return std::nullopt;
}

/// The root of the marker in (low, high), where it changes sign: bisection, then Newton.
template <class Real>
std::optional<Real> bracketed_root(const CriticalMarker<Real>& marker, Real low, Real high, const Real& accuracy) {
  const bool rises = marker(low).first < 0;
  if ((marker(high).first > 0) != rises) return std::nullopt;
  while (high - low > accuracy) {
    const Real middle = (low + high) / 2;
    if (const auto root = newton_root(marker, middle, low, high, accuracy)) return root;
    ((marker(middle).first > 0) == rises ? high : low) = middle;
  }
  return (low + high) / 2;
}

template <class Real>
class RemezExchange {
 public:
  /// `start`: degree + 2 ascending points of [-R, R], both ends among them.
  RemezExchange(const ExpProblem& centred, int degree, const std::vector<Rational>& start)
      : measure_(centred.measure),
        relative_(measure_ == ErrorMeasure::relative),
        degree_(degree),
        r_(to_real<Real>(centred.b)) {
    for (const Rational& x : start) points_.push_back(to_real<Real>(x));
  }

  MinimaxApproximation run(int log2_gap, const std::optional<Rational>& target, const Execution& execution) {
    const Real gap = ldexp(Real(1), -log2_gap);
    const Real accuracy = r_ * ldexp(Real(1), -(log2_gap / 2 + 10));
    for (int round = 1; round <= 100; ++round) {
      execution.check_stop();
      level();
      const std::vector<Real> reference = points_;
      Real largest = move_to_extrema(accuracy, true, execution);
      if (largest < 0) {
        points_ = reference;
        largest = move_to_extrema(accuracy, false, execution);
      }
      require(largest >= 0, ErrorKind::undecided, "the exchange for degree {} lost the alternation of the error",
              degree_);
      const Real levelled = abs(h_);
      bool done = largest - levelled <= gap * levelled;
      if (target) {
        const Real bound = to_real<Real>(*target);
        done = done || largest < bound || levelled >= bound;
      }
      if (done) return result(largest, round);
    }
    fail(ErrorKind::undecided, "the exchange for degree {} did not converge in 100 rounds", degree_);
  }

 private:
  /// Finds h and P from the reference points.
  void level() {
    const std::size_t n = points_.size();
    std::vector<Real> values(n);
    Real sum = 0;
    Real weight = 0;
    for (std::size_t i = 0; i < n; ++i) {
      values[i] = exp(points_[i]);
      Real product = 1;
      for (std::size_t j = 0; j < n; ++j) {
        if (j != i) product *= points_[i] - points_[j];
      }
      const Real w = 1 / product;
      sum += w * values[i];
      const Real unit = relative_ ? Real(w * values[i]) : w;
      weight += i % 2 == 0 ? unit : Real(-unit);
    }
    h_ = -sum / weight;
    for (std::size_t i = 0; i < n; ++i) {
      const Real error = relative_ ? Real(h_ * values[i]) : h_;
      values[i] += i % 2 == 0 ? error : Real(-error);
    }
    interpolate_first(values);
  }

  /// Newton's divided differences through all points but the last, and from there to monomials.
  void interpolate_first(std::vector<Real> values) {
    const std::size_t n = points_.size() - 1;
    for (std::size_t order = 1; order < n; ++order) {
      for (std::size_t i = n; i-- > order;) values[i] = (values[i] - values[i - 1]) / (points_[i] - points_[i - order]);
    }
    p_.assign(n, Real(0));
    for (std::size_t k = n; k-- > 0;) {
      for (std::size_t i = n; i-- > 0;) p_[i] = (i > 0 ? p_[i - 1] : Real(0)) - points_[k] * p_[i];
      p_[0] += values[k];
    }
  }

  Real error(const Real& x) const {
    const Real e = exp(x);
    const Real difference = horner(p_, x) - e;
    return relative_ ? Real(difference / e) : difference;
  }

  /// Moves the inner points to the extrema of the error. Returns the largest error, or -1 if the errors do not
  /// alternate.
  Real move_to_extrema(const Real& accuracy, bool newton, const Execution& execution) {
    const CriticalMarker<Real> marker(measure_, p_);
    const std::size_t last = points_.size() - 1;
    const std::vector<Real> from = points_;
    std::vector<Real> zeros;
    if (!newton) {
      for (std::size_t i = 0; i < last; ++i) zeros.push_back(error_zero(from[i], from[i + 1]));
    }
    for (std::size_t i = 1; i < last; ++i) {
      execution.check_stop();
      const std::optional<Real> root = newton ? newton_root(marker, from[i], from[i - 1], from[i + 1], accuracy)
                                              : bracketed_root(marker, zeros[i - 1], zeros[i], accuracy);
      if (!root) return Real(-1);
      points_[i] = *root;
    }
    Real largest = 0;
    bool was_positive = false;
    for (std::size_t i = 0; i <= last; ++i) {
      const Real e = error(points_[i]);
      if (i > 0 && (!(points_[i] > points_[i - 1]) || (e > 0) == was_positive)) return Real(-1);
      was_positive = e > 0;
      largest = std::max(largest, Real(abs(e)));
    }
    return largest;
  }

  /// Where the error vanishes between two reference points, roughly: a bracket's end need not be sharp.
  Real error_zero(Real low, Real high) const {
    const bool low_positive = error(low) > 0;
    for (int i = 0; i < 40; ++i) {
      const Real middle = (low + high) / 2;
      ((error(middle) > 0) == low_positive ? low : high) = middle;
    }
    return (low + high) / 2;
  }

  MinimaxApproximation result(const Real& largest, int rounds) const {
    MinimaxApproximation out;
    std::vector<Rational> coefficients;
    for (const Real& c : p_) coefficients.push_back(to_rational(c));
    out.polynomial = Polynomial(std::move(coefficients));
    for (const Real& x : points_) out.points.push_back(round_to_multiple(to_rational(x), 96, Rounding::nearest));
    out.points.front() = -to_rational(r_);
    out.points.back() = to_rational(r_);
    out.levelled_error = to_rational(Real(abs(h_)));
    out.largest_error = to_rational(largest);
    out.iterations = rounds;
    return out;
  }

  ErrorMeasure measure_;
  bool relative_;
  int degree_;
  Real r_;
  std::vector<Real> points_;
  std::vector<Real> p_;
  Real h_ = 0;
};

/// See critical_intervals.
template <class Real>
std::vector<CriticalInterval> critical_intervals_near(const ExpProblem& problem, const Polynomial& p,
                                                      const std::vector<Rational>& starts, int log2_width) {
  std::vector<Real> coefficients;
  for (const Rational& c : p.coefficients()) coefficients.push_back(to_real<Real>(c));
  const CriticalMarker<Real> marker(problem.measure, coefficients);
  const Rational length = problem.b - problem.a;
  // Ends are multiples of a power of two near length 2^-log2_width.
  const std::int64_t bits = log2_width + 1 - floor_log2(length);
  const Rational half = power_of_two(-bits);
  const Real accuracy = to_real<Real>(half) / 16;
  const Real low = to_real<Real>(problem.a);
  const Real high = to_real<Real>(problem.b);
  std::vector<CriticalInterval> intervals;
  for (const Rational& start : starts) {
    const auto root = newton_root(marker, to_real<Real>(start), low, high, accuracy);
    if (!root) return {};
    const Rational middle = round_to_multiple(to_rational(*root), bits, Rounding::nearest);
    CriticalInterval interval{middle - half, middle + half};
    if (interval.low < problem.a || interval.high > problem.b) return {};
    if (!intervals.empty() && interval.low < intervals.back().high) return {};
    intervals.push_back(std::move(interval));
  }
  return intervals;
}

}  // namespace subquad::exact
