#include "anna_run.hpp"

#include "anna_verification.hpp"
#include "attention_arrays.hpp"
#include "exit_status.hpp"
#include "output_writing.hpp"
#include "resource_guard.hpp"
#include "size_json.hpp"

#include <subquad/attention/anna.hpp>
#include <subquad/attention/streaming_softmax.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/stopwatch.hpp>
#include <subquad/io/npy.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <optional>

namespace subquad::drivers {
namespace {

using attention::AnnaMemory;
using attention::AnnaParameters;
using Json = nlohmann::ordered_json;
using problems::Attention;

verifiers::AnnaMetric verifier_metric(ann::Metric metric) {
  switch (metric) {
    case ann::Metric::angular:
      return verifiers::AnnaMetric::angular;
    case ann::Metric::hamming:
      return verifiers::AnnaMetric::hamming;
    case ann::Metric::euclidean:
      break;
  }
  return verifiers::AnnaMetric::euclidean;
}

void guard(const ann::AnnaPlan& plan, AnnaMemory memory, bool force) {
  ResourceNeed need;
  need.bytes = memory == AnnaMemory::tables ? plan.bytes_tables : plan.bytes_linear;
  need.operations = plan.operations;
  need.operation_name = "multiply-adds";
  check_resources("ANNA with these tables", need, force);
}

/// Seconds of exact attention on the same matrices, with scale 1/d.
double exact_seconds(const Attention::Instance& x, bool force, const Execution& execution) {
  check_resources("the exact kernel", reference_solver_need(Attention::kId, Attention::size(x)), force);
  const Stopwatch watch;
  (void)attention::streaming_softmax(x.q, x.k, x.v, x.scale, execution);
  return watch.seconds();
}

}  // namespace

void AnnaRunOptions::add_to(CLI::App& app) {
  app.add_option("FILES", files, "Q.npy K.npy V.npy (n x d, n_k x d, n_k x d_v)")->required()->expected(3);
  plan.add_to(app);
  app.add_option("--memory", memory, "linear (one table at a time) or tables (all at once); equal outputs")
      ->check(CLI::IsMember({"linear", "tables"}))
      ->capture_default_str();
  app.add_option("-o,--output", output, "Output, n x d_v (.npy, float64)");
  app.add_option("--weights", weights, "Write the collision counts (docs/formats.md, anna-weights)");
  app.add_flag("--verify", verify, "Judge counts and output by the definition (quadratic time)");
  app.add_flag("--compare", compare, "Also time the exact softmax kernel on the same matrices");
}

int anna_run(const AnnaRunOptions& options, VerbCommand& command) {
  const Attention::Instance x =
      read_attention_arrays(options.files[0], options.files[1], options.files[2], std::nullopt);
  const auto count = [](Eigen::Index i) { return static_cast<std::uint64_t>(i); };
  const ann::AnnaPlan plan =
      make_anna_plan(options.plan, count(x.q.rows()), count(x.k.rows()), count(x.q.cols()), count(x.v.cols()));
  say_anna_plan(plan, command);
  const AnnaMemory memory = options.memory == "tables" ? AnnaMemory::tables : AnnaMemory::linear;
  Json report = {
      {"schema", "subquad.anna.run/1"},   {"version", version()},     {"sizes", sizes_json(Attention::size(x))},
      {"seed", command.shared.seed},      {"memory", options.memory}, {"plan", anna_plan_json(plan)},
      {"dry_run", command.shared.dry_run}};
  if (command.shared.dry_run) {
    if (command.shared.json) std::cout << report.dump(2) << '\n';
    return kDone;
  }
  guard(plan, memory, command.shared.force);

  const Execution execution = command.execution();
  const AnnaParameters parameters{plan.family, plan.code_length, plan.tables, command.shared.seed};
  const Stopwatch watch;
  const attention::AnnaResult result = anna_attention(parameters, x.q, x.k, x.v, memory, execution);
  const double seconds = watch.seconds();
  const auto without = std::count(result.collisions.begin(), result.collisions.end(), std::uint64_t{0});
  command.note("ran in {:.3g} s; {} of {} rows met no key; tables and sums took {}", seconds, without, x.q.rows(),
               describe_bytes(result.peak_bytes));
  report["seconds"] = seconds;
  report["rows_without_neighbour"] = without;
  report["peak_bytes"] = result.peak_bytes;
  report["peak_memory_bytes"] = peak_memory_bytes();
  if (options.compare) {
    const double exact = exact_seconds(x, command.shared.force, execution);
    command.note("exact softmax attention: {:.3g} s, {:.3g} times as long", exact, exact / seconds);
    report["exact_seconds"] = exact;
  }

  int status = kDone;
  const verifiers::AnnaClaim claim{plan.request.radius, plan.request.ratio, plan.tables, false,
                                   verifier_metric(plan.family.metric)};
  std::vector<attention::AnnaCounts> counts;
  if (options.verify || !options.weights.empty()) counts = anna_counts(parameters, x.q, x.k, execution);
  if (options.verify) {
    const AnnaVerification verification =
        verify_anna_counts_and_output(x.q, x.k, x.v, claim, counts, result.output, command.shared.force, execution);
    status = exit_status(verification.report.verdict);
    command.note("{}: {}", to_string(verification.report.verdict), verification.report.reason);
    if (status != kDone) {
      command.note("the plan allows that with probability {:.3g}; another --seed draws other tables",
                   plan.failure_bound);
    }
    report["verification"] = {{"verdict", to_string(verification.report.verdict)},
                              {"reason", verification.report.reason},
                              {"evidence", verification.evidence}};
  }
  report["exit_status"] = status;
  const Provenance provenance{command.command_line, command.shared.seed, options.files[0], ""};
  if (!options.output.empty()) io::write_npy_file(options.output, result.output, provenance);
  if (!options.weights.empty()) {
    const verifiers::AnnaWeights weights = verifiers::make_anna_weights(count(x.k.rows()), claim, counts);
    write_output(options.weights, [&](std::ostream& out) { verifiers::write_anna_weights(out, weights, provenance); });
  }
  if (command.shared.json) std::cout << report.dump(2) << '\n';
  return status;
}

}  // namespace subquad::drivers
