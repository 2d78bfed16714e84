// subquad solve: the reference solver of a problem.
#include "exit_status.hpp"
#include "instance_reading.hpp"
#include "output_writing.hpp"
#include "resource_guard.hpp"
#include "size_json.hpp"
#include "verbs.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/stopwatch.hpp>
#include <subquad/sat/cadical_solver.hpp>
#include <subquad/sat/cnf.hpp>
#include <subquad/verifiers/sat_model.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iostream>
#include <sstream>

namespace subquad::drivers {

int run_solve(const Invocation& invocation) {
  VerbCommand command(
      invocation, "Runs the reference solver: brute force from the definition, and CaDiCaL for a CNF.",
      {Effective::json, Effective::dry_run, Effective::force, Effective::threads},
      {{"KIND is a problem of 'subquad graph': cnf, ov, p-ov, gap-ann, ann, attention.",
        "The answer is in the problem's answer format and names the instance by its digest.",
        "A model that CaDiCaL finds is verified before it is printed."},
       {"0 solved (10 satisfiable, 20 unsatisfiable for cnf)", "2 bad usage or input", "3 resource guard"},
       {"subquad solve cnf f.cnf", "subquad solve ov instance.ov -o instance.answer"}});
  std::string kind, input, output = "-";
  bool brute_force = false;
  command.app.add_option("KIND", kind, "Problem")->required();
  command.app.add_option("IN", input, "Instance; -: standard input")->required();
  command.app.add_option("-o,--output", output, "Where the answer goes")->capture_default_str();
  command.app.add_flag("--brute-force", brute_force, "cnf: try all assignments instead of running CaDiCaL");
  if (!command.parse()) return kDone;

  const auto& problem = reductions::problem(kind);
  const bool is_cnf = problem.id == sat::CnfSat::kId;
  require(!brute_force || is_cnf, ErrorKind::parameter, "--brute-force: only cnf has another solver");
  InputSource file(input);
  const reductions::AnyInstance instance = read_any_instance(problem, file, command);
  const bool cadical = is_cnf && !brute_force;
  const Sizes sizes = problem.size(instance);
  if (!cadical) {
    const ResourceNeed need = reference_solver_need(problem.id, sizes);
    command.note("{}: {}; {} and {} {}", problem.id, describe(sizes), describe_bytes(need.bytes),
                 subquad::describe(need.operations), need.operation_name);
    if (!command.shared.dry_run) check_resources("solving " + problem.id, need, command.shared.force);
  } else {
    command.note("{}: {}", problem.id, describe(sizes));
  }
  const Stopwatch watch;
  nlohmann::ordered_json report = {{"schema", "subquad.solve/1"}, {"version", version()},
                                   {"problem", problem.id},       {"solver", cadical ? "cadical" : "brute force"},
                                   {"sizes", sizes_json(sizes)},  {"dry_run", command.shared.dry_run}};
  if (command.shared.dry_run) {
    if (command.shared.json) std::cout << report.dump(2) << '\n';
    return kDone;
  }

  int status = kDone;
  reductions::AnyAnswer answer;
  if (cadical) {
    const auto& formula = std::any_cast<const sat::Cnf&>(instance.value);
    sat::CnfSat::Answer found = sat::solve_with_cadical(formula, command.execution());
    if (found.model) {
      const Report check = verifiers::verify_model(formula, *found.model);
      require(check.verdict == Verdict::certified, ErrorKind::refuted, "CaDiCaL's model is wrong: {}", check.reason);
    }
    answer = {problem.id, std::move(found)};
  } else {
    answer = problem.solve_brute_force(instance, command.execution());
  }
  if (is_cnf) status = std::any_cast<const sat::CnfSat::Answer&>(answer.value).model ? kSatisfiable : kUnsatisfiable;

  std::ostringstream text;
  problem.write_answer(text, instance, answer, provenance(command.command_line, file));
  if (command.shared.json) {
    report["answer"] = text.str();
    report["seconds"] = watch.seconds();
    report["exit_status"] = status;
    std::cout << report.dump(2) << '\n';
  }
  if (!(command.shared.json && output == "-")) {
    write_output(output, [&](std::ostream& out) { out << text.str(); });
  }
  return status;
}

}  // namespace subquad::drivers
