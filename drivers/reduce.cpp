// subquad reduce: turns an instance into one of another problem.
#include "exit_status.hpp"
#include "instance_reading.hpp"
#include "output_writing.hpp"
#include "reduction_path.hpp"
#include "size_json.hpp"
#include "verbs.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/stopwatch.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iostream>

namespace subquad::drivers {

int run_reduce(const Invocation& invocation) {
  VerbCommand command(
      invocation, "Turns an instance of one problem into an instance of another, by one reduction or a path of them.",
      {Effective::json, Effective::dry_run, Effective::force, Effective::threads},
      {{"Problems and their file formats: see 'subquad graph'. Parameters of the reductions: 'subquad graph --json'.",
        "The output's comments name the source's digest, so that 'subquad lift' can find its way back."},
       {"0 done", "2 bad usage or input", "3 resource guard"},
       {"subquad reduce cnf ov f.cnf -o f.ov",
        "subquad reduce cnf attention f.cnf -o f.attention --param tolerance=0.25"}});
  std::string from, to, input, output, through;
  std::vector<std::string> parameters;
  command.app.add_option("FROM", from, "Problem of the input")->required();
  command.app.add_option("TO", to, "Problem of the output")->required();
  command.app.add_option("IN", input, "Instance to read; -: standard input")->required();
  command.app.add_option("-o,--output", output, "File to write; -: standard output");
  command.app.add_option("--through", through, "Reductions to use, comma-separated; default: the shortest path");
  command.app.add_option("--param", parameters, "Parameter of a reduction, as name=value; may be repeated")
      ->allow_extra_args(false);
  if (!command.parse()) return kDone;
  require(!output.empty() || command.shared.dry_run, ErrorKind::parameter,
          "reduce: no output, expected -o FILE (or -o -)");
  require(!(command.shared.json && output == "-"), ErrorKind::parameter,
          "reduce: --json and -o - both want standard output");

  const std::vector<PathStep> path = choose_path(from, to, through, parameters);
  const auto& source_problem = reductions::problem(from);
  const auto& target_problem = reductions::problem(to);
  InputSource file(input);
  const reductions::AnyInstance source = read_any_instance(source_problem, file, command);
  const std::vector<PlannedInstance> plan = plan_path(path, source_problem.size(source));

  nlohmann::ordered_json report = {{"schema", "subquad.reduce/1"},
                                   {"version", version()},
                                   {"dry_run", command.shared.dry_run},
                                   {"source", sizes_json(source_problem.size(source))},
                                   {"steps", nlohmann::ordered_json::array()}};
  ResourceNeed need;
  for (const PlannedInstance& step : plan) {
    need.bytes += step.bytes;
    report["steps"].push_back({{"reduction", step.reduction},
                               {"problem", step.problem},
                               {"sizes_bound", sizes_json(step.sizes)},
                               {"bytes_bound", count_json(step.bytes)}});
    command.note("{:<22}{:<11}{}; {} (by the bounds)", step.reduction, step.problem, describe(step.sizes),
                 describe_bytes(step.bytes));
  }
  if (!command.shared.dry_run) {
    check_resources("reducing " + describe(path), need, command.shared.force);
    const Stopwatch watch;
    const auto instances = reduce_along(path, source, command.execution());
    write_output(output, [&](std::ostream& out) {
      target_problem.write_instance(out, instances.back(), provenance(command.command_line, file));
    });
    report["target"] = sizes_json(target_problem.size(instances.back()));
    report["digest"] = to_string(target_problem.digest(instances.back()));
    report["output"] = output;
    report["seconds"] = watch.seconds();
  }
  if (command.shared.json) std::cout << report.dump(2) << '\n';
  return kDone;
}

}  // namespace subquad::drivers
