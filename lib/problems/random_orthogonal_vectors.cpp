#include "random_subset.hpp"

#include <subquad/core/error.hpp>
#include <subquad/problems/random_orthogonal_vectors.hpp>

#include <algorithm>

namespace subquad::problems {

namespace {

void require_density(double density) {
  require(density >= 0 && density <= 1, ErrorKind::parameter, "density {} of ones, expected 0 to 1", density);
}

void require_both_sides(const OrthogonalVectorsShape& shape) {
  require(shape.num_a >= 1 && shape.num_b >= 1, ErrorKind::parameter,
          "a planted pair in {} x {} vectors, expected at least one a side", shape.num_a, shape.num_b);
}

BitMatrix iid_matrix(std::uint64_t rows, std::uint64_t cols, double density, Random& random) {
  BitMatrix matrix(rows, cols);
  for (std::uint64_t r = 0; r < rows; ++r)
    for (std::uint64_t c = 0; c < cols; ++c)
      if (random.bernoulli(density)) matrix.set(r, c, true);
  return matrix;
}

void clear_row(BitMatrix& matrix, std::uint64_t row) {
  std::ranges::fill(matrix.row(row), std::uint64_t{0});
}

/// Weights of `rows` vectors of which a random choice of `num_heavier` has one more.
std::vector<std::uint64_t> assign_weights(std::uint64_t rows, std::uint64_t weight, std::uint64_t num_heavier,
                                          Random& random) {
  std::vector<std::uint64_t> weights(rows, weight);
  for (const std::uint64_t r : random_subset(rows, num_heavier, random)) ++weights[r];
  return weights;
}

BitMatrix weighted_matrix(const std::vector<std::uint64_t>& weights, std::uint64_t cols, Random& random) {
  const std::vector<std::uint64_t> all = identity(cols);
  BitMatrix matrix(weights.size(), cols);
  for (std::uint64_t r = 0; r < weights.size(); ++r)
    set_bits(matrix.row(r), all, random_subset(cols, weights[r], random));
  return matrix;
}

struct Weighted {
  std::vector<std::uint64_t> a;
  std::vector<std::uint64_t> b;
};

Weighted assign_weights(const OrthogonalVectorsShape& shape, const ConstantWeights& weights, Random& random) {
  constant_weight_expected_pairs(shape, weights);  // refuses weights out of range
  Weighted result;
  result.a = assign_weights(shape.num_a, weights.weight, weights.num_a_heavier, random);
  result.b = assign_weights(shape.num_b, weights.weight, weights.num_b_heavier, random);
  return result;
}

bool is_prime(std::uint64_t s) {
  if (s < 2) return false;
  for (std::uint64_t divisor = 2; divisor * divisor <= s; ++divisor)
    if (s % divisor == 0) return false;
  return true;
}

/// The lines of the projective plane over F_s, each as the ascending numbers of its s+1 points. A point is a
/// one-dimensional subspace of F_s^3, named by its vector whose first non-zero entry is 1; a line is the same, as the
/// points orthogonal to it.
std::vector<std::vector<std::uint64_t>> projective_lines(std::uint64_t s) {
  struct Point {
    std::uint64_t x, y, z;
  };
  std::vector<Point> points{{0, 0, 1}};
  for (std::uint64_t z = 0; z < s; ++z) points.push_back({0, 1, z});
  for (std::uint64_t y = 0; y < s; ++y)
    for (std::uint64_t z = 0; z < s; ++z) points.push_back({1, y, z});
  std::vector<std::vector<std::uint64_t>> lines(points.size());
  for (std::size_t line = 0; line < points.size(); ++line)
    for (std::size_t p = 0; p < points.size(); ++p)
      if ((points[line].x * points[p].x + points[line].y * points[p].y + points[line].z * points[p].z) % s == 0)
        lines[line].push_back(p);
  return lines;
}

}  // namespace

GeneratedOrthogonalVectors random_iid_vectors(const OrthogonalVectorsShape& shape, double density, Random& random) {
  require_density(density);
  GeneratedOrthogonalVectors result;
  result.instance.a = iid_matrix(shape.num_a, shape.dim, density, random);
  result.instance.b = iid_matrix(shape.num_b, shape.dim, density, random);
  return result;
}

GeneratedOrthogonalVectors planted_iid_vectors(const OrthogonalVectorsShape& shape, double density, Random& random) {
  require_both_sides(shape);
  GeneratedOrthogonalVectors result = random_iid_vectors(shape, density, random);
  const std::uint64_t i = random.below(shape.num_a);
  const std::uint64_t j = random.below(shape.num_b);
  clear_row(result.instance.a, i);
  clear_row(result.instance.b, j);
  const double one_side = density / (1 + density);
  for (std::uint64_t c = 0; c < shape.dim; ++c) {
    const double draw = random.unit();
    if (draw < one_side)
      result.instance.a.set(i, c, true);
    else if (draw < 2 * one_side)
      result.instance.b.set(j, c, true);
  }
  result.known = OrthogonalVectors::Answer{{{i, j}}};
  return result;
}

GeneratedOrthogonalVectors random_constant_weight_vectors(const OrthogonalVectorsShape& shape,
                                                          const ConstantWeights& weights, Random& random) {
  const Weighted assigned = assign_weights(shape, weights, random);
  GeneratedOrthogonalVectors result;
  result.instance.a = weighted_matrix(assigned.a, shape.dim, random);
  result.instance.b = weighted_matrix(assigned.b, shape.dim, random);
  return result;
}

GeneratedOrthogonalVectors planted_constant_weight_vectors(const OrthogonalVectorsShape& shape,
                                                           const ConstantWeights& weights, Random& random) {
  require_both_sides(shape);
  const Weighted assigned = assign_weights(shape, weights, random);
  GeneratedOrthogonalVectors result;
  result.instance.a = weighted_matrix(assigned.a, shape.dim, random);
  result.instance.b = weighted_matrix(assigned.b, shape.dim, random);
  const std::uint64_t i = random.below(shape.num_a);
  const std::uint64_t j = random.below(shape.num_b);
  require(assigned.a[i] + assigned.b[j] <= shape.dim, ErrorKind::parameter,
          "a planted pair of weights {} and {} in dimension {}, expected at most {} ones together", assigned.a[i],
          assigned.b[j], shape.dim, shape.dim);
  std::vector<std::uint64_t> complement;
  for (std::uint64_t c = 0; c < shape.dim; ++c)
    if (!result.instance.a.get(i, c)) complement.push_back(c);
  clear_row(result.instance.b, j);
  set_bits(result.instance.b.row(j), complement, random_subset(complement.size(), assigned.b[j], random));
  result.known = OrthogonalVectors::Answer{{{i, j}}};
  return result;
}

GeneratedOrthogonalVectors projective_plane_vectors(const OrthogonalVectorsShape& shape, std::uint64_t order,
                                                    std::uint64_t weight, Random& random) {
  // The order is compared with dim first, so that s^2 cannot overflow and primality costs at most sqrt(dim).
  require(order >= 2 && shape.dim / order > order && order * order + order + 1 <= shape.dim && is_prime(order),
          ErrorKind::parameter,
          "projective plane of order {} in dimension {}, expected a prime s with s^2 + s + 1 <= dimension", order,
          shape.dim);
  require(weight >= order + 1 && weight <= shape.dim, ErrorKind::parameter,
          "vectors of weight {}, expected {} (a line) to {} (the dimension)", weight, order + 1, shape.dim);
  const std::vector<std::vector<std::uint64_t>> lines = projective_lines(order);
  std::vector<std::uint64_t> position = identity(shape.dim);  // point p of the plane is coordinate position[p]
  shuffle(position, random);
  GeneratedOrthogonalVectors result;
  const auto fill = [&](BitMatrix& matrix, std::uint64_t rows) {
    matrix = BitMatrix(rows, shape.dim);
    for (std::uint64_t r = 0; r < rows; ++r) {
      set_bits(matrix.row(r), position, lines[random.below(lines.size())]);
      std::vector<std::uint64_t> rest;
      for (std::uint64_t c = 0; c < shape.dim; ++c)
        if (!matrix.get(r, c)) rest.push_back(c);
      set_bits(matrix.row(r), rest, random_subset(rest.size(), weight - (order + 1), random));
    }
  };
  fill(result.instance.a, shape.num_a);
  fill(result.instance.b, shape.num_b);
  result.known = OrthogonalVectors::Answer{};
  return result;
}

GeneratedOrthogonalVectors guarded_vectors(const OrthogonalVectorsShape& shape, double density, Random& random) {
  require(shape.dim >= 1, ErrorKind::parameter, "a guard coordinate in dimension 0, expected at least 1");
  GeneratedOrthogonalVectors result = random_iid_vectors(shape, density, random);
  const std::uint64_t guard = random.below(shape.dim);
  for (BitMatrix* side : {&result.instance.a, &result.instance.b})
    for (std::uint64_t r = 0; r < side->rows(); ++r) side->set(r, guard, true);
  result.known = OrthogonalVectors::Answer{};
  return result;
}

}  // namespace subquad::problems
