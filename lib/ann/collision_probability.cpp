#include <subquad/ann/collision_probability.hpp>
#include <subquad/core/error.hpp>

#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <boost/math/special_functions/owens_t.hpp>
#include <boost/math/tools/minima.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

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

/// P[Z1 >= t, Z2 >= t] for standard normal variables of correlation 1 - u^2/2, u > 0.
double both_above(double t, double u) {
  const double correlation = 1 - 0.5 * u * u;
  const double rest = 0.5 * u * std::sqrt((2 - u) * (2 + u));    // sqrt(1 - correlation^2), without cancellation
  if (rest == 0) return std::max(0.0, 1 - 2 * normal_below(t));  // antipodal
  const auto density = [&](double x) { return normal_density(x) * normal_below(((x - t) - 0.5 * u * u * x) / rest); };
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

/// Pr = 2d * integral over x, y > 0 of the density of the winning coordinate at (x, y) times F(x, y)^(d-1), F the
/// probability that another coordinate's pair (A, B) has |A| <= x and |B| <= y.
///
/// Written in the independent variables s = (x + y)/sqrt 2, t = (x - y)/sqrt 2, |t| < s, of variances 2 - u^2/2 and
/// u^2/2, so that nothing cancels for u near 0 or 2. F is log-concave and even in t (a Gaussian measure of symmetric
/// convex sets), so for each s the integrand is largest at t = 0, and along t = 0 it has one peak.
class CrossPolytopeLaw {
 public:
  CrossPolytopeLaw(double u, std::uint64_t dim)
      : half_square_(0.5 * u * u),
        complement_(0.5 * (2 - u) * (2 + u)),
        rest_(u * std::sqrt(0.5 * complement_)),
        across_(u / std::numbers::sqrt2),
        along_(std::sqrt(complement_)),
        dim_(static_cast<double>(dim)) {}

  double probability() const {
    // The peak along t = 0, and where the integrand has fallen to e^-45 of it.
    const double top = 14 * std::max(along_, 1.0);
    const double peak =
        boost::math::tools::brent_find_minima([&](double s) { return -log_ridge(s); }, 0.0, top, 40).first;
    const double height = log_ridge(peak);
    const auto edge = [&](double inside, double outside) {
      for (int step = 0; step < 60; ++step) {
        const double middle = 0.5 * (inside + outside);
        (log_ridge(middle) > height - 45 ? inside : outside) = middle;
      }
      return outside;
    };
    const double low = edge(peak, 0.0);
    const double high = edge(peak, top + peak);
    // Even pieces, and for s up to a few `across_`, where the limit |t| < s matters, pieces of that scale.
    constexpr int kPieces = 6;
    std::vector<double> ends;
    for (int piece = 0; piece <= kPieces; ++piece) ends.push_back(low + (high - low) * piece / kPieces);
    for (const double scale : {1.0, 2.0, 4.0, 8.0}) {
      if (scale * across_ > low && scale * across_ < high) ends.push_back(scale * across_);
    }
    std::sort(ends.begin(), ends.end());
    double sum = 0;
    for (std::size_t piece = 1; piece < ends.size(); ++piece) {
      sum += boost::math::quadrature::gauss<double, 20>::integrate([&](double s) { return across(s, height); },
                                                                   ends[piece - 1], ends[piece]);
    }
    // 2d, and twice the half t > 0.
    return 4 * dim_ * std::exp(height) / (2 * pi * along_ * across_) * sum;
  }

 private:
  /// 1 - F(x, y) by Owen's T: Pr[|A| > x or |B| > y] as four terms whose arguments do not cancel.
  double outside(double x, double y, double t) const {
    const double shift = std::numbers::sqrt2 * t;  // x - y
    return 2 * (boost::math::owens_t(x, (half_square_ - shift / x) / rest_) +
                boost::math::owens_t(x, (complement_ - shift / x) / rest_) +
                boost::math::owens_t(y, (half_square_ + shift / y) / rest_) +
                boost::math::owens_t(y, (complement_ + shift / y) / rest_));
  }

  /// Logarithm of the integrand without its constant.
  double log_integrand(double s, double t) const {
    const double x = (s + t) / std::numbers::sqrt2;
    const double y = (s - t) / std::numbers::sqrt2;
    const double gauss = -0.5 * (s / along_) * (s / along_) - 0.5 * (t / across_) * (t / across_);
    if (dim_ == 1) return gauss;
    if (!(y > 0)) return -std::numeric_limits<double>::infinity();
    const double missed = outside(x, y, t);
    if (!(missed < 1)) return -std::numeric_limits<double>::infinity();
    return gauss + (dim_ - 1) * std::log1p(-missed);
  }
  double log_ridge(double s) const { return std::max(log_integrand(s, 0.0), -1e300); }

  /// Integral over 0 < t < s at this s, over e^height.
  double across(double s, double height) const {
    const double limit = std::min(s, 9.5 * across_);
    double end = limit;
    const double negligible = log_ridge(s) - 45;
    if (!(log_integrand(s, limit) > negligible)) {  // falls in t: the last t that matters, by bisection
      double inside = 0;
      for (int step = 0; step < 12; ++step) {
        const double middle = 0.5 * (inside + end);
        (log_integrand(s, middle) > negligible ? inside : end) = middle;
      }
    }
    double sum = 0;
    for (int piece = 0; piece < 2; ++piece) {
      sum += boost::math::quadrature::gauss<double, 20>::integrate(
          [&](double t) { return std::exp(log_integrand(s, t) - height); }, end * piece / 2, end * (piece + 1) / 2);
    }
    return sum;
  }

  double half_square_;  // 1 - correlation
  double complement_;   // 1 + correlation
  double rest_;         // sqrt(1 - correlation^2)
  double across_;       // deviation of t
  double along_;        // deviation of s
  double dim_;
};

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
  return std::clamp(CrossPolytopeLaw(distance, dim).probability(), 0.0, 1.0);
}

double spherical_cap_collision_probability(double distance, double threshold, std::uint64_t caps) {
  check_chord(distance, "spherical cap");
  require(caps >= 1, ErrorKind::parameter, "spherical cap: no cap, expected at least 1");
  require(std::isfinite(threshold), ErrorKind::parameter, "spherical cap: threshold {}, expected a finite number",
          threshold);
  if (distance == 0) return 1.0;
  const double both = both_above(threshold, distance);
  const double some = std::min(2 * normal_below(-threshold) - both, 1.0);  // a cap that holds one of the points
  if (some <= 0) return 1.0;                                               // no cap holds anything: one shared code
  // The first cap that holds one of the points holds both; or none of the `caps` caps holds either.
  const double none = std::exp(static_cast<double>(caps) * std::log1p(-some));
  return std::clamp(both / some * (1 - none) + none, 0.0, 1.0);
}

}  // namespace subquad::ann
