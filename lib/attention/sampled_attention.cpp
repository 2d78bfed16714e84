#include "sampled_row.hpp"

#include <subquad/attention/lazy_gumbel.hpp>
#include <subquad/attention/sampled_attention.hpp>
#include <subquad/core/error.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

namespace subquad::attention {
namespace {

using problems::Attention;
using problems::MatrixD;

void check_probability(double delta) {
  require(delta > 0 && delta < 1, ErrorKind::parameter, "sample size: delta = {}, expected a number in (0, 1)", delta);
}

void check_epsilon(double epsilon) {
  require(epsilon > 0 && std::isfinite(epsilon), ErrorKind::parameter,
          "sample size: epsilon = {}, expected a positive number", epsilon);
}

void check_bound(double bound, const char* name) {
  require(bound >= 0 && std::isfinite(bound), ErrorKind::parameter, "sample size: {} = {}, expected a number >= 0",
          name, bound);
}

/// ceil(x), at least 1; refused where no machine would draw so many.
std::uint64_t whole_samples(double x) {
  require(x <= 0x1p62, ErrorKind::resource, "sample size: {:.3g} samples are needed, at most 2^62 can be counted", x);
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(x)));
}

std::uint64_t odd_groups(double delta) {
  const std::uint64_t groups = whole_samples(8 * std::log(1 / delta));
  return groups % 2 == 0 ? groups + 1 : groups;
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  const double above = *middle;
  return (*std::max_element(values.begin(), middle) + above) / 2;
}

Eigen::RowVectorXd mean_of(const SampledRow& row, const LazyGumbelSampler& sampler, std::uint64_t samples,
                           Random& random, std::uint64_t& logits) {
  Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(row.instance().v.cols());
  for (std::uint64_t t = 0; t < samples; ++t) {
    const GumbelSample sample = sampler.draw(random);
    logits += sample.tail_draws;
    sum += row.instance().v.row(sample.key);
  }
  return sum / static_cast<double>(samples);
}

}  // namespace

std::uint64_t hoeffding_samples(double value_bound, double epsilon, double delta) {
  check_bound(value_bound, "B_V");
  check_epsilon(epsilon);
  check_probability(delta);
  const double ratio = value_bound / epsilon;
  return whole_samples(2 * ratio * ratio * std::log(2 / delta));
}

MedianOfMeansPlan median_of_means_plan(double variance_bound, double epsilon, double delta) {
  check_bound(variance_bound, "the variance");
  check_epsilon(epsilon);
  check_probability(delta);
  return {odd_groups(delta), whole_samples(4 * variance_bound / epsilon / epsilon)};
}

MedianOfMeansPlan median_of_means_relative_plan(double value_bound, double lower_bound, double epsilon, double delta) {
  check_bound(value_bound, "B_V");
  check_epsilon(epsilon);
  check_probability(delta);
  require(lower_bound > 0 && lower_bound <= value_bound, ErrorKind::parameter,
          "sample size: the lower bound of the output is {}, expected a number in (0, B_V = {}]", lower_bound,
          value_bound);
  return {odd_groups(delta), whole_samples(4 * value_bound / lower_bound / epsilon / epsilon)};
}

namespace {

/// ceil(factor ((n - k)/k)^2 (B_V/epsilon)^2), at least 1 unless k = n.
Count tail_samples(std::uint64_t num_keys, std::uint64_t k, double value_bound, double epsilon, double delta,
                   double factor) {
  check_bound(value_bound, "B_V");
  check_epsilon(epsilon);
  check_probability(delta);
  require(k >= 1 && k <= num_keys, ErrorKind::parameter, "sample size: k = {} of {} keys, expected 1 to {}", k,
          num_keys, num_keys);
  if (k == num_keys) return 0;
  const double ratio = static_cast<double>(num_keys - k) / static_cast<double>(k) * (value_bound / epsilon);
  const double samples = std::ceil(factor * ratio * ratio);
  require(std::isfinite(samples), ErrorKind::resource, "sample size: the number of samples overflows a double");
  return std::max(Count(1), Count(samples));
}

}  // namespace

Count upweighted_tail_samples(std::uint64_t num_keys, std::uint64_t k, double value_bound, double epsilon, double delta,
                              double gap) {
  require(gap >= 0 && std::isfinite(gap), ErrorKind::parameter, "sample size: gap = {}, expected a number >= 0", gap);
  return tail_samples(num_keys, k, value_bound, epsilon, delta, 2 * std::exp(2 * gap) * std::log(2 / delta));
}

Count upweighted_tail_samples_of_paper(std::uint64_t num_keys, std::uint64_t k, double value_bound, double epsilon,
                                       double delta) {
  return tail_samples(num_keys, k, value_bound, epsilon, delta, 8 * std::log(4 / delta));
}

SampledResult sampled_attention(const Attention::Instance& instance, const ann::Neighbors& neighbors,
                                const SampledOptions& options, const Execution& execution) {
  check_sampling(instance, neighbors, options.gap);
  require(
      options.samples >= 1 || (options.estimator == Estimator::upweighted_tail && lists_all_keys(instance, neighbors)),
      ErrorKind::parameter, "sampled attention: {} samples, expected at least 1", options.samples);
  require(options.groups >= 1, ErrorKind::parameter, "sampled attention: no group, expected at least 1");
  SampledResult result;
  result.output.resize(instance.q.rows(), instance.v.cols());
  std::atomic<std::uint64_t> logits{0};
  const Random base = Random(options.seed).split("row");
  const auto n = static_cast<std::uint64_t>(instance.q.rows());
  const ProgressScope progress(execution, "sampled attention", n);
  parallel_for(execution, n, 8, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t computed = 0;
    for (std::uint64_t i = begin; i < end; ++i) {
      const SampledRow row(instance, neighbors, i);
      Random random = base.split(i);
      auto output = result.output.row(static_cast<Eigen::Index>(i));
      if (options.estimator == Estimator::upweighted_tail) {
        const std::vector<WeightedKey> keys = row.upweighted(options.samples, random);
        computed += keys.size() - row.listed();
        double sum = 0;
        output.setZero();
        for (const WeightedKey& key : keys) {
          sum += key.weight;
          output += key.weight * instance.v.row(key.key);
        }
        output /= sum;
        continue;
      }
      const LazyGumbelSampler sampler = row.sampler(options.gap);
      if (options.estimator == Estimator::mean) {
        output = mean_of(row, sampler, options.samples, random, computed);
        continue;
      }
      MatrixD means(static_cast<Eigen::Index>(options.groups), instance.v.cols());
      for (Eigen::Index g = 0; g < means.rows(); ++g) {
        means.row(g) = mean_of(row, sampler, options.samples, random, computed);
      }
      std::vector<double> column(options.groups);
      for (Eigen::Index c = 0; c < means.cols(); ++c) {
        for (Eigen::Index g = 0; g < means.rows(); ++g) column[static_cast<std::size_t>(g)] = means(g, c);
        output[c] = median(column);
      }
    }
    logits += computed;
  });
  result.logits = logits;
  return result;
}

}  // namespace subquad::attention
