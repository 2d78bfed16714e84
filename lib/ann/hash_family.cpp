#include <subquad/ann/collision_probability.hpp>
#include <subquad/ann/hash_family.hpp>
#include <subquad/core/error.hpp>

#include <algorithm>
#include <cmath>
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

/// A tuple whose code number c of a point is `code(point, c)`, computed row by row.
template <class Code>
class PointwiseTuple final : public HashTuple {
 public:
  PointwiseTuple(std::uint64_t length, Code code)
      : length_(static_cast<Eigen::Index>(length)), code_(std::move(code)) {}

  CodeMatrix hash(const View& points) const override {
    CodeMatrix codes(points.rows(), length_);
    for (Eigen::Index begin = 0; begin < points.rows(); begin += kBlock) {
      const Eigen::Index end = std::min(begin + kBlock, points.rows());
      for (Eigen::Index c = 0; c < length_; ++c) {
        for (Eigen::Index i = begin; i < end; ++i) codes(i, c) = code_(points.row(i), c);
      }
    }
    return codes;
  }

 private:
  Eigen::Index length_;
  Code code_;
};

template <class Code>
std::unique_ptr<const HashTuple> pointwise(std::uint64_t length, Code code) {
  return std::make_unique<const PointwiseTuple<Code>>(length, std::move(code));
}

void check_dim(std::uint64_t dim, const char* name) {
  require(dim >= 1, ErrorKind::parameter, "{}: dimension 0, expected at least 1", name);
}

/// floor as an integer; buckets beyond 2^62 share one code at each end (a false collision there is what A1 would see).
std::int64_t floor_code(double x) {
  return static_cast<std::int64_t>(std::clamp(std::floor(x), -0x1p62, 0x1p62));
}

}  // namespace

HashFamily e2lsh(std::uint64_t dim, double width) {
  check_dim(dim, "e2lsh");
  require(width > 0 && std::isfinite(width), ErrorKind::parameter, "e2lsh: width {}, expected a positive number",
          width);
  HashFamily family;
  family.name = fmt::format("e2lsh(W={:g})", width);
  family.metric = Metric::euclidean;
  family.dim = dim;
  family.collision_probability = [width](double u) { return e2lsh_collision_probability(u, width); };
  family.draw = [dim, width](std::uint64_t length, Random random) {
    MatrixD directions = normal_matrix(random, length, dim);
    Eigen::VectorXd offsets(static_cast<Eigen::Index>(length));
    for (Eigen::Index c = 0; c < offsets.size(); ++c) offsets[c] = width * random.unit();
    return pointwise(length, [directions = std::move(directions), offsets = std::move(offsets), width](const auto& x,
                                                                                                       Eigen::Index c) {
      return floor_code((project(x, directions.row(c)) + offsets[c]) / width);
    });
  };
  return family;
}

HashFamily bit_sampling(std::uint64_t dim) {
  check_dim(dim, "bit sampling");
  HashFamily family;
  family.name = "bit-sampling";
  family.metric = Metric::hamming;
  family.dim = dim;
  family.collision_probability = [dim](double u) { return bit_sampling_collision_probability(u, dim); };
  family.draw = [dim](std::uint64_t length, Random random) {
    std::vector<Eigen::Index> places(length);
    for (Eigen::Index& place : places) place = static_cast<Eigen::Index>(random.below(dim));
    return pointwise(length, [places = std::move(places)](const auto& x, Eigen::Index c) {
      return static_cast<std::int64_t>(x[places[static_cast<std::size_t>(c)]] != 0);
    });
  };
  return family;
}

HashFamily hyperplane(std::uint64_t dim) {
  check_dim(dim, "hyperplane");
  HashFamily family;
  family.name = "hyperplane";
  family.metric = Metric::angular;
  family.dim = dim;
  family.collision_probability = [](double u) { return hyperplane_collision_probability(u); };
  family.draw = [dim](std::uint64_t length, Random random) {
    MatrixD directions = normal_matrix(random, length, dim);
    return pointwise(length, [directions = std::move(directions)](const auto& x, Eigen::Index c) {
      return static_cast<std::int64_t>(project(x, directions.row(c)) > 0);
    });
  };
  return family;
}

HashFamily cross_polytope(std::uint64_t dim) {
  check_dim(dim, "cross-polytope");
  HashFamily family;
  family.name = "cross-polytope";
  family.metric = Metric::angular;
  family.dim = dim;
  family.collision_probability = [dim](double u) { return cross_polytope_collision_probability(u, dim); };
  family.draw = [dim](std::uint64_t length, Random random) {
    std::vector<MatrixD> rotations;
    for (std::uint64_t c = 0; c < length; ++c) rotations.push_back(normal_matrix(random, dim, dim));
    return pointwise(length, [rotations = std::move(rotations)](const auto& x, Eigen::Index c) {
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
  family.metric = Metric::angular;
  family.dim = dim;
  family.collision_probability = [threshold, caps](double u) {
    return spherical_cap_collision_probability(u, threshold, caps);
  };
  family.draw = [dim, threshold, caps](std::uint64_t length, Random random) {
    std::vector<MatrixD> centres;
    for (std::uint64_t c = 0; c < length; ++c) centres.push_back(normal_matrix(random, caps, dim));
    return pointwise(length, [centres = std::move(centres), threshold](const auto& x, Eigen::Index c) {
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
      return (x.normalized() - y.normalized()).norm();
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
