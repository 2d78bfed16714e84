#include <subquad/core/error.hpp>
#include <subquad/exact/exp_degree.hpp>

#include <mpfr.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace subquad::exact {
namespace {

constexpr int kLargestPredicted = 100'000;
constexpr int kMostTerms = 200;

/// Order of the Hankel matrix: its entries fall fast once their order is above R by a few R^(1/3) (I: at once).
int hankel_terms(int n, double r, bool relative) {
  if (!relative) return 48;
  const double terms = 40 + 0.6 * std::max(0.0, r - n) + 4 * std::cbrt(r);
  return static_cast<int>(std::min(terms, static_cast<double>(kMostTerms)));
}

/// log2 |J_n(x)|: where the terms of its series fall from the first on, by the series; else from MPFR.
double log2_bessel_j(long n, double x) {
  const double square = x * x / 4;
  if (square < static_cast<double>(n) / 2) {
    double sum = 1.0;
    double term = 1.0;
    for (int k = 1; std::abs(term) > 1e-18; ++k) {
      term *= -square / (static_cast<double>(k) * static_cast<double>(n + k));
      sum += term;
    }
    const auto order = static_cast<double>(n);
    return (order * std::log(x / 2) - std::lgamma(order + 1) + std::log(sum)) / std::numbers::ln2;
  }
  mpfr_t argument;
  mpfr_t value;
  mpfr_init2(argument, 53);
  mpfr_init2(value, 64);
  mpfr_set_d(argument, x, MPFR_RNDN);
  mpfr_jn(value, n, argument, MPFR_RNDN);
  long exponent = 0;
  const double mantissa = mpfr_get_d_2exp(&exponent, value, MPFR_RNDN);
  mpfr_clear(argument);
  mpfr_clear(value);
  return mantissa == 0.0 ? -std::numeric_limits<double>::infinity()
                         : std::log2(std::abs(mantissa)) + static_cast<double>(exponent);
}

/// log2 I_n(x): a sum of positive terms, each told by its logarithm.
double log2_bessel_i(int n, double x) {
  const double first = n * std::log(x / 2) - std::lgamma(n + 1.0);
  double largest = 0.0;
  double term = 0.0;
  std::vector<double> logs{0.0};
  for (int j = 1; j < 1'000'000; ++j) {
    term += 2 * std::log(x / 2) - std::log(static_cast<double>(j)) - std::log(static_cast<double>(j + n));
    logs.push_back(term);
    largest = std::max(largest, term);
    if (term < largest - 45) break;
  }
  double sum = 0.0;
  for (double l : logs) sum += std::exp(l - largest);
  return (first + largest + std::log(sum)) / std::numbers::ln2;
}

/// J (sign = -1) or I (sign = +1) of orders n .. n + wanted up to a common factor, the largest scaled to 1. Miller's
/// recurrence, downwards: f_{m-1} = (2m/x) f_m + sign f_{m+1}.
std::vector<double> bessel_ratios(int n, int wanted, double x, double sign) {
  const int top =
      std::max(n + wanted, static_cast<int>(x) + 1) + 40 + static_cast<int>(std::sqrt(40.0 * std::max<double>(n, x)));
  std::vector<double> row(static_cast<std::size_t>(wanted) + 1);
  double above = 0.0;
  double here = 1e-290;
  for (int m = top; m >= n; --m) {
    if (m - n <= wanted) row[static_cast<std::size_t>(m - n)] = here;
    const double below = 2.0 * m / x * here + sign * above;
    above = here;
    here = below;
    if (std::abs(here) > 1e250) {
      here *= 1e-250;
      above *= 1e-250;
      for (double& r : row) r *= 1e-250;
    }
  }
  const double largest =
      std::abs(*std::max_element(row.begin(), row.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
  for (double& r : row) r /= largest;
  return row;
}

/// Spectral norm of the Hankel matrix H_ij = row[i + j].
double hankel_norm(const std::vector<double>& row) {
  const int terms = static_cast<int>(row.size() + 1) / 2;
  Eigen::MatrixXd h(terms, terms);
  for (int i = 0; i < terms; ++i) {
    for (int j = 0; j < terms; ++j) h(i, j) = row[static_cast<std::size_t>(i + j)];
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(h, Eigen::EigenvaluesOnly);
  return solver.eigenvalues().cwiseAbs().maxCoeff();
}

}  // namespace

double predicted_log2_error(const ExpProblem& problem, int degree) {
  validate(problem);
  require(degree >= 0, ErrorKind::parameter, "the error of degree {} is asked for, expected at least 0", degree);
  require(degree <= 2 * kLargestPredicted, ErrorKind::resource,
          "the error of degree {} is asked for, expected at most {}", degree, 2 * kLargestPredicted);
  const bool relative = problem.measure == ErrorMeasure::relative;
  const double r = to_double(problem.half_width(), Rounding::nearest);
  const int n = degree + 1;
  if (r < 1e-30) {  // the leading term alone, (R/2)^n 2/n!, by logarithms: R itself may be no double
    if (problem.a == problem.b) return -std::numeric_limits<double>::infinity();
    const double log2_r = static_cast<double>(floor_log2(problem.half_width()));
    const double log2_scale = relative ? 0.0 : to_double(problem.centre(), Rounding::nearest) / std::numbers::ln2;
    return n * (log2_r - 1) + 1 - std::lgamma(n + 1.0) / std::numbers::ln2 + log2_scale;
  }
  const std::vector<double> row = bessel_ratios(n, 2 * hankel_terms(n, r, relative), r, relative ? -1.0 : 1.0);
  // The common factor from the order where the function is largest: there it is computed without cancellation.
  std::size_t peak = 0;
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (std::abs(row[k]) > std::abs(row[peak])) peak = k;
  }
  const long order = n + static_cast<long>(peak);
  const double factor = relative ? log2_bessel_j(order, r) : log2_bessel_i(static_cast<int>(order), r);
  const double s = 1 + std::log2(hankel_norm(row)) + factor;  // log2 of 2 ||H||
  if (relative) return s < -30 ? s : std::min(0.0, s - std::log2(1 + std::exp2(2 * s - 2)));
  return s + to_double(problem.centre(), Rounding::nearest) / std::numbers::ln2;
}

int predicted_degree(const ExpProblem& problem, const Rational& epsilon) {
  validate(problem);
  validate_epsilon(problem, epsilon);
  const double target = static_cast<double>(floor_log2(epsilon)) +
                        std::log2(to_double(epsilon * power_of_two(-floor_log2(epsilon)), Rounding::nearest));
  const double r = to_double(problem.half_width(), Rounding::nearest);
  require(r <= kLargestPredicted, ErrorKind::resource, "the interval is {:.3g} long: the degree is beyond {}", 2 * r,
          kLargestPredicted);
  const auto enough = [&](int degree) { return predicted_log2_error(problem, degree) < target; };
  // Relative: below R - 200 the error is 1 but for a tiny part, and the matrix would be large.
  const int least = problem.measure == ErrorMeasure::relative ? std::max(0, static_cast<int>(r) - kMostTerms) : 0;
  int high = std::max(1, least);
  while (!enough(high)) {
    require(high < kLargestPredicted, ErrorKind::resource, "the degree is beyond {}", kLargestPredicted);
    high *= 2;
  }
  int low = least - 1;  // taken as not enough; high is
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace subquad::exact
