#include "point_layouts.hpp"

#include <subquad/core/error.hpp>

#include <algorithm>
#include <cmath>

namespace subquad::drivers {
namespace {

using problems::MatrixD;

constexpr Eigen::Index kCentres = 32;

MatrixD uniform(Eigen::Index rows, Eigen::Index cols, double bound, Random random) {
  MatrixD m(rows, cols);
  for (Eigen::Index e = 0; e < m.size(); ++e) m.data()[e] = bound * (2 * random.unit() - 1);
  return m;
}

MatrixD points(PointLayout layout, Eigen::Index n, Eigen::Index dim, double bound, const MatrixD& centres,
               const Random& random) {
  if (layout == PointLayout::uniform) return uniform(n, dim, bound, random);
  if (layout == PointLayout::clustered) {
    MatrixD m = uniform(n, dim, 0.1 * bound, random.split("noise"));
    Random choice = random.split("choice");
    for (Eigen::Index i = 0; i < n; ++i) m.row(i) += centres.row(static_cast<Eigen::Index>(choice.below(kCentres)));
    return m;
  }
  MatrixD m(n, dim);
  Random draw = random.split("tails");
  for (Eigen::Index e = 0; e < m.size(); ++e) {
    // Student's t with 2 degrees of freedom: normal over the root of half a chi-square with 2, an exponential.
    const double exponential = -std::log(1 - draw.unit());
    const double t = draw.normal() / std::sqrt(std::max(exponential, 1e-12));
    m.data()[e] = bound * std::clamp(0.1 * t, -10.0, 10.0);
  }
  return m;
}

}  // namespace

std::string to_string(PointLayout layout) {
  return layout == PointLayout::uniform ? "uniform" : layout == PointLayout::clustered ? "clustered" : "heavy-tailed";
}

PointLayout parse_layout(const std::string& name) {
  for (const PointLayout layout : {PointLayout::uniform, PointLayout::clustered, PointLayout::heavy_tailed}) {
    if (to_string(layout) == name) return layout;
  }
  fail(ErrorKind::parameter, "no layout is called '{}'; there are: uniform, clustered, heavy-tailed", name);
}

problems::Attention::Instance layout_instance(PointLayout layout, std::uint64_t n, std::uint64_t dim, double bound,
                                              const Random& random) {
  const auto rows = static_cast<Eigen::Index>(n);
  const auto cols = static_cast<Eigen::Index>(dim);
  const MatrixD centres = uniform(kCentres, cols, bound, random.split("centres"));
  problems::Attention::Instance x;
  x.q = points(layout, rows, cols, bound, centres, random.split("queries"));
  x.k = points(layout, rows, cols, bound, centres, random.split("keys"));
  x.v = uniform(rows, cols, bound, random.split("values"));
  x.scale = 1 / std::sqrt(static_cast<double>(dim));
  x.entry_bound = 10 * bound;
  return x;
}

}  // namespace subquad::drivers
