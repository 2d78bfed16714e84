#include <subquad/core/error.hpp>
#include <subquad/problems/orthogonal_vectors_threshold.hpp>

#include <cmath>

namespace subquad::problems {

namespace {

void require_density(double density) {
  require(density >= 0 && density <= 1, ErrorKind::parameter, "density {} of ones, expected 0 to 1", density);
}

double pairs(const OrthogonalVectorsShape& shape) {
  return static_cast<double>(shape.num_a) * static_cast<double>(shape.num_b);
}

void require_mean(const OrthogonalVectorsShape& shape, double mean) {
  require(shape.dim >= 1, ErrorKind::parameter, "dimension 0: every pair is orthogonal, expected at least 1");
  require(mean > 0 && mean <= pairs(shape), ErrorKind::parameter,
          "{} expected orthogonal pairs, expected above 0 and at most num_a num_b = {}", mean, pairs(shape));
}

}  // namespace

double iid_expected_pairs(const OrthogonalVectorsShape& shape, double density) {
  require_density(density);
  return pairs(shape) * std::pow(1 - density * density, static_cast<double>(shape.dim));
}

double iid_variance_of_pairs(const OrthogonalVectorsShape& shape, double density) {
  require_density(density);
  if (shape.num_a == 0 || shape.num_b == 0) return 0;
  const auto dim = static_cast<double>(shape.dim);
  const double p = density;
  const double q = std::pow(1 - p * p, dim);
  // Two pairs that share a vector: per coordinate 1 - 2p^2 + p^3 = (1-p)(1+p-p^2), never below (1-p^2)^2.
  const double shared = std::pow((1 - p) * (1 + p - p * p), dim);
  const double others = static_cast<double>(shape.num_a) + static_cast<double>(shape.num_b) - 2;
  return pairs(shape) * (q * (1 - q) + others * (shared - q * q));
}

double iid_threshold_density(const OrthogonalVectorsShape& shape, double mean) {
  require_mean(shape, mean);
  // 1 - x^(1/dim) for x near 1 loses all digits; expm1 keeps them.
  return std::sqrt(-std::expm1(std::log(mean / pairs(shape)) / static_cast<double>(shape.dim)));
}

Rational orthogonality_probability(std::uint64_t dim, std::uint64_t x, std::uint64_t y) {
  require(x <= dim && y <= dim, ErrorKind::parameter,
          "weights {} and {} in dimension {}, expected at most the dimension", x, y, dim);
  if (y > x) return orthogonality_probability(dim, y, x);
  if (x + y > dim) return 0;
  // C(dim-x, y)/C(dim, y), factor by factor with the smaller weight.
  Count numerator = 1;
  Count denominator = 1;
  for (std::uint64_t k = 0; k < y; ++k) {
    numerator *= dim - x - k;
    denominator *= dim - k;
  }
  return Rational(numerator, denominator);
}

Rational constant_weight_expected_pairs(const OrthogonalVectorsShape& shape, const ConstantWeights& weights) {
  const std::uint64_t w = weights.weight;
  const bool heavier = weights.num_a_heavier > 0 || weights.num_b_heavier > 0;
  require(w + (heavier ? 1 : 0) <= shape.dim, ErrorKind::parameter,
          "weight {}{} in dimension {}, expected at most the dimension", w, heavier ? " + 1" : "", shape.dim);
  require(weights.num_a_heavier <= shape.num_a && weights.num_b_heavier <= shape.num_b, ErrorKind::parameter,
          "{} and {} heavier vectors of {} and {}, expected no more than there are", weights.num_a_heavier,
          weights.num_b_heavier, shape.num_a, shape.num_b);
  Rational total = 0;
  for (std::uint64_t a_extra = 0; a_extra < 2; ++a_extra) {
    for (std::uint64_t b_extra = 0; b_extra < 2; ++b_extra) {
      const Count in_a = a_extra == 1 ? weights.num_a_heavier : shape.num_a - weights.num_a_heavier;
      const Count in_b = b_extra == 1 ? weights.num_b_heavier : shape.num_b - weights.num_b_heavier;
      const Count number = in_a * in_b;
      if (number != 0) total += orthogonality_probability(shape.dim, w + a_extra, w + b_extra) * number;
    }
  }
  return total;
}

ConstantWeights constant_weights_for(const OrthogonalVectorsShape& shape, double mean) {
  require_mean(shape, mean);
  const Rational wanted(mean);
  const Rational all = Rational(Count(shape.num_a) * shape.num_b);
  // The heaviest w with rho(w, w) >= wanted/all: rho falls from 1 at w = 0, so one exists.
  std::uint64_t low = 0;
  std::uint64_t high = shape.dim / 2 + 1;  // rho(high, high) = 0
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (orthogonality_probability(shape.dim, middle, middle) * all >= wanted ? low : high) = middle;
  }
  ConstantWeights weights{low, 0, 0};
  const Rational both_light = orthogonality_probability(shape.dim, low, low) * all;
  const Rational one_heavy = orthogonality_probability(shape.dim, low, low + 1) * all;
  const Rational both_heavy = orthogonality_probability(shape.dim, low + 1, low + 1) * all;
  // The expectation is linear in the number of heavier vectors: first on B, then (all of B heavier) on A.
  const auto nearest = [&](const Rational& from, const Rational& to, std::uint64_t vectors) -> std::uint64_t {
    if (from == to) return 0;
    const Rational share = (from - wanted) / (from - to) * Rational(Count(vectors)) + Rational(1, 2);
    return to_u64(Count(numerator(share) / denominator(share)), "number of heavier vectors");
  };
  if (wanted >= one_heavy) {
    weights.num_b_heavier = nearest(both_light, one_heavy, shape.num_b);
  } else {
    weights.num_b_heavier = shape.num_b;
    weights.num_a_heavier = nearest(one_heavy, both_heavy, shape.num_a);
  }
  return weights;
}

}  // namespace subquad::problems
