// Neighbour pairs: queries with one key just within r and one just beyond c r, in three metrics.
#pragma once

#include <subquad/core/random.hpp>
#include <subquad/problems/attention.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace subquad::test {

/// Queries, keys and all distances in long double. Distances keep 1e-9 away from r and c r, so that long double decides
/// them (Hamming: integers).
struct NeighborPairs {
  problems::MatrixD q, k;
  double radius = 0.0, ratio = 0.0;
  long double near = 0, far = 0;
  std::vector<long double> distances;  // n x n_k

  long double distance(std::size_t i, std::size_t j) const {
    return distances[i * static_cast<std::size_t>(k.rows()) + j];
  }
  std::uint64_t count_near() const {
    std::uint64_t count = 0;
    for (const long double d : distances) count += d <= near ? 1 : 0;
    return count;
  }
  std::uint64_t count_far() const {
    std::uint64_t count = 0;
    for (const long double d : distances) count += d > far ? 1 : 0;
    return count;
  }
};

/// Fills in the distances; `distance(i, j)` of rows.
template <class Distance>
NeighborPairs with_distances(problems::MatrixD q, problems::MatrixD k, double radius, double ratio,
                             Distance&& distance) {
  NeighborPairs x;
  x.q = std::move(q);
  x.k = std::move(k);
  x.radius = radius;
  x.ratio = ratio;
  x.near = radius;
  x.far = static_cast<long double>(radius) * ratio;
  for (Eigen::Index i = 0; i < x.q.rows(); ++i) {
    for (Eigen::Index j = 0; j < x.k.rows(); ++j) x.distances.push_back(distance(x.q.row(i), x.k.row(j)));
  }
  return x;
}

inline Eigen::RowVectorXd random_direction(Random& random, Eigen::Index dim) {
  Eigen::RowVectorXd x(dim);
  for (Eigen::Index t = 0; t < dim; ++t) x[t] = random.normal();
  return x.normalized();
}

/// n queries in a box of side 4 c r; key 2i is just within r of query i, key 2i + 1 just beyond c r.
inline NeighborPairs euclidean_pairs(Random& random, Eigen::Index n, Eigen::Index dim, double radius, double ratio) {
  problems::MatrixD q(n, dim), k(2 * n, dim);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index t = 0; t < dim; ++t) q(i, t) = 4 * radius * ratio * random.unit();
    k.row(2 * i) = q.row(i) + radius * (1 - 1e-9) * random_direction(random, dim);
    k.row(2 * i + 1) = q.row(i) + radius * ratio * (1 + 1e-9) * random_direction(random, dim);
  }
  return with_distances(std::move(q), std::move(k), radius, ratio, [](const auto& x, const auto& y) {
    long double sum = 0;
    for (Eigen::Index t = 0; t < x.size(); ++t) {
      const long double difference = static_cast<long double>(x[t]) - static_cast<long double>(y[t]);
      sum += difference * difference;
    }
    return std::sqrt(sum);
  });
}

/// The same on the sphere, c r <= 2; rows have lengths between 1/2 and 3/2.
inline NeighborPairs angular_pairs(Random& random, Eigen::Index n, Eigen::Index dim, double radius, double ratio) {
  problems::MatrixD q(n, dim), k(2 * n, dim);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Eigen::RowVectorXd x = random_direction(random, dim);
    q.row(i) = (0.5 + random.unit()) * x;
    for (int far = 0; far < 2; ++far) {
      Eigen::RowVectorXd y = random_direction(random, dim);
      y = (y - y.dot(x) * x).normalized();
      const double chord = far == 1 ? std::fmin(2.0, radius * ratio * (1 + 1e-9)) : radius * (1 - 1e-9);
      const double angle = 2 * std::asin(chord / 2);
      k.row(2 * i + far) = (0.5 + random.unit()) * (std::cos(angle) * x + std::sin(angle) * y);
    }
  }
  return with_distances(std::move(q), std::move(k), radius, ratio, [](const auto& x, const auto& y) {
    long double xx = 0, yy = 0, square = 0;
    for (Eigen::Index t = 0; t < x.size(); ++t) {
      xx += static_cast<long double>(x[t]) * static_cast<long double>(x[t]);
      yy += static_cast<long double>(y[t]) * static_cast<long double>(y[t]);
    }
    for (Eigen::Index t = 0; t < x.size(); ++t) {
      const long double difference =
          static_cast<long double>(x[t]) / std::sqrt(xx) - static_cast<long double>(y[t]) / std::sqrt(yy);
      square += difference * difference;
    }
    return std::sqrt(square);
  });
}

/// Random bits; key 2i differs in `radius` places from query i, key 2i + 1 in c r + 1.
inline NeighborPairs hamming_pairs(Random& random, Eigen::Index n, Eigen::Index dim, int radius, int ratio) {
  problems::MatrixD q(n, dim), k(2 * n, dim);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index t = 0; t < dim; ++t) q(i, t) = random.bernoulli(0.5) ? 1 : 0;
    for (int far = 0; far < 2; ++far) {
      k.row(2 * i + far) = q.row(i);
      const auto start = static_cast<Eigen::Index>(random.below(static_cast<std::uint64_t>(dim)));
      for (int flip = 0; flip < (far == 1 ? radius * ratio + 1 : radius); ++flip) {
        double& bit = k(2 * i + far, (start + flip) % dim);
        bit = 1 - bit;
      }
    }
  }
  return with_distances(std::move(q), std::move(k), radius, ratio, [](const auto& x, const auto& y) {
    return static_cast<long double>((x.array() != y.array()).count());
  });
}

}  // namespace subquad::test
