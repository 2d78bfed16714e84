#include <subquad/ann/top_k.hpp>
#include <subquad/attention/adaptive_top_k.hpp>
#include <subquad/attention/top_k_attention.hpp>
#include <subquad/core/error.hpp>

#include <algorithm>
#include <cmath>

namespace subquad::attention {
namespace {

using problems::Attention;

ann::Neighbors search(const Attention::Instance& x, std::uint64_t k, ann::Arithmetic arithmetic,
                      const Execution& execution) {
  return arithmetic == ann::Arithmetic::float32 ? ann::exact_top_k_in_float32(x.q, x.k, k, {}, execution)
                                                : ann::exact_top_k(x.q, x.k, k, {}, execution);
}

}  // namespace

AdaptiveTopKResult adaptive_top_k_attention(const Attention::Instance& instance, double tolerance,
                                            ann::Arithmetic arithmetic, const Execution& execution) {
  problems::validate(instance);
  require(tolerance > 0, ErrorKind::parameter, "knn: the tolerance eps_a is {}, expected a positive number", tolerance);
  const Eigen::Index n = instance.q.rows();
  AdaptiveTopKResult result;
  result.output.resize(n, instance.v.cols());
  result.error_bound.resize(n);
  result.keys.assign(static_cast<std::size_t>(n), 0);
  std::vector<Eigen::Index> open(static_cast<std::size_t>(n));
  for (Eigen::Index i = 0; i < n; ++i) open[static_cast<std::size_t>(i)] = i;

  const auto num_keys = static_cast<std::uint64_t>(instance.k.rows());
  Attention::Instance part = instance;
  std::uint64_t k =
      std::max<std::uint64_t>(16, static_cast<std::uint64_t>(std::ceil(std::sqrt(static_cast<double>(num_keys)))));
  while (!open.empty()) {
    k = std::min(k, num_keys);
    part.q.resize(static_cast<Eigen::Index>(open.size()), instance.q.cols());
    for (std::size_t a = 0; a < open.size(); ++a) part.q.row(static_cast<Eigen::Index>(a)) = instance.q.row(open[a]);
    const TopKResult found = top_k_attention(part, search(part, k, arithmetic, execution), std::nullopt, execution);
    std::vector<Eigen::Index> still_open;
    for (std::size_t a = 0; a < open.size(); ++a) {
      const auto row = static_cast<Eigen::Index>(a);
      const double bound = found.error_bound[row];
      if (!(bound <= tolerance) && k < num_keys) {
        still_open.push_back(open[a]);
        continue;
      }
      require(bound <= tolerance, ErrorKind::undecided,
              "knn: row {} with all {} keys: rounding of doubles is proved to be at most {:.3g} only, expected {:.3g}",
              open[a], num_keys, bound, tolerance);
      result.output.row(open[a]) = found.output.row(row);
      result.error_bound[open[a]] = bound;
      result.keys[static_cast<std::size_t>(open[a])] = k;
    }
    open = std::move(still_open);
    k *= 4;
  }
  return result;
}

}  // namespace subquad::attention
