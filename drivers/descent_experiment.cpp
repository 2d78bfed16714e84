#include "descent_experiment.hpp"

#include "experiment_output.hpp"

#include <subquad/ann/top_k.hpp>
#include <subquad/attention/sampled_gradients.hpp>
#include <subquad/attention/streaming_softmax.hpp>
#include <subquad/attention/streaming_softmax_backward.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/core/stopwatch.hpp>

#include <fmt/format.h>

#include <cmath>

namespace subquad::drivers {
namespace {

using attention::AttentionGradients;
using attention::SampledGradientOptions;
using problems::Attention;
using problems::MatrixD;

MatrixD uniform(std::uint64_t rows, std::uint64_t cols, Random random) {
  MatrixD m(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols));
  for (Eigen::Index e = 0; e < m.size(); ++e) m.data()[e] = 2 * random.unit() - 1;
  return m;
}

Attention::Instance start(std::uint64_t n, std::uint64_t dim, const Random& random) {
  Attention::Instance x;
  x.q = uniform(n, dim, random.split("queries"));
  x.k = uniform(n, dim, random.split("keys"));
  x.v = uniform(n, dim, random.split("values"));
  x.scale = 1 / std::sqrt(static_cast<double>(dim));
  x.entry_bound = 1e6;
  return x;
}

std::uint64_t root(std::uint64_t n) {
  return static_cast<std::uint64_t>(std::ceil(std::sqrt(static_cast<double>(n))));
}

/// The loss and its gradient at the output.
struct Objective {
  DescentLoss loss;
  MatrixD target;           // squared
  std::vector<int> labels;  // cross-entropy

  Objective(DescentLoss kind, std::uint64_t n, std::uint64_t dim, const Random& random)
      : loss(kind), target(uniform(n, dim, random.split("target"))) {
    Random draw = random.split("labels");
    for (std::uint64_t i = 0; i < n; ++i) labels.push_back(static_cast<int>(draw.below(dim)));
  }

  double value(const MatrixD& output) const {
    if (loss == DescentLoss::squared) return 0.5 * (output - target).squaredNorm();
    double sum = 0;
    for (Eigen::Index i = 0; i < output.rows(); ++i) {
      const double largest = output.row(i).maxCoeff();
      sum += largest + std::log((output.row(i).array() - largest).exp().sum()) -
             output(i, labels[static_cast<std::size_t>(i)]);
    }
    return sum;
  }

  MatrixD upstream(const MatrixD& output) const {
    if (loss == DescentLoss::squared) return output - target;
    MatrixD g = output;
    for (Eigen::Index i = 0; i < g.rows(); ++i) {
      g.row(i) = (g.row(i).array() - g.row(i).maxCoeff()).exp().matrix();
      g.row(i) /= g.row(i).sum();
      g(i, labels[static_cast<std::size_t>(i)]) -= 1;
    }
    return g;
  }
};

enum class Method { exact, sampled, upweighted };

/// One descent: the state and a step.
class Descent {
 public:
  Descent(const DescentOptions& options, const Objective& objective, Attention::Instance x, Method method,
          const Execution& execution)
      : options_(options), objective_(objective), x_(std::move(x)), method_(method), execution_(execution) {}

  double value() const { return objective_.value(output()); }

  void step(std::uint64_t number) {
    const MatrixD upstream = objective_.upstream(output());
    const AttentionGradients<MatrixD> g = gradients(upstream, number);
    x_.v -= options_.rate * g.v;
    if (objective_.loss == DescentLoss::squared) return;
    x_.q -= options_.rate * g.q;
    x_.k -= options_.rate * g.k;
  }

 private:
  MatrixD output() const { return attention::streaming_softmax(x_.q, x_.k, x_.v, x_.scale, execution_); }

  AttentionGradients<MatrixD> gradients(const MatrixD& upstream, std::uint64_t number) const {
    if (method_ == Method::exact)
      return attention::streaming_softmax_backward(x_.q, x_.k, x_.v, upstream, x_.scale, {}, execution_);
    const ann::Neighbors neighbors = ann::exact_top_k(x_.q, x_.k, root(options_.n), {}, execution_);
    SampledGradientOptions sampled;
    sampled.samples = options_.samples;
    sampled.walks = options_.samples * options_.n;
    sampled.upweighted = method_ == Method::upweighted;
    sampled.seed = Random(options_.seed).split("step").split(number).seed();
    AttentionGradients<MatrixD> g;
    g.v = sampled_value_gradient(x_, upstream, neighbors, sampled, execution_);
    if (objective_.loss == DescentLoss::squared) return g;
    g.q = sampled_query_gradient(x_, upstream, neighbors, sampled, execution_);
    g.k = sampled_key_gradient(x_, upstream, neighbors, sampled, execution_);
    return g;
  }

  const DescentOptions& options_;
  const Objective& objective_;
  Attention::Instance x_;
  Method method_;
  const Execution& execution_;
};

}  // namespace

std::string to_string(DescentLoss loss) {
  return loss == DescentLoss::squared ? "squared" : "cross-entropy";
}

std::vector<DescentRow> run_descent(const DescentOptions& options, const Execution& execution) {
  require(options.n >= 1 && options.dim >= 1 && options.samples >= 1 && options.steps >= 1, ErrorKind::parameter,
          "gradient-descent: n = {}, d = {}, {} samples, {} steps; expected at least 1 each", options.n, options.dim,
          options.samples, options.steps);
  require(options.rate > 0 && std::isfinite(options.rate), ErrorKind::parameter,
          "gradient-descent: rate {}, expected a positive number", options.rate);
  std::vector<DescentRow> rows;
  const ProgressScope progress(execution, "gradient-descent", options.losses.size() * options.steps);
  Execution inner = execution;
  inner.progress = nullptr;
  for (const DescentLoss loss : options.losses) {
    const Random random = Random(options.seed).split(to_string(loss));
    const Objective objective(loss, options.n, options.dim, random);
    const Attention::Instance x = start(options.n, options.dim, random);
    Descent exact(options, objective, x, Method::exact, inner);
    Descent sampled(options, objective, x, Method::sampled, inner);
    Descent upweighted(options, objective, x, Method::upweighted, inner);
    const std::uint64_t every = std::max<std::uint64_t>(1, options.steps / 100);
    for (std::uint64_t step = 0; step <= options.steps; ++step) {
      execution.check_stop();
      if (step % every == 0 || step == options.steps)
        rows.push_back({loss, step, exact.value(), sampled.value(), upweighted.value()});
      if (step == options.steps) break;
      exact.step(step);
      sampled.step(step);
      upweighted.step(step);
      progress.advance(1);
    }
  }
  return rows;
}

std::string draw_descent(const DescentOptions& options, const std::vector<DescentRow>& rows) {
  LinePlot plot;
  plot.title = fmt::format("Gradient descent, n = {}, d = {}, rate {:g}", options.n, options.dim, options.rate);
  plot.x_label = "step";
  plot.y_label = "loss/loss at the start";
  plot.x_high = static_cast<double>(options.steps);
  plot.y_high = 1.2;
  plot.y_ticks = 6;
  int colour = 0;
  for (const DescentLoss loss : options.losses) {
    PlotSeries exact{to_string(loss) + ", exact", {}, false, colour++};
    PlotSeries sampled{to_string(loss) + ", sampled", {}, true, colour++};
    PlotSeries upweighted{to_string(loss) + ", up-weighted", {}, true, colour++};
    double first = 0;
    for (const DescentRow& row : rows) {
      if (row.loss != loss) continue;
      if (row.step == 0) first = row.exact;
      const double x = static_cast<double>(row.step);
      exact.points.emplace_back(x, row.exact / first);
      sampled.points.emplace_back(x, row.sampled / first);
      upweighted.points.emplace_back(x, row.upweighted / first);
    }
    for (PlotSeries* series : {&exact, &sampled, &upweighted}) plot.series.push_back(std::move(*series));
  }
  return draw_line_plot(plot);
}

std::vector<GradientQualityRow> run_gradient_quality(const GradientQualityOptions& options,
                                                     const Execution& execution) {
  require(!options.sizes.empty() && !options.samples.empty() && options.dim >= 1, ErrorKind::parameter,
          "gradient-quality: no n or samples, or d = 0; expected at least one each");
  std::vector<GradientQualityRow> rows;
  const ProgressScope progress(execution, "gradient-quality", options.sizes.size() * options.samples.size());
  Execution inner = execution;
  inner.progress = nullptr;
  for (const std::uint64_t n : options.sizes) {
    require(n >= 2, ErrorKind::parameter, "gradient-quality: n = {}, expected at least 2", n);
    const Random random = Random(options.seed).split(n);
    const Objective objective(DescentLoss::cross_entropy, n, options.dim, random);
    const Attention::Instance x = start(n, options.dim, random);
    const MatrixD upstream = objective.upstream(attention::streaming_softmax(x.q, x.k, x.v, x.scale, inner));
    const AttentionGradients<MatrixD> exact =
        attention::streaming_softmax_backward(x.q, x.k, x.v, upstream, x.scale, {}, inner);

    const problems::MatrixF q = x.q.cast<float>(), k = x.k.cast<float>(), v = x.v.cast<float>(),
                            g = upstream.cast<float>();
    GradientQualityRow fast;
    fast.n = n;
    fast.method = "exact float32";
    AttentionGradients<problems::MatrixF> found;
    for (int warm = 0; warm < 2; ++warm) {
      const Stopwatch watch;
      found = attention::streaming_softmax_backward(q, k, v, g, static_cast<float>(x.scale), {}, inner);
      fast.seconds = watch.seconds();
    }
    const std::pair<const char*, std::pair<MatrixD, MatrixD>> parts[] = {{"dQ", {found.q.cast<double>(), exact.q}},
                                                                         {"dK", {found.k.cast<double>(), exact.k}},
                                                                         {"dV", {found.v.cast<double>(), exact.v}}};
    for (const auto& [name, pair] : parts) {
      fast.gradient = name;
      fast.quality = attention::gradient_quality(pair.first, pair.second);
      rows.push_back(fast);
    }

    const Stopwatch search_watch;
    const ann::Neighbors neighbors = ann::exact_top_k(x.q, x.k, root(n), {}, inner);
    const double search_seconds = search_watch.seconds();
    for (const std::uint64_t samples : options.samples) {
      for (const bool upweighted : {false, true}) {
        SampledGradientOptions sampled;
        sampled.samples = samples;
        sampled.walks = samples * n;
        sampled.upweighted = upweighted;
        sampled.seed = options.seed;
        const auto add = [&](const char* name, auto estimate, const MatrixD& truth) {
          execution.check_stop();
          const Stopwatch watch;
          const MatrixD gradient = estimate(x, upstream, neighbors, sampled, inner);
          const double seconds = watch.seconds();
          rows.push_back({n, upweighted ? "up-weighted" : "sampled", name, samples, seconds, search_seconds,
                          attention::gradient_quality(gradient, truth)});
        };
        add("dQ", attention::sampled_query_gradient, exact.q);
        add("dK", attention::sampled_key_gradient, exact.k);
        add("dV", attention::sampled_value_gradient, exact.v);
      }
      progress.advance(1);
    }
  }
  return rows;
}

}  // namespace subquad::drivers
