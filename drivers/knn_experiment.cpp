#include "knn_experiment.hpp"

#include "experiment_output.hpp"

#include <subquad/ann/approximate_index.hpp>
#include <subquad/ann/top_k.hpp>
#include <subquad/attention/sampled_attention.hpp>
#include <subquad/attention/streaming_softmax.hpp>
#include <subquad/attention/top_k_attention.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/line_reader.hpp>
#include <subquad/core/stopwatch.hpp>

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>

namespace subquad::drivers {
namespace {

using problems::Attention;
using problems::MatrixD;

void check(bool ok, const std::string& what) {
  require(ok, ErrorKind::parameter, "{}", what);
}

/// Mean and largest absolute difference; NaN stays.
std::pair<double, double> errors(const MatrixD& found, const MatrixD& exact) {
  const MatrixD difference = (found - exact).cwiseAbs();
  double largest = 0;
  for (Eigen::Index e = 0; e < difference.size(); ++e) {
    if (!(difference.data()[e] <= largest)) largest = difference.data()[e];
  }
  return {difference.mean(), largest};
}

Execution without_progress(Execution execution) {
  execution.progress = nullptr;
  return execution;
}

/// The epsilon that Theorem 2.5 promises for given k and l.
double upweighted_epsilon(std::uint64_t n, std::uint64_t k, std::uint64_t samples, double value_bound, double delta) {
  if (k == n) return 0;
  const double ratio = static_cast<double>(n - k) / static_cast<double>(k);
  return ratio * value_bound * std::sqrt(8 * std::log(4 / delta) / static_cast<double>(samples));
}

KnnErrorRow error_row(const KnnErrorOptions& options, const std::vector<Attention::Instance>& heads,
                      const std::vector<MatrixD>& exact, const std::string& rule, const Execution& execution) {
  KnnErrorRow row;
  row.rule = rule;
  row.k = keys_by_rule(rule, options.n);
  const double share = 1 / static_cast<double>(heads.size());
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const Attention::Instance& x = heads[h];
    const ann::Neighbors neighbors = ann::exact_top_k_in_float32(x.q, x.k, row.k, {}, execution);
    const attention::TopKResult found = attention::top_k_attention(x, neighbors, std::nullopt, execution);
    const auto [mean, largest] = errors(found.output, exact[h]);
    row.mean_error += share * mean;
    if (!(largest <= row.max_error)) row.max_error = largest;
    row.mean_tail_mass += share * found.tail_mass.mean();
    row.max_tail_mass = std::max(row.max_tail_mass, found.tail_mass.maxCoeff());
    row.max_error_bound = std::max(row.max_error_bound, found.error_bound.maxCoeff());
    for (Eigen::Index i = 0; i < found.output.rows(); ++i) {
      const double off = (found.output.row(i) - exact[h].row(i)).cwiseAbs().maxCoeff();
      if (!(off / found.error_bound[i] <= row.slack)) row.slack = off / found.error_bound[i];
    }
    attention::SampledOptions sampled;
    sampled.samples = row.k;
    sampled.seed = options.seed + h;
    const auto [up_mean, up_largest] = errors(sampled_attention(x, neighbors, sampled, execution).output, exact[h]);
    row.upweighted_mean_error += share * up_mean;
    if (!(up_largest <= row.upweighted_max_error)) row.upweighted_max_error = up_largest;
    row.upweighted_bound = upweighted_epsilon(options.n, row.k, row.k, x.v.cwiseAbs().maxCoeff(), options.delta);
  }
  return row;
}

/// Runs `compute` and returns the time of a run: the median of `repetitions` calls.
template <class F>
double time_of(int repetitions, const Execution& execution, F&& compute) {
  std::vector<double> seconds;
  for (int i = 0; i < repetitions; ++i) {
    execution.check_stop();
    const Stopwatch watch;
    compute();
    seconds.push_back(watch.seconds());
  }
  return median_of(seconds);
}

struct Method {
  std::string name;
  /// Builds the index, if there is one, and returns the search.
  std::function<std::unique_ptr<ann::ApproximateIndex>(const MatrixD& keys)> build;
};

std::vector<Method> methods() {
  std::vector<Method> result{{"top-k exact search", nullptr},
                             {"top-k lsh", [](const MatrixD& keys) { return ann::make_lsh_index(keys); }}};
  if (ann::have_faiss())
    result.push_back({"top-k faiss", [](const MatrixD& keys) { return ann::make_faiss_index(keys); }});
  return result;
}

}  // namespace

std::uint64_t keys_by_rule(const std::string& rule, std::uint64_t n) {
  const double size = static_cast<double>(n);
  double k = 0;
  if (rule == "ln n") {
    k = std::log(size);
  } else if (rule.rfind("n^1/", 0) == 0 && parse_int(rule.substr(4)).value_or(0) >= 1) {
    k = std::pow(size, 1 / static_cast<double>(*parse_int(rule.substr(4))));
  } else if (parse_int(rule).value_or(0) >= 1) {
    k = static_cast<double>(*parse_int(rule));
  } else {
    fail(ErrorKind::parameter, "k = '{}', expected a number >= 1, 'ln n' or 'n^1/2', 'n^1/4' and so on", rule);
  }
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(k - 1e-9)), 1, std::max<std::uint64_t>(n, 1));
}

std::vector<KnnErrorRow> run_knn_error(const KnnErrorOptions& options, const Execution& execution) {
  check(options.n >= 2 && options.dim >= 1 && options.heads >= 1,
        fmt::format("knn-error: n = {}, d = {}, {} heads; expected at least 2, 1, 1", options.n, options.dim,
                    options.heads));
  check(options.delta > 0 && options.delta < 1,
        fmt::format("knn-error: delta = {}, expected a number in (0, 1)", options.delta));
  check(!options.bounds.empty() && !options.rules.empty() && !options.layouts.empty(),
        "knn-error: no bound, k or layout, expected at least one each");
  for (const double bound : options.bounds) {
    check(bound > 0 && std::isfinite(bound), fmt::format("knn-error: b = {}, expected a positive number", bound));
  }
  for (const std::string& rule : options.rules) keys_by_rule(rule, options.n);
  std::vector<KnnErrorRow> rows;
  const std::size_t steps = options.layouts.size() * options.bounds.size();
  const ProgressScope progress(execution, "knn-error", steps * (options.rules.size() + 1));
  const Execution inner = without_progress(execution);
  for (const std::string& name : options.layouts) {
    const PointLayout layout = parse_layout(name);
    for (const double bound : options.bounds) {
      std::vector<Attention::Instance> heads;
      std::vector<MatrixD> exact;
      for (std::uint64_t h = 0; h < options.heads; ++h) {
        execution.check_stop();
        heads.push_back(
            layout_instance(layout, options.n, options.dim, bound, Random(options.seed).split(name).split(h)));
        const Attention::Instance& x = heads.back();
        exact.push_back(attention::streaming_softmax(x.q, x.k, x.v, x.scale, inner));
      }
      progress.advance(1);
      for (const std::string& rule : options.rules) {
        rows.push_back(error_row(options, heads, exact, rule, inner));
        rows.back().layout = name;
        rows.back().bound = bound;
        progress.advance(1);
      }
    }
  }
  return rows;
}

std::vector<KnnTimeRow> run_knn_time(const KnnTimeOptions& options, const Execution& execution) {
  check(!options.sizes.empty() && !options.rules.empty(), "knn-time: no n or k, expected at least one each");
  check(options.dim >= 1 && options.repetitions >= 1,
        fmt::format("knn-time: d = {}, {} repetitions; expected at least 1 each", options.dim, options.repetitions));
  check(options.bound > 0 && std::isfinite(options.bound),
        fmt::format("knn-time: b = {}, expected a positive number", options.bound));
  for (const std::uint64_t n : options.sizes) check(n >= 2, fmt::format("knn-time: n = {}, expected at least 2", n));
  const PointLayout layout = parse_layout(options.layout);
  for (const std::string& rule : options.rules) keys_by_rule(rule, options.sizes.front());
  std::vector<KnnTimeRow> rows;
  const ProgressScope progress(execution, "knn-time", options.sizes.size() * (1 + options.rules.size()));
  const Execution inner = without_progress(execution);
  for (const std::uint64_t n : options.sizes) {
    const Attention::Instance x = layout_instance(layout, n, options.dim, options.bound, Random(options.seed).split(n));
    const MatrixD truth = attention::streaming_softmax(x.q, x.k, x.v, x.scale, inner);
    KnnTimeRow exact;
    exact.n = n;
    exact.method = "exact";
    MatrixD output(x.q.rows(), x.v.cols());  // reused, so that no run pays for fresh pages
    exact.attend_seconds = time_of(options.repetitions + 1, execution, [&] {
      attention::streaming_softmax_in_float32_into(x.q, x.k, x.v, x.scale, inner, output);
    });
    std::tie(exact.mean_error, exact.max_error) = errors(output, truth);
    rows.push_back(exact);
    progress.advance(1);
    for (const std::string& rule : options.rules) {
      const std::uint64_t k = keys_by_rule(rule, n);
      ann::Neighbors all;
      for (const Method& method : methods()) {
        KnnTimeRow row;
        row.n = n;
        row.method = method.name;
        row.rule = rule;
        row.k = k;
        std::unique_ptr<ann::ApproximateIndex> index;
        if (method.build) {
          row.build_seconds = time_of(options.repetitions, execution, [&] { index = method.build(x.k); });
        }
        ann::Neighbors neighbors;
        row.search_seconds = time_of(options.repetitions, execution, [&] {
          neighbors = index ? index->search(x.q, k, inner) : ann::exact_top_k_in_float32(x.q, x.k, k, {}, inner);
        });
        attention::TopKResult found;
        row.attend_seconds = time_of(options.repetitions, execution,
                                     [&] { found = attention::top_k_attention(x, neighbors, std::nullopt, inner); });
        std::tie(row.mean_error, row.max_error) = errors(found.output, truth);
        if (index) {
          row.recall = ann::recall(neighbors, all);
        } else {
          row.mean_tail_mass = found.tail_mass.mean();
          all = std::move(neighbors);
        }
        rows.push_back(row);
      }
      progress.advance(1);
    }
  }
  return rows;
}

std::string draw_knn_error(const KnnErrorOptions& options, const std::vector<KnnErrorRow>& rows) {
  LinePlot plot;
  plot.title = fmt::format("Top-k attention, n = {}, d = {}, largest b", options.n, options.dim);
  plot.x_label = "log10 k";
  plot.y_label = "log10 of mean error/b (dashed: certified tail mass)";
  const double bound = *std::max_element(options.bounds.begin(), options.bounds.end());
  plot.x_low = 0;
  plot.x_high = std::max(1.0, std::ceil(std::log10(static_cast<double>(options.n)) / 2));
  plot.y_low = -6;
  plot.y_high = 1;
  plot.y_ticks = 7;
  int colour = 0;
  for (const std::string& layout : options.layouts) {
    std::map<std::uint64_t, const KnnErrorRow*> by_k;
    for (const KnnErrorRow& row : rows) {
      if (row.layout == layout && row.bound == bound) by_k[row.k] = &row;
    }
    PlotSeries error{layout, {}, false, colour};
    PlotSeries mass{layout + ", tau", {}, true, colour++};
    for (const auto& [k, row] : by_k) {
      const double x = std::log10(static_cast<double>(k));
      error.points.emplace_back(x, std::log10(std::max(row->mean_error / bound, 1e-12)));
      mass.points.emplace_back(x, std::log10(std::max(row->mean_tail_mass, 1e-12)));
    }
    plot.series.push_back(std::move(error));
    plot.series.push_back(std::move(mass));
  }
  return draw_line_plot(plot);
}

std::string draw_knn_time(const KnnTimeOptions& options, const std::vector<KnnTimeRow>& rows) {
  LinePlot plot;
  plot.title = fmt::format("Exact and kNN attention, {}, b = {:g}, d = {}", options.layout, options.bound, options.dim);
  plot.x_label = "log2 n";
  plot.y_label = "log10 seconds";
  const auto [least, largest] = std::minmax_element(options.sizes.begin(), options.sizes.end());
  plot.x_low = std::floor(std::log2(static_cast<double>(*least)));
  plot.x_high = std::max(plot.x_low + 1, std::ceil(std::log2(static_cast<double>(*largest))));
  plot.x_ticks = static_cast<int>(plot.x_high - plot.x_low);
  plot.y_low = -5;
  plot.y_high = 2;
  plot.y_ticks = 7;
  std::map<std::string, std::vector<std::pair<double, double>>> lines;
  for (const KnnTimeRow& row : rows) {
    const std::string name = row.rule.empty() ? row.method : fmt::format("{}, k = {}", row.method, row.rule);
    lines[name].emplace_back(std::log2(static_cast<double>(row.n)), std::log10(row.seconds()));
  }
  for (auto& [name, points] : lines) {
    if (plot.series.size() < 8) plot.series.push_back({name, std::move(points), name != "exact"});
  }
  return draw_line_plot(plot);
}

}  // namespace subquad::drivers
