#include "neighbor_experiments.hpp"

#include "descent_experiment.hpp"
#include "experiment_output.hpp"
#include "knn_experiment.hpp"
#include "size_json.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/provenance.hpp>

#include <memory>

namespace subquad::drivers {
namespace {

using Json = nlohmann::ordered_json;

Json head(const char* schema, const VerbCommand& command) {
  return {{"schema", fmt::format("subquad.experiment.{}/1", schema)},
          {"version", version()},
          {"command", command.command_line},
          {"seed", command.shared.seed}};
}

void knn_error(KnnErrorOptions options, const ExperimentFiles& files, VerbCommand& command) {
  options.seed = command.shared.seed;
  if (command.shared.dry_run) {
    command.note("knn-error: n = {}, d = {}, {} heads, {} layouts, {} bounds, {} values of k", options.n, options.dim,
                 options.heads, options.layouts.size(), options.bounds.size(), options.rules.size());
    return;
  }
  const std::vector<KnnErrorRow> rows = run_knn_error(options, command.execution());
  command.note(
      "top-k attention and the up-weighted tail (l = k) against float64 exact attention; n = {}, d = {}, {} heads",
      options.n, options.dim, options.heads);
  command.note(
      "layout           b    k       k   mean error  max error   mean tau  certified  slack  up-weighted: mean, max   "
      "bound");
  std::vector<Json> lines;
  for (const KnnErrorRow& r : rows) {
    command.note(
        "{:<13} {:>4g} {:>6} {:>5}  {:>10.3g} {:>10.3g} {:>10.3g} {:>10.3g} {:>6.3f}  {:>11.3g} {:>10.3g} {:>8.3g}",
        r.layout, r.bound, r.rule, r.k, r.mean_error, r.max_error, r.mean_tail_mass, r.max_error_bound, r.slack,
        r.upweighted_mean_error, r.upweighted_max_error, r.upweighted_bound);
    lines.push_back({{"layout", r.layout},
                     {"bound", r.bound},
                     {"rule", r.rule},
                     {"k", r.k},
                     {"mean_error", number_json(r.mean_error)},
                     {"max_error", number_json(r.max_error)},
                     {"mean_tail_mass", r.mean_tail_mass},
                     {"max_tail_mass", r.max_tail_mass},
                     {"max_error_bound", number_json(r.max_error_bound)},
                     {"slack", number_json(r.slack)},
                     {"upweighted_mean_error", number_json(r.upweighted_mean_error)},
                     {"upweighted_max_error", number_json(r.upweighted_max_error)},
                     {"upweighted_bound", number_json(r.upweighted_bound)}});
  }
  Json first = head("knn-error", command);
  first.update({{"n", options.n}, {"dim", options.dim}, {"heads", options.heads}, {"delta", options.delta}});
  write_experiment(files, first, lines, files.svg.empty() ? "" : draw_knn_error(options, rows));
  for (const KnnErrorRow& r : rows) {
    require(r.slack <= 1, ErrorKind::refuted, "knn-error: an error is beyond its certificate ({}, b = {}, k = {})",
            r.layout, r.bound, r.k);
  }
}

void say_winners(const std::vector<KnnTimeRow>& rows, const VerbCommand& command) {
  const KnnTimeRow* exact = nullptr;
  for (const KnnTimeRow& r : rows) {
    if (r.rule.empty()) {
      exact = &r;
    } else if (exact != nullptr) {
      const double ratio = r.seconds() / exact->seconds();
      command.note("n = {}: {} (k = {}) takes {:.3g} times {} exact attention: {} wins", r.n, r.method, r.rule,
                   ratio >= 1 ? ratio : 1 / ratio, ratio >= 1 ? "as long as" : "less than",
                   ratio >= 1 ? "exact" : r.method);
    }
  }
}

void knn_time(KnnTimeOptions options, const ExperimentFiles& files, VerbCommand& command) {
  options.seed = command.shared.seed;
  if (command.shared.dry_run) {
    command.note("knn-time: {} sizes, {} values of k, {} repetitions", options.sizes.size(), options.rules.size(),
                 options.repetitions);
    return;
  }
  const std::vector<KnnTimeRow> rows = run_knn_time(options, command.execution());
  command.note(
      "{} entries with b = {:g}, d = {}; seconds, median of {}; float32 kernels and searches; errors against float64",
      options.layout, options.bound, options.dim, options.repetitions);
  command.note(
      "     n  method               k       k      total      build     search     attend  recall  mean error  "
      "max error  mean tau");
  std::vector<Json> lines;
  for (const KnnTimeRow& r : rows) {
    command.note("{:>6}  {:<18} {:>5} {:>6}  {:>9.3g}  {:>9.3g}  {:>9.3g}  {:>9.3g}  {:>6.3f}  {:>10.3g} {:>10.3g}  {}",
                 r.n, r.method, r.rule, r.rule.empty() ? "all" : fmt::format("{}", r.k), r.seconds(), r.build_seconds,
                 r.search_seconds, r.attend_seconds, r.recall, r.mean_error, r.max_error,
                 r.mean_tail_mass ? fmt::format("{:.3g}", *r.mean_tail_mass) : "-");
    lines.push_back({{"n", r.n},
                     {"method", r.method},
                     {"rule", r.rule},
                     {"k", r.k},
                     {"seconds", r.seconds()},
                     {"build_seconds", r.build_seconds},
                     {"search_seconds", r.search_seconds},
                     {"attend_seconds", r.attend_seconds},
                     {"recall", r.recall},
                     {"mean_error", number_json(r.mean_error)},
                     {"max_error", number_json(r.max_error)},
                     {"mean_tail_mass", r.mean_tail_mass ? Json(*r.mean_tail_mass) : Json()}});
  }
  say_winners(rows, command);
  Json first = head("knn-time", command);
  first.update({{"layout", options.layout}, {"bound", options.bound}, {"dim", options.dim}});
  write_experiment(files, first, lines, files.svg.empty() ? "" : draw_knn_time(options, rows));
}

void descent(DescentOptions options, const std::string& loss, const ExperimentFiles& files, VerbCommand& command) {
  options.seed = command.shared.seed;
  if (loss == "squared") options.losses = {DescentLoss::squared};
  if (loss == "cross-entropy") options.losses = {DescentLoss::cross_entropy};
  if (command.shared.dry_run) {
    command.note("gradient-descent: n = {}, d = {}, {} steps, {} losses", options.n, options.dim, options.steps,
                 options.losses.size());
    return;
  }
  const std::vector<DescentRow> rows = run_descent(options, command.execution());
  command.note("loss             step        exact      sampled  up-weighted");
  std::vector<Json> lines;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const DescentRow& r = rows[i];
    const bool last = i + 1 == rows.size() || rows[i + 1].loss != r.loss;
    if (r.step == 0 || last || i % 20 == 0)
      command.note("{:<13} {:>7}  {:>11.6g}  {:>11.6g}  {:>11.6g}", to_string(r.loss), r.step, r.exact, r.sampled,
                   r.upweighted);
    lines.push_back({{"loss", to_string(r.loss)},
                     {"step", r.step},
                     {"exact", number_json(r.exact)},
                     {"sampled", number_json(r.sampled)},
                     {"upweighted", number_json(r.upweighted)}});
  }
  Json first = head("gradient-descent", command);
  first.update({{"n", options.n},
                {"dim", options.dim},
                {"steps", options.steps},
                {"rate", options.rate},
                {"samples", options.samples}});
  write_experiment(files, first, lines, files.svg.empty() ? "" : draw_descent(options, rows));
}

void quality(GradientQualityOptions options, const ExperimentFiles& files, VerbCommand& command) {
  options.seed = command.shared.seed;
  if (command.shared.dry_run) {
    command.note("gradient-quality: {} sizes, d = {}, {} sample sizes", options.sizes.size(), options.dim,
                 options.samples.size());
    return;
  }
  const std::vector<GradientQualityRow> rows = run_gradient_quality(options, command.execution());
  command.note("     n  method          gradient  samples    seconds    (search)   cosine  relative L2   mean |error|");
  std::vector<Json> lines;
  for (const GradientQualityRow& r : rows) {
    command.note("{:>6}  {:<14}  {:<8}  {:>7}  {:>9.3g}  {:>10.3g}  {:>7.4f}  {:>11.4g}  {:>13.3g}", r.n, r.method,
                 r.gradient, r.samples, r.seconds, r.search_seconds, r.quality.cosine, r.quality.relative_l2,
                 r.quality.mean_abs);
    lines.push_back({{"n", r.n},
                     {"method", r.method},
                     {"gradient", r.gradient},
                     {"samples", r.samples},
                     {"seconds", r.seconds},
                     {"search_seconds", r.search_seconds},
                     {"cosine", number_json(r.quality.cosine)},
                     {"relative_l2", number_json(r.quality.relative_l2)},
                     {"mean_abs", number_json(r.quality.mean_abs)}});
  }
  command.note(
      "exact: all three gradients in the time of one row. sampled dV: samples x n walks of each sign and column");
  write_experiment(files, head("gradient-quality", command), lines, "");
}

/// Everything that the options are parsed into; lives as long as the returned function.
struct State {
  ExperimentFiles files;
  KnnErrorOptions error;
  KnnTimeOptions time;
  DescentOptions descent;
  GradientQualityOptions quality;
  std::string loss = "both";
};

}  // namespace

std::function<bool()> add_neighbor_experiments(VerbCommand& command) {
  auto state = std::make_shared<State>();
  CLI::App* e = command.app.add_subcommand("knn-error", "Error of top-k attention against k, with certificates (H25)");
  e->add_option("-n", state->error.n, "Tokens")->capture_default_str();
  e->add_option("-d,--dim", state->error.dim, "Head dimension")->capture_default_str();
  e->add_option("--heads", state->error.heads, "Independent inputs")->capture_default_str();
  e->add_option("-b,--bounds", state->error.bounds, "Entries lie in [-b, b]")->delimiter(',')->capture_default_str();
  e->add_option("-k", state->error.rules, "Numbers of keys: 3, 'ln n', n^1/2, ...")
      ->delimiter(',')
      ->capture_default_str();
  e->add_option("--layouts", state->error.layouts, "uniform, clustered, heavy-tailed")
      ->delimiter(',')
      ->capture_default_str();
  e->add_option("--delta", state->error.delta, "Failure probability of the up-weighted tail's bound")
      ->capture_default_str();
  CLI::App* t = command.app.add_subcommand("knn-time", "Exact against kNN attention, measured (H25)");
  t->add_option("-n,--sizes", state->time.sizes, "Numbers of tokens")->delimiter(',')->capture_default_str();
  t->add_option("-d,--dim", state->time.dim, "Head dimension")->capture_default_str();
  t->add_option("-b,--bound", state->time.bound, "Entries lie in [-b, b]")->capture_default_str();
  t->add_option("--layout", state->time.layout, "uniform, clustered or heavy-tailed")->capture_default_str();
  t->add_option("-k", state->time.rules, "Numbers of keys: 3, 'ln n', n^1/2, ...")
      ->delimiter(',')
      ->capture_default_str();
  t->add_option("--repetitions", state->time.repetitions, "Medians of so many runs")->capture_default_str();
  CLI::App* d = command.app.add_subcommand("gradient-descent", "Descent by exact and by estimated gradients (H25)");
  d->add_option("-n", state->descent.n, "Tokens")->capture_default_str();
  d->add_option("-d,--dim", state->descent.dim, "Head dimension")->capture_default_str();
  d->add_option("--steps", state->descent.steps, "Steps")->capture_default_str();
  d->add_option("--rate", state->descent.rate, "Learning rate")->capture_default_str();
  d->add_option("--samples", state->descent.samples, "Samples of a row and step; n times as many walks")
      ->capture_default_str();
  d->add_option("--loss", state->loss, "squared, cross-entropy or both")
      ->check(CLI::IsMember({"squared", "cross-entropy", "both"}))
      ->capture_default_str();
  CLI::App* g = command.app.add_subcommand("gradient-quality", "Cosine and errors of estimated gradients, with times");
  g->add_option("-n,--sizes", state->quality.sizes, "Numbers of tokens")->delimiter(',')->capture_default_str();
  g->add_option("-d,--dim", state->quality.dim, "Head dimension")->capture_default_str();
  g->add_option("--samples", state->quality.samples, "Samples of a row; n times as many walks")
      ->delimiter(',')
      ->capture_default_str();
  for (CLI::App* app : {e, t, d}) add_experiment_files(*app, state->files);
  g->add_option("-o,--output", state->files.output, "Where the data go, one JSON object a line")->capture_default_str();
  for (CLI::App* app : {e, t, d, g}) app->fallthrough();
  return [state, e, t, d, g, &command] {
    if (e->parsed()) knn_error(state->error, state->files, command);
    if (t->parsed()) knn_time(state->time, state->files, command);
    if (d->parsed()) descent(state->descent, state->loss, state->files, command);
    if (g->parsed()) quality(state->quality, state->files, command);
    return e->parsed() || t->parsed() || d->parsed() || g->parsed();
  };
}

}  // namespace subquad::drivers
