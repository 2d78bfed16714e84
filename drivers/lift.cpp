// subquad lift: maps an answer from outside back along a path of reductions, and verifies what comes out.
#include "answer_verification.hpp"
#include "exit_status.hpp"
#include "instance_reading.hpp"
#include "output_writing.hpp"
#include "reduction_path.hpp"
#include "verbs.hpp"

#include <subquad/core/error.hpp>
#include <subquad/sat/cnf.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iostream>
#include <sstream>

namespace subquad::drivers {

namespace {

// Who vouches for a lifted answer: the source's verifier, or, where that cannot decide (no model of a large formula),
// the target's verifier on the target's answer together with the reductions' theorems.
Verification vouch(const reductions::ProblemEntry& source, const reductions::ProblemEntry& target,
                   const std::vector<reductions::AnyInstance>& instances, const reductions::AnyAnswer& lifted,
                   const reductions::AnyAnswer& answer, bool force, const Execution& execution) {
  Verification result = verify_answer(source, instances.front(), lifted, force, execution);
  if (result.report.verdict != Verdict::undecided) return result;
  Verification at_target = verify_answer(target, instances.back(), answer, force, execution);
  if (at_target.report.verdict == Verdict::undecided) return result;
  at_target.by += " and the reductions' theorems";
  return at_target;
}

}  // namespace

int run_lift(const Invocation& invocation) {
  VerbCommand command(
      invocation, "Lifts an answer that any solver gave to the reduced instance back to the source, and verifies it.",
      {Effective::json, Effective::dry_run, Effective::force, Effective::threads},
      {{"The target is rebuilt from the source with the same reductions and parameters; an answer whose digest",
        "line names another instance is refused. A CNF's answer is printed as SAT solvers do."},
       {"0 certified (10/20 if the source is a CNF)", "1 the answer is refuted", "2 bad usage or input",
        "3 resource guard", "4 undecided"},
       {"subquad lift cnf ov f.cnf f.ov.answer", "subquad lift ov gap-ann f.ov - -o f.answer < gap.answer"}});
  std::string from, to, input, answer_path, output = "-", through;
  std::vector<std::string> parameters;
  command.app.add_option("FROM", from, "Problem of the source")->required();
  command.app.add_option("TO", to, "Problem that was answered")->required();
  command.app.add_option("IN", input, "Source instance")->required();
  command.app.add_option("ANSWER", answer_path, "Answer to the reduced instance")->required();
  command.app.add_option("-o,--output", output, "Where the lifted answer goes")->capture_default_str();
  command.app.add_option("--through", through,
                         "Reductions that were used, comma-separated; default: the shortest path");
  command.app.add_option("--param", parameters, "Parameter of a reduction, as name=value; may be repeated")
      ->allow_extra_args(false);
  if (!command.parse()) return kDone;
  require(!(input == "-" && answer_path == "-"), ErrorKind::parameter,
          "lift: IN and ANSWER cannot both be standard input");

  const std::vector<PathStep> path = choose_path(from, to, through, parameters);
  const auto& source_problem = reductions::problem(from);
  const auto& target_problem = reductions::problem(to);
  InputSource file(input);
  const reductions::AnyInstance source = read_any_instance(source_problem, file, command);
  ResourceNeed need;
  for (const PlannedInstance& step : plan_path(path, source_problem.size(source))) need.bytes += step.bytes;
  if (command.shared.dry_run) {
    command.note("lift would rebuild {} ({}) and write the lifted answer to {}", describe(path),
                 describe_bytes(need.bytes), output);
    return kDone;
  }
  check_resources("rebuilding " + describe(path), need, command.shared.force);
  const auto instances = reduce_along(path, source, command.execution());
  InputSource answer_file(answer_path);
  const reductions::AnyAnswer answer = read_any_answer(target_problem, instances.back(), answer_file, command);
  const reductions::AnyAnswer lifted = lift_along(path, instances, answer);
  const Verification vouching =
      vouch(source_problem, target_problem, instances, lifted, answer, command.shared.force, command.execution());

  int status = exit_status(vouching.report.verdict);
  if (from == sat::CnfSat::kId && vouching.report.verdict == Verdict::certified)
    status = std::any_cast<const sat::CnfSat::Answer&>(lifted.value).model ? kSatisfiable : kUnsatisfiable;
  command.note("{}: {} ({})", to_string(vouching.report.verdict), vouching.report.reason, vouching.by);

  std::ostringstream text;
  source_problem.write_answer(text, source, lifted, provenance(command.command_line, file));
  if (command.shared.json) {
    const nlohmann::ordered_json report = {{"schema", "subquad.lift/1"},
                                           {"version", version()},
                                           {"path", describe(path)},
                                           {"verdict", to_string(vouching.report.verdict)},
                                           {"reason", vouching.report.reason},
                                           {"vouched_by", vouching.by},
                                           {"answer", text.str()},
                                           {"exit_status", status}};
    std::cout << report.dump(2) << '\n';
  }
  // A refuted answer is not written: a file that exists is one that may be used.
  if (vouching.report.verdict != Verdict::refuted && !(command.shared.json && output == "-")) {
    write_output(output, [&](std::ostream& out) { out << text.str(); });
  }
  return status;
}

}  // namespace subquad::drivers
