#include <subquad/ann/collision_probability.hpp>
#include <subquad/ann/hash_family.hpp>
#include <subquad/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace subquad::ann {
namespace {

using problems::MatrixD;
using View = Eigen::Ref<const MatrixD>;

/// Points are hashed in blocks: the projections of a block stay in the cache.
constexpr Eigen::Index kBlock = 256;

MatrixD normal_matrix(Random& random, std::uint64_t rows, std::uint64_t cols) {
  MatrixD matrix(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols));
  for (Eigen::Index e = 0; e < matrix.size(); ++e) matrix.data()[e] = random.normal();
  return matrix;
}

/// One product by a fixed order of operations for each pair, whatever the other points of the block are: Eigen's matrix
/// product may add in another order for another shape, and equal points must have equal codes.
double project(const Eigen::Ref<const Eigen::RowVectorXd>& point,
               const Eigen::Ref<const Eigen::RowVectorXd>& direction) {
  const double* x = point.data();
  const double* a = direction.data();
  double sum[4] = {0, 0, 0, 0};
  const Eigen::Index size = point.size();
  Eigen::Index t = 0;
  for (; t + 4 <= size; t += 4) {
    for (Eigen::Index lane = 0; lane < 4; ++lane) sum[lane] += x[t + lane] * a[t + lane];
  }
  for (; t < size; ++t) sum[0] += x[t] * a[t];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// Directions do not depend on length, but squares of entries overflow or vanish beyond 2^+-500.
bool row_needs_scaling(double largest) {
  return largest != 0 && !(largest > 0x1p-400 && largest < 0x1p400);
}

bool needs_scaling(const View& block) {
  for (Eigen::Index i = 0; i < block.rows(); ++i) {
    if (row_needs_scaling(block.row(i).cwiseAbs().maxCoeff())) return true;
  }
  return false;
}

/// Such rows by a power of two, the others as they are: a row's codes do not depend on its neighbours.
MatrixD scaled(const View& block) {
  MatrixD result = block;
  for (Eigen::Index i = 0; i < block.rows(); ++i) {
    const double largest = block.row(i).cwiseAbs().maxCoeff();
    if (!row_needs_scaling(largest)) continue;
    for (double& entry : result.row(i)) entry = std::scalbn(entry, -std::ilogb(largest));
  }
  return result;
}

/// Hashes a block of rows at a time, scaled first where directions of extreme length need that.
class BlockedTuple : public HashTuple {
 public:
  BlockedTuple(Eigen::Index length, Metric metric) : length_(length), metric_(metric) {}

  CodeMatrix hash(const View& points) const override {
    CodeMatrix codes(points.rows(), length_);
    for (Eigen::Index begin = 0; begin < points.rows(); begin += kBlock) {
      const Eigen::Index end = std::min(begin + kBlock, points.rows());
      const auto block = points.middleRows(begin, end - begin);
      if (metric_ == Metric::angular && needs_scaling(block)) {
        hash_block(scaled(block), begin, codes);
      } else {
        hash_block(block, begin, codes);
      }
    }
    return codes;
  }

 protected:
  Eigen::Index length() const { return length_; }

 private:
  /// Writes the codes of the rows begin, begin + 1, ...
  virtual void hash_block(const View& block, Eigen::Index begin, CodeMatrix& codes) const = 0;

  Eigen::Index length_;
  Metric metric_;
};

/// A tuple whose code number c of a point is `code(point, c)`, computed row by row.
template <class Code>
class PointwiseTuple final : public BlockedTuple {
 public:
  PointwiseTuple(std::uint64_t length, Metric metric, Code code)
      : BlockedTuple(static_cast<Eigen::Index>(length), metric), code_(std::move(code)) {}

 private:
  void hash_block(const View& block, Eigen::Index begin, CodeMatrix& codes) const override {
    for (Eigen::Index c = 0; c < length(); ++c) {
      for (Eigen::Index i = 0; i < block.rows(); ++i) codes(begin + i, c) = code_(block.row(i), c);
    }
  }

  Code code_;
};

template <class Code>
std::unique_ptr<const HashTuple> pointwise(std::uint64_t length, Metric metric, Code code) {
  return std::make_unique<const PointwiseTuple<Code>>(length, metric, std::move(code));
}

/// A tuple of linear functions: code c of a point is `code(<point, a_c>, c)`. Directions are held by coordinates, so
/// that the loop over functions is vectorised; each product is still one fixed sequence of operations, whatever the
/// other points are.
template <class Code>
class LinearTuple final : public BlockedTuple {
 public:
  LinearTuple(const MatrixD& directions, Metric metric, Code code)
      : BlockedTuple(directions.rows(), metric), by_coordinate_(directions.transpose()), code_(std::move(code)) {}

 private:
  void hash_block(const View& block, Eigen::Index begin, CodeMatrix& codes) const override {
    std::vector<double> products(static_cast<std::size_t>(length()));
    for (Eigen::Index i = 0; i < block.rows(); ++i) {
      std::fill(products.begin(), products.end(), 0.0);
      double* sum = products.data();
      for (Eigen::Index t = 0; t < block.cols(); ++t) {
        const double x = block(i, t);
        const double* a = by_coordinate_.row(t).data();
        for (Eigen::Index c = 0; c < length(); ++c) sum[c] += x * a[c];
      }
      for (Eigen::Index c = 0; c < length(); ++c) codes(begin + i, c) = code_(sum[c], c);
    }
  }

  MatrixD by_coordinate_;  // dim x length
  Code code_;
};

template <class Code>
std::unique_ptr<const HashTuple> linear(const MatrixD& directions, Metric metric, Code code) {
  return std::make_unique<const LinearTuple<Code>>(directions, metric, std::move(code));
}

void check_dim(std::uint64_t dim, const char* name) {
  require(dim >= 1, ErrorKind::parameter, "{}: dimension 0, expected at least 1", name);
}

/// floor as an integer; buckets beyond 2^62 share one code at each end (a false collision there is what A1 would see).
std::int64_t floor_code(double x) {
  if (std::isnan(x)) return std::numeric_limits<std::int64_t>::min();  // sums of both signs overflowed
  return static_cast<std::int64_t>(std::clamp(std::floor(x), -0x1p62, 0x1p62));
}

}  // namespace

HashFamily e2lsh(std::uint64_t dim, double width) {
  check_dim(dim, "e2lsh");
  require(width > 0 && std::isfinite(width), ErrorKind::parameter, "e2lsh: width {}, expected a positive number",
          width);
  HashFamily family;
  family.name = fmt::format("e2lsh(W={:g})", width);
  family.operations_per_code = static_cast<double>(dim);
  family.metric = Metric::euclidean;
  family.dim = dim;
  family.collision_probability = [width](double u) { return e2lsh_collision_probability(u, width); };
  family.draw = [dim, width](std::uint64_t length, Random random) {
    const MatrixD directions = normal_matrix(random, length, dim);
    Eigen::VectorXd offsets(static_cast<Eigen::Index>(length));
    for (Eigen::Index c = 0; c < offsets.size(); ++c) offsets[c] = width * random.unit();
    return linear(directions, Metric::euclidean, [offsets = std::move(offsets), width](double product, Eigen::Index c) {
      return floor_code((product + offsets[c]) / width);
    });
  };
  return family;
}

HashFamily bit_sampling(std::uint64_t dim) {
  check_dim(dim, "bit sampling");
  HashFamily family;
  family.name = "bit-sampling";
  family.operations_per_code = 1;
  family.metric = Metric::hamming;
  family.dim = dim;
  family.collision_probability = [dim](double u) { return bit_sampling_collision_probability(u, dim); };
  family.draw = [dim](std::uint64_t length, Random random) {
    std::vector<Eigen::Index> places(length);
    for (Eigen::Index& place : places) place = static_cast<Eigen::Index>(random.below(dim));
    return pointwise(length, Metric::hamming, [places = std::move(places)](const auto& x, Eigen::Index c) {
      return static_cast<std::int64_t>(x[places[static_cast<std::size_t>(c)]] != 0);
    });
  };
  return family;
}

HashFamily hyperplane(std::uint64_t dim) {
  check_dim(dim, "hyperplane");
  HashFamily family;
  family.name = "hyperplane";
  family.operations_per_code = static_cast<double>(dim);
  family.metric = Metric::angular;
  family.dim = dim;
  family.collision_probability = [](double u) { return hyperplane_collision_probability(u); };
  family.draw = [dim](std::uint64_t length, Random random) {
    const MatrixD directions = normal_matrix(random, length, dim);
    return linear(directions, Metric::angular,
                  [](double product, Eigen::Index) { return static_cast<std::int64_t>(product > 0); });
  };
  return family;
}

HashFamily cross_polytope(std::uint64_t dim) {
  check_dim(dim, "cross-polytope");
  HashFamily family;
  family.name = "cross-polytope";
  family.operations_per_code = static_cast<double>(dim) * static_cast<double>(dim);
  family.metric = Metric::angular;
  family.dim = dim;
  family.collision_probability = [dim](double u) { return cross_polytope_collision_probability(u, dim); };
  family.draw = [dim](std::uint64_t length, Random random) {
    std::vector<MatrixD> rotations;
    for (std::uint64_t c = 0; c < length; ++c) rotations.push_back(normal_matrix(random, dim, dim));
    return pointwise(length, Metric::angular, [rotations = std::move(rotations)](const auto& x, Eigen::Index c) {
      const MatrixD& rotation = rotations[static_cast<std::size_t>(c)];
      std::int64_t code = 0;
      double best = -1;
      for (Eigen::Index t = 0; t < rotation.rows(); ++t) {
        const double value = project(x, rotation.row(t));
        if (std::fabs(value) > best) {
          best = std::fabs(value);
          code = 2 * t + (value < 0 ? 1 : 0);
        }
      }
      return code;
    });
  };
  return family;
}

HashFamily spherical_cap(std::uint64_t dim, double threshold, std::uint64_t caps) {
  check_dim(dim, "spherical cap");
  require(std::isfinite(threshold), ErrorKind::parameter, "spherical cap: threshold {}, expected a finite number",
          threshold);
  require(caps >= 1, ErrorKind::parameter, "spherical cap: no cap, expected at least 1");
  HashFamily family;
  family.name = fmt::format("spherical-cap(t={:g}, caps={})", threshold, caps);
  // Caps are tried until one holds the point.
  const double held = 0.5 * std::erfc(threshold / std::numbers::sqrt2);
  const double all = static_cast<double>(caps);
  const double tried = held > 0 ? std::min(all, -std::expm1(all * std::log1p(-held)) / held) : all;
  family.operations_per_code = static_cast<double>(dim) * tried;
  family.metric = Metric::angular;
  family.dim = dim;
  family.collision_probability = [threshold, caps](double u) {
    return spherical_cap_collision_probability(u, threshold, caps);
  };
  family.draw = [dim, threshold, caps](std::uint64_t length, Random random) {
    std::vector<MatrixD> centres;
    for (std::uint64_t c = 0; c < length; ++c) centres.push_back(normal_matrix(random, caps, dim));
    return pointwise(length, Metric::angular, [centres = std::move(centres), threshold](const auto& x, Eigen::Index c) {
      const MatrixD& caps_of_code = centres[static_cast<std::size_t>(c)];
      const double norm = std::sqrt(project(x, x));
      for (Eigen::Index t = 0; t < caps_of_code.rows(); ++t) {
        if (project(x, caps_of_code.row(t)) >= threshold * norm) return static_cast<std::int64_t>(t);
      }
      return std::int64_t{-1};
    });
  };
  return family;
}

double distance(Metric metric, const Eigen::Ref<const Eigen::RowVectorXd>& x,
                const Eigen::Ref<const Eigen::RowVectorXd>& y) {
  switch (metric) {
    case Metric::angular:
      // Rounding can leave opposite directions a little more than 2 apart.
      return std::min(2.0, (x.stableNormalized() - y.stableNormalized()).norm());
    case Metric::hamming:
      return static_cast<double>((x.array() != y.array()).count());
    case Metric::euclidean:
      break;
  }
  return (x - y).stableNorm();
}

void check_points(const HashFamily& family, const View& points, const std::string& name) {
  require(static_cast<std::uint64_t>(points.cols()) == family.dim, ErrorKind::parameter,
          "{}: {} has {} columns, expected {}", family.name, name, points.cols(), family.dim);
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    bool zero = true;
    for (Eigen::Index c = 0; c < points.cols(); ++c) {
      const double entry = points(i, c);
      require(std::isfinite(entry), ErrorKind::parameter, "{}: {}[{},{}] is {}, expected a finite number", family.name,
              name, i, c, entry);
      require(family.metric != Metric::hamming || entry == 0 || entry == 1, ErrorKind::parameter,
              "{}: {}[{},{}] is {}, expected 0 or 1", family.name, name, i, c, entry);
      zero = zero && entry == 0;
    }
    require(family.metric != Metric::angular || !zero, ErrorKind::parameter,
            "{}: row {} of {} is zero, expected a direction: angular families hash non-zero vectors", family.name, i,
            name);
  }
}

}  // namespace subquad::ann
