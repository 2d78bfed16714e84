#include <subquad/ann/collision_probability.hpp>
#include <subquad/core/error.hpp>

#include <boost/math/quadrature/gauss_kronrod.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace subquad::ann {
namespace {

using std::numbers::pi;

/// Phi(x), the standard normal distribution function, without cancellation for x << 0.
double normal_below(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

double normal_density(double x) {
  return std::exp(-0.5 * x * x) / std::sqrt(2 * pi);
}

void check_chord(double distance, const char* family) {
  require(distance >= 0 && distance <= 2, ErrorKind::parameter, "{}: distance {} on the unit sphere, expected 0 to 2",
          family, distance);
}

template <class F>
double integrate(F&& f, double low, double high) {
  return boost::math::quadrature::gauss_kronrod<double, 61>::integrate(f, low, high, 12, 1e-13);
}

// Beyond this a standard normal variable does not matter: density below 1e-31.
constexpr double kFar = 12.0;

/// P[Z1 >= t, Z2 >= t] for standard normal variables with this correlation.
double both_above(double t, double correlation) {
  const double rest = std::sqrt(std::max(0.0, 1 - correlation * correlation));
  if (rest == 0) return correlation > 0 ? normal_below(-t) : std::max(0.0, 1 - 2 * normal_below(t));
  const auto density = [&](double x) { return normal_density(x) * normal_below((correlation * x - t) / rest); };
  const double low = std::max(t, -kFar);
  if (low >= kFar) return 0.0;
  // The second factor jumps around x = t/correlation when the correlation is near 1.
  const double jump = correlation != 0 ? std::clamp(t / correlation, low, kFar) : low;
  const double width = correlation != 0 ? 10 * rest / std::fabs(correlation) : 0.0;
  const double a = std::clamp(jump - width, low, kFar);
  const double b = std::clamp(jump + width, low, kFar);
  double sum = 0;
  if (a > low) sum += integrate(density, low, a);
  if (b > a) sum += integrate(density, a, b);
  if (kFar > b) sum += integrate(density, b, kFar);
  return sum;
}

}  // namespace

double e2lsh_collision_probability(double distance, double width) {
  require(width > 0 && std::isfinite(width), ErrorKind::parameter, "e2lsh: width {}, expected a positive number",
          width);
  require(distance >= 0, ErrorKind::parameter, "e2lsh: distance {}, expected >= 0", distance);
  if (distance == 0) return 1.0;
  const double t = width / distance;
  if (t == 0) return 0.0;
  // For small t the two terms cancel: p = t/sqrt(2 pi) (1 - t^2/12 + t^4/120 - ...), from integrating
  // 2 phi(x)(1 - x/t) over [0, t] term by term.
  if (t < 0.1) {
    double term = t / std::sqrt(2 * pi);  // 2 phi(0) t^(2i+1) (-1/2)^i / i! / ((2i+1)(2i+2))
    double sum = 0;
    double power = 2 * t / std::sqrt(2 * pi);
    for (int i = 0; i < 12; ++i) {
      term = power / ((2 * i + 1) * (2 * i + 2));
      sum += term;
      power *= -0.5 * t * t / (i + 1);
    }
    return sum;
  }
  const double far = 2 * normal_below(-t);
  const double triangle = 2 / (std::sqrt(2 * pi) * t) * -std::expm1(-0.5 * t * t);
  return std::clamp(1 - far - triangle, 0.0, 1.0);
}

double bit_sampling_collision_probability(double distance, std::uint64_t dim) {
  require(dim >= 1, ErrorKind::parameter, "bit sampling: dimension 0, expected at least 1");
  require(distance >= 0 && distance <= static_cast<double>(dim), ErrorKind::parameter,
          "bit sampling: distance {}, expected 0 to {}", distance, dim);
  return (static_cast<double>(dim) - distance) / static_cast<double>(dim);
}

double hyperplane_collision_probability(double distance) {
  check_chord(distance, "hyperplane");
  // 1 - theta/pi with sin(theta/2) = u/2; near u = 2 by the complement, cos(theta/2), so that small values keep digits.
  return std::atan2(std::sqrt((2 - distance) * (2 + distance)), distance) * 2 / pi;
}

double cross_polytope_collision_probability(double distance, std::uint64_t dim) {
  check_chord(distance, "cross-polytope");
  require(dim >= 1, ErrorKind::parameter, "cross-polytope: dimension 0, expected at least 1");
  if (distance == 0) return 1.0;
  if (distance == 2) return 0.0;
  const double correlation = 1 - 0.5 * distance * distance;
  const double rest = std::sqrt((1 - correlation) * (1 + correlation));
  // Pr = 2d * integral over x, y > 0 of the density of the winning coordinate at (x, y) times F(x, y)^(d-1), where F is
  // the probability that another coordinate's pair (A, B) has |A| <= x, |B| <= y.
  const auto rectangle = [&](double x, double y) {
    const auto density = [&](double a) {
      return normal_density(a) *
             (normal_below((y - correlation * a) / rest) - normal_below((-y - correlation * a) / rest));
    };
    return boost::math::quadrature::gauss<double, 60>::integrate(density, -x, x);
  };
  const double power = static_cast<double>(dim - 1);
  const auto inner = [&](double x) {
    const auto integrand = [&](double y) {
      const double z = (y - correlation * x) / rest;
      const double density = normal_density(x) * normal_density(z) / rest;
      if (density < 1e-40) return 0.0;
      return power == 0 ? density : density * std::pow(rectangle(x, y), power);
    };
    const double centre = correlation * x;
    const double low = std::max(0.0, centre - 9 * rest);
    const double high = centre + 9 * rest;
    return high <= low ? 0.0 : boost::math::quadrature::gauss<double, 80>::integrate(integrand, low, high);
  };
  double sum = 0;
  for (int piece = 0; piece < 4; ++piece) {
    sum += boost::math::quadrature::gauss<double, 40>::integrate(inner, 2.25 * piece, 2.25 * (piece + 1));
  }
  return std::clamp(2 * static_cast<double>(dim) * sum, 0.0, 1.0);
}

double spherical_cap_collision_probability(double distance, double threshold, std::uint64_t caps) {
  check_chord(distance, "spherical cap");
  require(caps >= 1, ErrorKind::parameter, "spherical cap: no cap, expected at least 1");
  require(std::isfinite(threshold), ErrorKind::parameter, "spherical cap: threshold {}, expected a finite number",
          threshold);
  if (distance == 0) return 1.0;
  const double both = both_above(threshold, 1 - 0.5 * distance * distance);
  const double some = std::min(2 * normal_below(-threshold) - both, 1.0);  // a cap that holds one of the points
  if (some <= 0) return 1.0;                                               // no cap holds anything: one shared code
  // The first cap that holds one of the points holds both; or none of the `caps` caps holds either.
  const double none = std::exp(static_cast<double>(caps) * std::log1p(-some));
  return std::clamp(both / some * (1 - none) + none, 0.0, 1.0);
}

}  // namespace subquad::ann
