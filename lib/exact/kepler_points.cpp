#include "kepler_points.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace subquad::exact {
namespace {

/// With R >= degree + 1 Kepler's equation has no unique solution; the clamp keeps points that the exchange can start
/// from.
constexpr double kLargestEccentricity = 0.97;

/// Solves t - e sin t = m for m in [0, pi]: Newton, kept inside a bracket that shrinks.
double eccentric_anomaly(double m, double e) {
  double low = 0.0;
  double high = std::numbers::pi;
  double t = m;
  for (int i = 0; i < 100; ++i) {
    const double f = t - e * std::sin(t) - m;
    (f > 0 ? high : low) = t;
    double next = t - f / (1 - e * std::cos(t));
    if (!(next > low && next < high)) next = (low + high) / 2;
    if (next == t) break;
    t = next;
  }
  return t;
}

}  // namespace

std::vector<Rational> kepler_points(const ExpProblem& problem, int degree, double shift, int count, int bits) {
  const double n = degree + 1;
  double eccentricity = 0.0;
  if (problem.measure == ErrorMeasure::relative) {
    eccentricity = std::min(to_double(problem.half_width(), Rounding::nearest) / n, kLargestEccentricity);
  }
  // Neighbouring cosines near the ends are about (pi/2n)^2/2 apart.
  const int spacing_bits = 2 * static_cast<int>(std::ceil(std::log2(n + 1))) + 6;
  const int precision = std::min(std::max(bits, spacing_bits), 52);
  std::vector<Rational> points;
  for (int k = count; k-- > 0;) {
    const double cosine = std::cos(eccentric_anomaly((k + shift) * std::numbers::pi / n, eccentricity));
    const Rational rounded =
        round_to_multiple(from_double(std::clamp(cosine, -1.0, 1.0)), precision, Rounding::nearest);
    points.push_back(problem.centre() + problem.half_width() * rounded);
  }
  return points;
}

}  // namespace subquad::exact
