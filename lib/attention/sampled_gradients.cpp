#include "sampled_row.hpp"

#include <subquad/attention/sampled_gradients.hpp>
#include <subquad/core/error.hpp>

#include <boost/random/discrete_distribution.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <vector>

namespace subquad::attention {
namespace {

using problems::Attention;
using problems::MatrixD;

void check(const Attention::Instance& instance, const MatrixD& upstream, const ann::Neighbors& neighbors,
           const SampledGradientOptions& options, std::uint64_t samples, const char* name) {
  check_sampling(instance, neighbors, options.gap);
  require(upstream.rows() == instance.q.rows() && upstream.cols() == instance.v.cols(), ErrorKind::parameter,
          "sampled gradient: the upstream gradient is {} x {}, expected {} x {}", upstream.rows(), upstream.cols(),
          instance.q.rows(), instance.v.cols());
  for (Eigen::Index i = 0; i < upstream.rows(); ++i) {
    for (Eigen::Index c = 0; c < upstream.cols(); ++c) {
      require(std::isfinite(upstream(i, c)), ErrorKind::parameter,
              "sampled gradient: G[{},{}] is {}, expected a finite number", i, c, upstream(i, c));
    }
  }
  require(samples >= 1, ErrorKind::parameter, "sampled gradient: no {}, expected at least 1", name);
}

/// One set of walks for a column: where they start, and what a visit counts in the estimate.
struct Walk {
  std::vector<double> start;  // unnormalised
  double weight = 0.0;        // the estimate is weight * visits / walks
};

std::array<Walk, 2> walks_of(const Eigen::VectorXd& y, WalkSign sign) {
  const auto n = static_cast<std::size_t>(y.size());
  std::array<Walk, 2> walks{Walk{std::vector<double>(n), 0.0}, Walk{std::vector<double>(n), 0.0}};
  const double least = y.size() > 0 ? y.minCoeff() : 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double value = y[static_cast<Eigen::Index>(i)];
    walks[0].start[i] = sign == WalkSign::split ? std::max(value, 0.0) : value - least;
    walks[1].start[i] = sign == WalkSign::split ? std::max(-value, 0.0) : 1.0;
    walks[0].weight += walks[0].start[i];
    walks[1].weight += walks[1].start[i];
  }
  walks[1].weight *= sign == WalkSign::split ? -1.0 : least;
  return walks;
}

/// Sums of one row's samples: E[g], E[K], E[g K] with weights that add up to 1.
struct RowMoments {
  double g = 0.0;
  Eigen::RowVectorXd k, gk;

  explicit RowMoments(Eigen::Index dim) : k(Eigen::RowVectorXd::Zero(dim)), gk(Eigen::RowVectorXd::Zero(dim)) {}
  void add(double weight, double value, const Eigen::Ref<const Eigen::RowVectorXd>& key) {
    g += weight * value;
    k += weight * key;
    gk += weight * value * key;
  }
  Eigen::RowVectorXd covariance() const { return gk - g * k; }
};

/// Adds coefficient * rows(i) to row `key` of the result for what `sample(i, entries)` lists of every query i: sampling
/// in parallel, a chunk of queries at a time, then the sums in the order of queries, so that they do not depend on the
/// threads.
template <class Sample>
void scatter(const MatrixD& rows, std::uint64_t entries_each, const Execution& execution, Sample&& sample,
             MatrixD& result) {
  const auto n = static_cast<std::uint64_t>(rows.rows());
  const std::uint64_t chunk = std::clamp<std::uint64_t>((std::uint64_t{1} << 22) / (entries_each + 1), 16, 4096);
  std::vector<std::vector<WeightedKey>> entries(std::min(chunk, n));
  for (std::uint64_t first = 0; first < n; first += chunk) {
    const std::uint64_t count = std::min(chunk, n - first);
    parallel_for(execution, count, 16, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t a = begin; a < end; ++a) {
        entries[a].clear();
        sample(first + a, entries[a]);
      }
    });
    for (std::uint64_t a = 0; a < count; ++a) {
      const auto row = rows.row(static_cast<Eigen::Index>(first + a));
      for (const WeightedKey& entry : entries[a]) {
        result.row(static_cast<Eigen::Index>(entry.key)) += entry.weight * row;
      }
    }
  }
}

/// The listed keys and the up-weighted tail of a row with weights that add up to 1: an estimate of P_i.
std::vector<WeightedKey> estimated_row(const SampledRow& row, std::uint64_t samples, Random& random) {
  std::vector<WeightedKey> keys = row.upweighted(samples, random);
  double sum = 0;
  for (const WeightedKey& key : keys) sum += key.weight;
  for (WeightedKey& key : keys) key.weight /= sum;
  return keys;
}

/// Every key is listed, and the listed keys are all that is used.
bool needs_no_sample(const Attention::Instance& instance, const ann::Neighbors& neighbors,
                     const SampledGradientOptions& options) {
  return options.upweighted && lists_all_keys(instance, neighbors);
}

}  // namespace

std::uint64_t walk_samples(std::uint64_t num_keys, std::uint64_t value_dim, double epsilon, double delta) {
  require(epsilon > 0 && std::isfinite(epsilon), ErrorKind::parameter,
          "walks: epsilon = {}, expected a positive number", epsilon);
  require(delta > 0 && delta < 1, ErrorKind::parameter, "walks: delta = {}, expected a number in (0, 1)", delta);
  const double entries = static_cast<double>(num_keys) * static_cast<double>(value_dim);
  const double walks = std::ceil(std::log(4 * std::max(entries, 1.0) / delta) / (2 * epsilon * epsilon));
  require(walks <= 0x1p62, ErrorKind::resource, "walks: {:.3g} are needed, at most 2^62 can be counted", walks);
  return static_cast<std::uint64_t>(walks);
}

double query_gradient_error_bound(std::uint64_t samples, double scale, double g_bound, double key_bound, double delta) {
  require(samples >= 1, ErrorKind::parameter, "query gradient: no sample");
  require(delta > 0 && delta < 1, ErrorKind::parameter, "query gradient: delta = {}, expected a number in (0, 1)",
          delta);
  require(g_bound >= 0 && key_bound >= 0, ErrorKind::parameter, "query gradient: bounds {} and {}, expected >= 0",
          g_bound, key_bound);
  const double t = std::sqrt(2 * std::log(6 / delta) / static_cast<double>(samples));
  return std::fabs(scale) * g_bound * key_bound * (3 * t + t * t);
}

namespace {

MatrixD upweighted_value_gradient(const Attention::Instance& instance, const MatrixD& upstream,
                                  const ann::Neighbors& neighbors, const SampledGradientOptions& options,
                                  const Execution& execution) {
  check(instance, upstream, neighbors, options, needs_no_sample(instance, neighbors, options) ? 1 : options.samples,
        "sample");
  MatrixD result = MatrixD::Zero(instance.k.rows(), upstream.cols());
  const Random base = Random(options.seed).split("value gradient");
  const ProgressScope progress(execution, "value gradient", static_cast<std::uint64_t>(instance.q.rows()));
  scatter(
      upstream, neighbors.k() + options.samples, execution,
      [&](std::uint64_t i, std::vector<WeightedKey>& entries) {
        Random random = base.split(i);
        entries = estimated_row(SampledRow(instance, neighbors, i), options.samples, random);
      },
      result);
  return result;
}

}  // namespace

MatrixD sampled_value_gradient(const Attention::Instance& instance, const MatrixD& upstream,
                               const ann::Neighbors& neighbors, const SampledGradientOptions& options,
                               const Execution& execution) {
  if (options.upweighted) return upweighted_value_gradient(instance, upstream, neighbors, options, execution);
  check(instance, upstream, neighbors, options, options.walks, "walk");
  const auto n = static_cast<std::size_t>(instance.q.rows());
  const auto n_k = static_cast<std::size_t>(instance.k.rows());
  const auto width = static_cast<std::size_t>(upstream.cols());
  MatrixD result = MatrixD::Zero(instance.k.rows(), upstream.cols());
  if (n == 0 || width == 0) return result;
  const Random base = Random(options.seed).split("value gradient");

  // Where the walks start: starts[(i, column, set)]. Then rows are independent, and each builds its sampler once.
  std::vector<std::uint64_t> starts(n * width * 2, 0);
  std::vector<double> weight(width * 2);
  for (std::size_t c = 0; c < width; ++c) {
    const std::array<Walk, 2> walks = walks_of(upstream.col(static_cast<Eigen::Index>(c)), options.sign);
    for (std::size_t set = 0; set < 2; ++set) {
      weight[c * 2 + set] = walks[set].weight;
      if (walks[set].weight == 0) continue;
      boost::random::discrete_distribution<std::size_t, double> start(walks[set].start);
      Random random = base.split("start").split(c * 2 + set);
      for (std::uint64_t w = 0; w < options.walks; ++w) ++starts[(start(random) * width + c) * 2 + set];
    }
  }
  std::vector<std::uint64_t> visits(n_k * width * 2, 0);
  const ProgressScope progress(execution, "value gradient", n);
  parallel_for(execution, n, 16, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint64_t* row_starts = starts.data() + i * width * 2;
      if (std::all_of(row_starts, row_starts + width * 2, [](std::uint64_t count) { return count == 0; })) continue;
      const SampledRow row(instance, neighbors, i);
      const LazyGumbelSampler sampler = row.sampler(options.gap);
      Random random = base.split("step").split(i);
      for (std::size_t set = 0; set < width * 2; ++set) {
        for (std::uint64_t w = 0; w < row_starts[set]; ++w) {
          std::uint64_t& count = visits[sampler.draw(random).key * width * 2 + set];
          std::atomic_ref<std::uint64_t>(count).fetch_add(1, std::memory_order_relaxed);
        }
      }
    }
  });
  for (std::size_t l = 0; l < n_k; ++l) {
    for (std::size_t c = 0; c < width; ++c) {
      double sum = 0;
      for (std::size_t set = 0; set < 2; ++set) {
        sum += weight[c * 2 + set] * static_cast<double>(visits[(l * width + c) * 2 + set]);
      }
      result(static_cast<Eigen::Index>(l), static_cast<Eigen::Index>(c)) = sum / static_cast<double>(options.walks);
    }
  }
  return result;
}

MatrixD sampled_query_gradient(const Attention::Instance& instance, const MatrixD& upstream,
                               const ann::Neighbors& neighbors, const SampledGradientOptions& options,
                               const Execution& execution) {
  check(instance, upstream, neighbors, options, needs_no_sample(instance, neighbors, options) ? 1 : options.samples,
        "sample");
  MatrixD result(instance.q.rows(), instance.q.cols());
  const Random base = Random(options.seed).split("query gradient");
  const auto n = static_cast<std::uint64_t>(instance.q.rows());
  const ProgressScope progress(execution, "query gradient", n);
  parallel_for(execution, n, 16, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      const SampledRow row(instance, neighbors, i);
      Random random = base.split(i);
      std::vector<WeightedKey> keys;
      if (options.upweighted) {
        keys = row.upweighted(options.samples, random);
      } else {
        const LazyGumbelSampler sampler = row.sampler(options.gap);
        for (std::uint64_t t = 0; t < options.samples; ++t) keys.push_back({sampler.draw(random).key, 1.0});
      }
      double sum = 0;
      for (const WeightedKey& key : keys) sum += key.weight;
      RowMoments moments(instance.k.cols());
      const auto r = static_cast<Eigen::Index>(i);
      for (const WeightedKey& key : keys) {
        const auto l = static_cast<Eigen::Index>(key.key);
        moments.add(key.weight / sum, upstream.row(r).dot(instance.v.row(l)), instance.k.row(l));
      }
      result.row(r) = instance.scale * moments.covariance();
    }
  });
  return result;
}

MatrixD sampled_key_gradient(const Attention::Instance& instance, const MatrixD& upstream,
                             const ann::Neighbors& neighbors, const SampledGradientOptions& options,
                             const Execution& execution) {
  check(instance, upstream, neighbors, options, needs_no_sample(instance, neighbors, options) ? 1 : options.samples,
        "sample");
  MatrixD result = MatrixD::Zero(instance.k.rows(), instance.k.cols());
  const Random base = Random(options.seed).split("key gradient");
  const ProgressScope progress(execution, "key gradient", static_cast<std::uint64_t>(instance.q.rows()));
  scatter(
      instance.q, neighbors.k() + options.samples, execution,
      [&](std::uint64_t i, std::vector<WeightedKey>& entries) {
        const SampledRow row(instance, neighbors, i);
        Random random = base.split(i);
        const auto upstream_row = upstream.row(static_cast<Eigen::Index>(i));
        const auto g = [&](std::uint32_t key) {
          return upstream_row.dot(instance.v.row(static_cast<Eigen::Index>(key)));
        };
        double mean = 0;
        if (options.upweighted) {
          entries = estimated_row(row, options.samples, random);
          for (const WeightedKey& entry : entries) mean += entry.weight * g(entry.key);
        } else {
          const LazyGumbelSampler sampler = row.sampler(options.gap);
          const double share = 1.0 / static_cast<double>(options.samples);
          for (std::uint64_t t = 0; t < options.samples; ++t) mean += share * g(sampler.draw(random).key);
          for (std::uint64_t t = 0; t < options.samples; ++t) entries.push_back({sampler.draw(random).key, share});
        }
        for (WeightedKey& entry : entries) entry.weight *= instance.scale * (g(entry.key) - mean);
      },
      result);
  return result;
}

}  // namespace subquad::attention
