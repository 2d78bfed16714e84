// Hash families: locality-sensitive hash functions with their exact law, drawn by seed.
#pragma once

#include <subquad/core/random.hpp>
#include <subquad/problems/attention.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace subquad::ann {

/// Which points and distances a family is about.
enum class Metric {
  euclidean,  ///< R^d, |x - y|
  angular,    ///< non-zero vectors, |x/|x| - y/|y|| in [0, 2]
  hamming     ///< {0, 1}^d (entries exactly 0 or 1), differing coordinates
};

/// Codes of many points: row i is the tuple of point i. Equal points have equal codes, always (one float path).
using CodeMatrix = problems::RowMajorMatrix<std::int64_t>;

/// A drawn tuple of functions.
class HashTuple {
 public:
  virtual ~HashTuple() = default;
  /// Writes the `length` codes of each row. points: n x dim; returns n x length. Thread-safe.
  virtual CodeMatrix hash(const Eigen::Ref<const problems::MatrixD>& points) const = 0;
};

/// A family over R^dim. A value type.
struct HashFamily {
  std::string name;  ///< "e2lsh(W=4)", "hyperplane", "bit-sampling", "cross-polytope", "spherical-cap(t=1.5, caps=64)"
  Metric metric = Metric::euclidean;
  std::uint64_t dim = 0;
  /// Pr[h(x) = h(y)] for points at this distance; non-increasing.
  std::function<double(double distance)> collision_probability;
  /// Multiply-adds to hash one point into one code, expected: for cost models.
  double operations_per_code = 0.0;
  /// Draws `length` independent functions. Same seed, same functions.
  std::function<std::unique_ptr<const HashTuple>(std::uint64_t length, Random random)> draw;
};

/// dim >= 1; width > 0; caps >= 1; threshold finite; else Error(parameter).
HashFamily e2lsh(std::uint64_t dim, double width);
HashFamily bit_sampling(std::uint64_t dim);
HashFamily hyperplane(std::uint64_t dim);
HashFamily cross_polytope(std::uint64_t dim);
HashFamily spherical_cap(std::uint64_t dim, double threshold, std::uint64_t caps);

/// The distance of two points in the family's metric, in double arithmetic.
double distance(Metric metric, const Eigen::Ref<const Eigen::RowVectorXd>& x,
                const Eigen::Ref<const Eigen::RowVectorXd>& y);

/// Throws Error(parameter), with matrix name and place, for entries that are not finite, zero vectors (angular),
/// entries other than 0 and 1 (Hamming), or a width other than family.dim.
void check_points(const HashFamily& family, const Eigen::Ref<const problems::MatrixD>& points, const std::string& name);

}  // namespace subquad::ann
