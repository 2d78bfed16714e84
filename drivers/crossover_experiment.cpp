#include "crossover_experiment.hpp"

#include "experiment_output.hpp"

#include <subquad/attention/low_rank.hpp>
#include <subquad/attention/streaming_softmax.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/core/stopwatch.hpp>
#include <subquad/verifiers/attention_output.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace subquad::drivers {
namespace {

using attention::LowRankArithmetic;
using problems::Attention;
using problems::MatrixD;

Attention::Instance make_instance(const CrossoverOptions& options, std::uint64_t n, std::uint64_t dim) {
  Random random = Random(options.seed).split("crossover").split(n * 1000 + dim);
  const auto matrix = [&](double bound) {
    MatrixD m(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(dim));
    for (Eigen::Index e = 0; e < m.size(); ++e) m.data()[e] = bound * (2 * random.unit() - 1);
    return m;
  };
  Attention::Instance instance;
  const double bound = std::sqrt(options.radius);
  instance.q = matrix(bound);
  instance.k = matrix(bound);
  instance.v = matrix(1.0);
  instance.scale = 1.0 / static_cast<double>(dim);
  instance.entry_bound = std::max(bound, 1.0);
  instance.log_tolerance = std::log(options.tolerance);
  return instance;
}

/// Rows spread over the matrix.
verifiers::AttentionOutputOptions some_rows(std::uint64_t n, std::uint64_t count) {
  verifiers::AttentionOutputOptions options;
  options.rows.emplace();
  for (std::uint64_t i = 0; i < std::min(n, count); ++i) options.rows->push_back(i * n / std::min(n, count));
  return options;
}

CrossoverRow measure(const CrossoverOptions& options, std::uint64_t n, std::uint64_t dim, const Execution& execution) {
  const Attention::Instance x = make_instance(options, n, dim);
  const bool float32 = options.arithmetic == LowRankArithmetic::float32;
  CrossoverRow row;
  row.dim = dim;
  row.n = n;
  std::vector<double> exact_seconds;
  std::vector<double> low_rank_seconds;
  MatrixD exact_output;
  attention::LowRankResult result;
  for (int i = 0; i < options.repetitions; ++i) {
    execution.check_stop();
    const Stopwatch exact_watch;
    exact_output = float32 ? attention::streaming_softmax_in_float32(x.q, x.k, x.v, x.scale, execution)
                           : attention::streaming_softmax(x.q, x.k, x.v, x.scale, execution);
    exact_seconds.push_back(exact_watch.seconds());
    const Stopwatch low_rank_watch;
    const auto plan =
        plan_low_rank(low_rank_request(x, options.tolerance, options.arithmetic), execution.thread_count());
    result = low_rank_attention(plan, x, execution);
    low_rank_seconds.push_back(low_rank_watch.seconds());
    row.degree = plan.degree;
    row.rank = plan.rank;
  }
  row.exact_seconds = median_of(exact_seconds);
  row.low_rank_seconds = median_of(low_rank_seconds);
  row.error_bound = result.error_bound;
  row.certified = true;
  for (const MatrixD* output : {&exact_output, &result.output}) {
    const auto report =
        verify_attention_output(x, *output, options.tolerance, some_rows(n, options.checked_rows), execution);
    row.certified = row.certified && report.verdict == Verdict::certified;
  }
  return row;
}

}  // namespace

std::vector<CrossoverRow> run_crossover(const CrossoverOptions& options, const Execution& execution) {
  require(!options.dims.empty(), ErrorKind::parameter, "crossover: no dimension, expected at least one");
  for (const std::uint64_t dim : options.dims) {
    require(dim >= 1 && dim <= 4096, ErrorKind::parameter, "crossover: dimension {}, expected 1 to 4096", dim);
  }
  require(options.log2_n_low >= 1 && options.log2_n_low <= options.log2_n_high && options.log2_n_high <= 22,
          ErrorKind::parameter, "crossover: n from 2^{} to 2^{}, expected 2^1 to 2^22", options.log2_n_low,
          options.log2_n_high);
  require(options.repetitions >= 1, ErrorKind::parameter, "crossover: {} repetitions, expected at least 1",
          options.repetitions);
  require(options.radius > 0 && std::isfinite(options.radius), ErrorKind::parameter,
          "crossover: R = {}, expected a positive number", options.radius);
  require(options.tolerance > 0 && std::isfinite(options.tolerance), ErrorKind::parameter,
          "crossover: eps_a = {}, expected a positive number", options.tolerance);
  const auto sizes = static_cast<std::uint64_t>(options.log2_n_high - options.log2_n_low + 1);
  const ProgressScope progress(execution, "crossover", sizes * options.dims.size());
  Execution inner = execution;
  inner.progress = nullptr;  // the stages inside are milliseconds
  std::vector<CrossoverRow> rows;
  for (const std::uint64_t dim : options.dims) {
    for (int e = options.log2_n_low; e <= options.log2_n_high; ++e) {
      rows.push_back(measure(options, std::uint64_t{1} << e, dim, inner));
      progress.advance(1);
    }
  }
  return rows;
}

std::vector<Crossover> crossovers(const CrossoverOptions& options, const std::vector<CrossoverRow>& rows) {
  std::vector<Crossover> result;
  for (const std::uint64_t dim : options.dims) {
    Crossover crossing{dim, std::nullopt};
    for (const CrossoverRow& row : rows) {
      if (row.dim != dim) continue;
      const bool faster = row.low_rank_seconds < row.exact_seconds;
      if (!faster) crossing.n.reset();
      if (faster && !crossing.n) crossing.n = row.n;
    }
    result.push_back(crossing);
  }
  return result;
}

std::string draw_crossover(const CrossoverOptions& options, const std::vector<CrossoverRow>& rows) {
  LinePlot plot;
  plot.title = fmt::format("Exact and low-rank attention, R = {:g}, eps_a = {:g}, {}", options.radius,
                           options.tolerance, to_string(options.arithmetic));
  plot.x_label = "log2 n";
  plot.y_label = "log10 seconds";
  plot.x_low = options.log2_n_low;
  plot.x_high = std::max(options.log2_n_high, options.log2_n_low + 1);
  plot.x_ticks = static_cast<int>(plot.x_high - plot.x_low);
  plot.y_low = -5;
  plot.y_high = 2;
  plot.y_ticks = 7;
  int colour = -1;
  for (const std::uint64_t dim : options.dims) {
    ++colour;
    PlotSeries exact{fmt::format("exact, d = {}", dim), {}, true, colour};
    PlotSeries low_rank{fmt::format("low-rank, d = {}", dim), {}, false, colour};
    for (const CrossoverRow& row : rows) {
      if (row.dim != dim) continue;
      const double x = std::log2(static_cast<double>(row.n));
      exact.points.emplace_back(x, std::log10(row.exact_seconds));
      low_rank.points.emplace_back(x, std::log10(row.low_rank_seconds));
    }
    plot.series.push_back(std::move(exact));
    plot.series.push_back(std::move(low_rank));
  }
  return draw_line_plot(plot);
}

}  // namespace subquad::drivers
