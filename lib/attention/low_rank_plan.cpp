#include <subquad/attention/low_rank_plan.hpp>
#include <subquad/attention/monomial_basis.hpp>
#include <subquad/core/error.hpp>
#include <subquad/exact/exp_bracket.hpp>
#include <subquad/exact/exp_degree.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace subquad::attention {
namespace {

using exact::Rational;
using exact::Rounding;

/// A factor that covers the few roundings of a formula in double; every bound here is multiplied by it.
constexpr double kOutward = 1 + 1e-12;
/// Epsilon near 1 would let denominators vanish; nothing is gained there.
constexpr double kLargestEpsilon = 0.9;
constexpr std::uint64_t kTileBytes = 512 * 1024;
constexpr std::uint64_t kChunkBytes = std::uint64_t{64} << 20;

/// Largest Euclidean norm of a row, rounded upwards.
double largest_row_norm(const problems::MatrixD& matrix) {
  double largest = 0.0;
  if (matrix.cols() == 0) return largest;
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) largest = std::max(largest, matrix.row(i).stableNorm());
  // stableNorm's error is a few units a coordinate.
  return largest * (1 + 1e-15 * static_cast<double>(matrix.cols() + 16));
}

/// Euclidean norm of the mean row, rounded upwards: a sum of n numbers is off by at most n u times the sum of their
/// magnitudes.
double mean_row_norm(const problems::MatrixD& matrix) {
  if (matrix.size() == 0) return 0.0;
  const double n = static_cast<double>(matrix.rows());
  const double largest = matrix.cwiseAbs().maxCoeff();
  const double error = std::sqrt(static_cast<double>(matrix.cols())) * n * 0x1p-52 * largest;
  return (matrix.colwise().mean().stableNorm() + error) * (1 + 1e-15 * static_cast<double>(matrix.cols() + 16));
}

/// The unit roundoff, the smallest normal number, and log2 of the largest number that is safe to reach.
struct ArithmeticModel {
  double unit;
  double smallest;
  double log2_limit;
};

ArithmeticModel model(LowRankArithmetic arithmetic) {
  return arithmetic == LowRankArithmetic::float32 ? ArithmeticModel{0x1p-24, 0x1p-126, 120}
                                                  : ArithmeticModel{0x1p-53, 0x1p-1022, 1000};
}

/// n u / (1 - n u): Higham's gamma, rounded upwards; infinite if n u >= 1/2.
double gamma(double n, double unit) {
  const double nu = n * unit;
  return nu < 0.5 ? nu / (1 - nu) * kOutward : std::numeric_limits<double>::infinity();
}

LowRankTiling tile(const LowRankRequest& request, const Count& rank) {
  LowRankTiling tiling;
  const std::uint64_t number = request.arithmetic == LowRankArithmetic::float32 ? 4 : 8;
  if (rank * 128 * number <= kTileBytes) tiling.tokens = 128;
  const Count sums = rank * (request.value_dim + 1) * 8;
  const std::uint64_t tiles = (request.num_keys + tiling.tokens - 1) / tiling.tokens;
  const Count chunks = std::min(Count(Count(kChunkBytes) / (sums + 1)),
                                Count(std::min<std::uint64_t>(16, std::max<std::uint64_t>(tiles, 1))));
  tiling.key_chunks = std::max(chunks, Count(1)).convert_to<std::uint32_t>();
  return tiling;
}

Count bytes_needed(const LowRankRequest& request, const Count& rank, const LowRankTiling& tiling, int threads) {
  const std::uint64_t number = request.arithmetic == LowRankArithmetic::float32 ? 4 : 8;
  const std::uint64_t columns = request.value_dim + 1;
  const Count per_thread = (rank + request.dim + 2 * columns) * tiling.tokens * number;
  return rank * columns * (8 * Count(tiling.key_chunks) + number) + per_thread * threads + rank * 16;
}

/// Bound of the arithmetic's error in a numerator or denominator, over n_k max|v| (docs/kernels/low_rank.md, Rounding).
double weight_error(const LowRankPlan& plan, const exact::Polynomial& p, const Rational& radius) {
  const LowRankRequest& request = plan.request;
  const ArithmeticModel m = model(request.arithmetic);
  const double g = plan.degree;
  const double r = plan.rank.convert_to<double>();
  const bool float32 = request.arithmetic == LowRankArithmetic::float32;
  const double low =
      2 * std::max(g - 1, 0.0) + (float32 ? 2 * g + 1 : 0) + plan.tiling.tokens + plan.tiling.feature_block + 2;
  const double tiles = std::ceil(static_cast<double>(request.num_keys) / plan.tiling.tokens);
  const double high = tiles + plan.tiling.key_chunks + std::ceil(r / plan.tiling.feature_block) + 6;
  const double relative = ((1 + gamma(low, m.unit)) * (1 + gamma(high, 0x1p-53)) - 1 + 4e-16) * kOutward;
  const double condition = to_double(p.absolute_bound(radius), Rounding::up);

  // Numbers that underflow: each loses at most the smallest normal number, which later factors magnify.
  const double side = std::sqrt(2 * to_double(radius, Rounding::up)) * kOutward;  // of the scaled queries and keys
  const double largest_monomial = std::pow(std::max(1.0, side), g);
  const Rational spread = 2 * Rational(std::max<std::uint64_t>(request.dim, 1));
  const double weights = to_double(p.absolute_bound(spread), Rounding::up);
  const double reach =
      std::log2(largest_monomial) * 2 + std::log2(weights + 1) + std::log2(static_cast<double>(request.num_keys) + 1);
  require(reach <= m.log2_limit, ErrorKind::resource,
          "low-rank: intermediate numbers reach 2^{:.0f}, the range of {} allows 2^{:.0f}", reach,
          to_string(request.arithmetic), m.log2_limit);
  const double underflow = 4 * m.smallest * (g + 1) * largest_monomial * largest_monomial * (weights + r);
  return (relative * condition + underflow) * kOutward;
}

/// Fills in what follows from the polynomial. Returns the error bound.
double complete(LowRankPlan& plan, const Rational& radius, int threads) {
  const LowRankRequest& request = plan.request;
  plan.degree = plan.polynomial.degree();
  plan.epsilon = to_double(plan.polynomial.approximant.error_bound, Rounding::up);
  plan.rank = MonomialBasis::count(request.dim, static_cast<std::uint64_t>(plan.degree));
  plan.paper_rank = MonomialBasis::paper_count(request.dim, static_cast<std::uint64_t>(plan.degree));
  plan.tiling = tile(request, plan.rank);
  plan.bytes = bytes_needed(request, plan.rank, plan.tiling, threads);
  plan.operations = plan.rank * (request.value_dim + 2) * (Count(request.num_queries) + request.num_keys);
  plan.weight_error = weight_error(plan, plan.polynomial.approximant.polynomial, radius);
  const Rational least = std::min(radius, exact::from_double(request.bounds.denominator_radius));
  const double growth = to_double(exact::exp_bracket(least, 60).upper(), Rounding::up);
  const double share = plan.weight_error * growth * kOutward;  // rho: against D_i >= n_k e^-R'
  plan.propagation_bound = request.bounds.value_half_range * propagation_factor(plan.epsilon) * kOutward;
  const double left = 1 - plan.epsilon - share;
  plan.rounding_bound = left > 0 ? request.bounds.value_bound * (2 * share / left + 1e-15) * kOutward
                                 : std::numeric_limits<double>::infinity();
  plan.error_bound = (plan.propagation_bound + plan.rounding_bound) * kOutward;
  return plan.error_bound;
}

void require_rank(const LowRankRequest& request, const Rational& radius, double epsilon, int degree,
                  std::string_view how) {
  const Count rank = MonomialBasis::count(request.dim, static_cast<std::uint64_t>(degree));
  require(rank <= request.max_rank, ErrorKind::resource,
          "low-rank: logits up to R = {:.4g} and eps_a = {:.3g} (eps = {:.3g}) need degree {} ({}), so rank "
          "C({}+{},{}) = {} "
          "for {} keys, allowed are {}",
          to_double(radius, Rounding::up), request.tolerance, epsilon, degree, how, degree, request.dim, request.dim,
          describe(rank), request.num_keys, describe(request.max_rank));
}

void validate(const LowRankRequest& request) {
  require(std::isfinite(request.tolerance) && request.tolerance > 0, ErrorKind::parameter,
          "low-rank: the tolerance eps_a is {}, expected a positive number", request.tolerance);
  const LowRankBounds& b = request.bounds;
  for (const double x : {b.radius, b.query_norm, b.key_norm, b.denominator_radius, b.value_bound, b.value_half_range}) {
    require(std::isfinite(x) && x >= 0, ErrorKind::parameter,
            "low-rank: a bound of the data is {}, expected a finite number >= 0", x);
  }
  require(std::isfinite(request.scale), ErrorKind::parameter, "low-rank: the scale is {}, expected a finite number",
          request.scale);
}

}  // namespace

std::string_view to_string(LowRankArithmetic arithmetic) noexcept {
  return arithmetic == LowRankArithmetic::float32 ? "float32" : "float64";
}

double propagation_factor(double epsilon) {
  require(epsilon >= 0 && epsilon < 1, ErrorKind::parameter, "propagation: epsilon is {}, expected [0, 1)", epsilon);
  // 2 (1 - sqrt(1 - e^2))/e = 2e/(1 + sqrt(1 - e^2)), without cancellation.
  return 2 * epsilon / (1 + std::sqrt((1 - epsilon) * (1 + epsilon))) * kOutward;
}

double propagation_epsilon(double x) {
  require(x >= 0, ErrorKind::parameter, "propagation: the error is {}, expected at least 0", x);
  const double epsilon = x < 2 ? 4 * x / (4 + x * x) : 1.0;
  return std::min(epsilon, 1 - 1e-9) * (1 - 1e-11);
}

LowRankBounds measure_low_rank_bounds(const problems::Attention::Instance& instance) {
  LowRankBounds bounds;
  bounds.query_norm = largest_row_norm(instance.q);
  bounds.key_norm = largest_row_norm(instance.k);
  const double scale = std::fabs(instance.scale);
  bounds.radius = scale * bounds.query_norm * bounds.key_norm * kOutward;
  const double from_entries =
      scale * static_cast<double>(instance.q.cols()) * instance.entry_bound * instance.entry_bound * kOutward;
  bounds.radius = std::min(bounds.radius, from_entries);
  bounds.denominator_radius = std::min(bounds.radius, scale * bounds.query_norm * mean_row_norm(instance.k) * kOutward);
  if (instance.v.size() > 0) {
    bounds.value_bound = instance.v.cwiseAbs().maxCoeff();
    bounds.value_half_range = (instance.v.maxCoeff() / 2 - instance.v.minCoeff() / 2) * kOutward;
  }
  return bounds;
}

LowRankBounds low_rank_bounds_from_entries(double entry_bound, std::uint64_t dim, double scale) {
  require(std::isfinite(entry_bound) && entry_bound >= 0, ErrorKind::parameter,
          "low-rank: the entry bound B is {}, expected a finite number >= 0", entry_bound);
  LowRankBounds bounds;
  bounds.radius = std::fabs(scale) * static_cast<double>(dim) * entry_bound * entry_bound * kOutward;
  bounds.query_norm = std::sqrt(static_cast<double>(dim)) * entry_bound * kOutward;
  bounds.key_norm = bounds.query_norm;
  bounds.denominator_radius = bounds.radius;
  bounds.value_bound = entry_bound;
  bounds.value_half_range = entry_bound;
  return bounds;
}

LowRankPlan plan_low_rank(const LowRankRequest& request, int threads) {
  validate(request);
  LowRankPlan plan;
  plan.request = request;
  Rational radius = exact::from_double(request.bounds.radius);
  if (radius > 0) radius = round_to_bits(radius, 12, Rounding::up);
  const exact::ExpProblem problem{exact::ErrorMeasure::relative, -radius, radius};
  const double spread = request.bounds.value_half_range;
  double reachable = std::numeric_limits<double>::infinity();
  // The share of the tolerance that the polynomial may use up; what is left is for rounding.
  for (const double share : {0.99, 0.9, 0.5, 0.1}) {
    const double allowed = spread > 0 ? share * request.tolerance / spread : 2.0;
    const double epsilon = std::min(propagation_epsilon(std::min(allowed, 2.0)), kLargestEpsilon);
    const Rational short_epsilon = round_to_bits(exact::from_double(epsilon), 12, Rounding::down);
    if (radius > 0) require_rank(request, radius, epsilon, predicted_degree(problem, short_epsilon), "predicted");
    plan.polynomial = certified_minimal_degree(problem, short_epsilon);
    require_rank(request, radius, epsilon, plan.polynomial.degree(), "certified minimal");
    const double error = complete(plan, radius, threads);
    if (error <= request.tolerance) {
      require(plan.bytes <= request.max_bytes, ErrorKind::resource, "low-rank: rank {} needs {}, allowed are {}",
              describe(plan.rank), describe_bytes(plan.bytes), describe_bytes(request.max_bytes));
      return plan;
    }
    reachable = std::min(reachable, plan.rounding_bound);
  }
  fail(ErrorKind::resource,
       "low-rank: eps_a = {:.3g} is below what {} arithmetic is proved to reach here: its rounding alone may cost "
       "{:.3g} (R = {:.4g}, degree {}, "
       "rank {})",
       request.tolerance, to_string(request.arithmetic), reachable, to_double(radius, Rounding::up), plan.degree,
       describe(plan.rank));
}

}  // namespace subquad::attention
