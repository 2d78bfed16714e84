// subquad experiment: the papers' experiments, as data (JSON lines) and plots.
#include "crossover_experiment.hpp"
#include "degree_experiment.hpp"
#include "exit_status.hpp"
#include "experiment_output.hpp"
#include "neighbor_experiments.hpp"
#include "size_json.hpp"
#include "transition_experiment.hpp"
#include "verbs.hpp"

#include <subquad/core/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace subquad::drivers {
namespace {

using Json = nlohmann::ordered_json;

void transition(const TransitionOptions& options, const ExperimentFiles& files, VerbCommand& command) {
  if (command.shared.dry_run) {
    command.note("transition: {} values of c, n = 2^{} .. 2^{}", options.c.size(), options.log2_n_low,
                 options.log2_n_high);
    return;
  }
  const std::vector<TransitionRow> rows = run_transition(options, command.execution());
  std::vector<Json> lines;
  command.note("    c  log2 n    d       B        R  degree  log2 rank  rank exponent  paper's exponent");
  for (const TransitionRow& r : rows) {
    const double paper = log2_estimate(r.paper_rank) / r.log2_n;
    lines.push_back({{"c", r.c},
                     {"log2_n", r.log2_n},
                     {"dim", r.dim},
                     {"entry_bound", r.entry_bound},
                     {"radius", r.radius},
                     {"log2_epsilon", r.log2_epsilon},
                     {"degree", r.degree},
                     {"degree_is", r.certified ? "certified" : "predicted"},
                     {"log2_rank", log2_estimate(r.rank)},
                     {"rank_exponent", r.exponent},
                     {"paper_rank_exponent", paper}});
    command.note("{:>5g}  {:>6}  {:>3}  {:>6.3f}  {:>7.4g}  {:>5}{}  {:>9.2f}  {:>13.3f}  {:>16.3f}", r.c, r.log2_n,
                 r.dim, r.entry_bound, r.radius, r.degree, r.certified ? " " : "*", log2_estimate(r.rank), r.exponent,
                 paper);
  }
  command.note(
      "exponent below 1: O(n r) time is subquadratic. '*': degree predicted, not certified (the interval is long)");
  const Json head = {{"schema", "subquad.experiment.transition/1"},
                     {"version", version()},
                     {"command", command.command_line},
                     {"growth", options.growth},
                     {"dim_factor", options.dim_factor},
                     {"tolerance_exponent", options.tolerance_exponent}};
  write_experiment(files, head, lines, draw_transition(options, rows));
}

void crossover(CrossoverOptions options, const std::string& arithmetic, const ExperimentFiles& files,
               VerbCommand& command) {
  options.arithmetic =
      arithmetic == "float32" ? attention::LowRankArithmetic::float32 : attention::LowRankArithmetic::float64;
  options.seed = command.shared.seed;
  if (command.shared.dry_run) {
    command.note("crossover: {} dimensions, n = 2^{} .. 2^{}, {} repetitions", options.dims.size(), options.log2_n_low,
                 options.log2_n_high, options.repetitions);
    return;
  }
  const std::vector<CrossoverRow> rows = run_crossover(options, command.execution());
  std::vector<Json> lines;
  command.note("   d        n  degree     rank    exact s  low-rank s   ratio  error bound  both within eps_a");
  bool certified = true;
  for (const CrossoverRow& r : rows) {
    certified = certified && r.certified;
    lines.push_back({{"dim", r.dim},
                     {"n", r.n},
                     {"degree", r.degree},
                     {"rank", count_json(r.rank)},
                     {"exact_seconds", r.exact_seconds},
                     {"low_rank_seconds", r.low_rank_seconds},
                     {"ratio", r.exact_seconds / r.low_rank_seconds},
                     {"error_bound", r.error_bound},
                     {"certified", r.certified}});
    command.note("{:>4}  {:>7}  {:>6}  {:>7}  {:>9.3g}  {:>10.3g}  {:>6.3g}  {:>11.3g}  {}", r.dim, r.n, r.degree,
                 subquad::describe(r.rank), r.exact_seconds, r.low_rank_seconds, r.exact_seconds / r.low_rank_seconds,
                 r.error_bound, r.certified ? "proved" : "NOT PROVED");
  }
  Json head = {{"schema", "subquad.experiment.crossover/1"},
               {"version", version()},
               {"command", command.command_line},
               {"seed", options.seed},
               {"radius", options.radius},
               {"tolerance", options.tolerance},
               {"arithmetic", to_string(options.arithmetic)},
               {"crossovers", Json::array()}};
  for (const Crossover& c : crossovers(options, rows)) {
    head["crossovers"].push_back({{"dim", c.dim}, {"n", c.n ? Json(*c.n) : Json()}});
    if (c.n) {
      command.note("d = {}: low-rank is faster from n = {} on", c.dim, *c.n);
    } else {
      command.note("d = {}: low-rank is not faster up to n = 2^{}", c.dim, options.log2_n_high);
    }
  }
  write_experiment(files, head, lines, draw_crossover(options, rows));
  require(certified, ErrorKind::refuted, "crossover: some output is not proved to be within eps_a");
}

void degrees(DegreeOptions options, const std::string& table, const std::string& output, VerbCommand& command) {
  options.table = table == "relative"   ? DegreeTable::relative
                  : table == "absolute" ? DegreeTable::absolute
                                        : DegreeTable::decaying;
  options = with_defaults(options);
  if (command.shared.dry_run) {
    command.note("degrees: {} x {} cells", options.sizes.size(), options.epsilons.size());
    return;
  }
  const std::vector<DegreeCell> cells = run_degrees(options, command.execution());
  std::vector<Json> lines;
  std::string header = "       B";
  for (const std::string& epsilon : options.epsilons) header += fmt::format("{:>7}", epsilon);
  command.note("{}", header);
  double seconds = 0;
  std::size_t certified = 0;
  for (std::size_t r = 0; r < options.sizes.size(); ++r) {
    std::string line = fmt::format("{:>8}", options.sizes[r]);
    for (std::size_t c = 0; c < options.epsilons.size(); ++c) {
      const DegreeCell& cell = cells[r * options.epsilons.size() + c];
      line += fmt::format("{:>6}{}", cell.degree, cell.certified ? ' ' : '?');
      seconds += cell.seconds;
      certified += cell.certified ? 1 : 0;
      lines.push_back({{"size", cell.size},
                       {"epsilon", cell.epsilon},
                       {"degree", cell.degree},
                       {"error_bound", cell.error_bound},
                       {"lower_bound", cell.lower_bound},
                       {"certified", cell.certified},
                       {"seconds", cell.seconds}});
    }
    command.note("{}", line);
  }
  command.note("{} of {} cells are certified least degrees; {:.3g} s", certified, cells.size(), seconds);
  const Json head = {{"schema", "subquad.experiment.degrees/1"},
                     {"version", version()},
                     {"command", command.command_line},
                     {"table", table},
                     {"certified", certified},
                     {"cells", cells.size()}};
  write_experiment({output, ""}, head, lines, "");
  require(certified == cells.size(), ErrorKind::refuted, "degrees: {} cells are not certified",
          cells.size() - certified);
}

}  // namespace

int run_experiment(const Invocation& invocation) {
  VerbCommand command(
      invocation, "The papers' experiments: data as JSON lines, and plots.",
      {Effective::dry_run, Effective::seed, Effective::threads},
      {{"transition: AS23's phase transition. Entries up to B = c (ln n)^P, P = 1/2, d = ceil(C ln n), eps_a = n^-E: "
        "degree "
        "and rank of the",
        "low-rank algorithm for n up to 2^60. Nothing is run: the planner needs no data.",
        "degrees: the certified least degrees of polynomials for e^x, both halves proved and judged.",
        "crossover: exact against low-rank attention on random inputs, measured: from which n on low-rank wins.",
        "knn-error, knn-time, gradient-descent: H25's experiments, with certificates, exact kernels and structured "
        "inputs;",
        "gradient-quality: cosine and relative error of estimated gradients beside the mean absolute error."},
       {"0 done", "1 an output is not within its certificate", "2 bad usage", "3 a plan was refused"},
       {"subquad experiment transition --svg transition.svg",
        "subquad experiment crossover --dims 2,4,8 --tolerance 1e-3"}});
  ExperimentFiles files;
  TransitionOptions transition_options;
  CrossoverOptions crossover_options;
  DegreeOptions degree_options;
  std::string arithmetic = "float64";
  std::string table = "relative";
  command.app.require_subcommand(1);
  CLI::App* t = command.app.add_subcommand("transition", "Degree and rank over n for entries up to c (ln n)^P");
  t->add_option("-c", transition_options.c, "Values of c")->delimiter(',')->capture_default_str();
  t->add_option("--growth", transition_options.growth, "P: B = c (ln n)^P; 1/2 is AS23's threshold")
      ->capture_default_str();
  t->add_option("-C,--dim-factor", transition_options.dim_factor, "C: d = ceil(C ln n)")->capture_default_str();
  t->add_option("--tolerance-exponent", transition_options.tolerance_exponent, "E: eps_a = n^-E")
      ->capture_default_str();
  t->add_option("--from", transition_options.log2_n_low, "log2 of the least n")->capture_default_str();
  t->add_option("--to", transition_options.log2_n_high, "log2 of the largest n")->capture_default_str();
  t->add_option("--step", transition_options.log2_n_step, "Step of log2 n")->capture_default_str();
  add_experiment_files(*t, files);
  t->fallthrough();
  CLI::App* x = command.app.add_subcommand("crossover", "Exact against low-rank attention, measured");
  x->add_option("--dims", crossover_options.dims, "Dimensions d")->delimiter(',')->capture_default_str();
  x->add_option("--radius", crossover_options.radius, "R: queries and keys are uniform in [-sqrt R, sqrt R]^d")
      ->capture_default_str();
  x->add_option("--tolerance", crossover_options.tolerance, "eps_a")->capture_default_str();
  x->add_option("--arithmetic", arithmetic, "float64 or float32, for both kernels")
      ->check(CLI::IsMember({"float64", "float32"}))
      ->capture_default_str();
  x->add_option("--from", crossover_options.log2_n_low, "log2 of the least n")->capture_default_str();
  x->add_option("--to", crossover_options.log2_n_high, "log2 of the largest n")->capture_default_str();
  x->add_option("--repetitions", crossover_options.repetitions, "Interleaved runs; medians are shown")
      ->capture_default_str();
  add_experiment_files(*x, files);
  x->fallthrough();
  CLI::App* g = command.app.add_subcommand("degrees", "Certified least degrees of polynomials for e^x, as a table");
  g->add_option("--table", table,
                "relative: e^x on [-B, B]; absolute: e^x on [0, B]; decaying: e^-x on [0, B], absolute error")
      ->check(CLI::IsMember({"relative", "absolute", "decaying"}))
      ->capture_default_str();
  g->add_option("--sizes", degree_options.sizes, "Values of B (default: the published ones)")->delimiter(',');
  g->add_option("--epsilons", degree_options.epsilons, "Values of epsilon (default: the published ones)")
      ->delimiter(',');
  g->add_option("-o,--output", files.output, "Where the data go, one JSON object a line")->capture_default_str();
  g->fallthrough();
  const auto run_neighbor_experiment = add_neighbor_experiments(command);
  if (!command.parse()) return kDone;
  if (run_neighbor_experiment()) return kDone;
  if (g->parsed()) {
    degrees(degree_options, table, files.output, command);
  } else if (t->parsed()) {
    transition(transition_options, files, command);
  } else {
    crossover(crossover_options, arithmetic, files, command);
  }
  return kDone;
}

}  // namespace subquad::drivers
