// subquad chain: decides a CNF through attention.
#include "chain_report.hpp"
#include "chain_run.hpp"
#include "exit_status.hpp"
#include "instance_reading.hpp"
#include "kernel_choice.hpp"
#include "planted_fault.hpp"
#include "variable_names.hpp"
#include "verbs.hpp"

#include <subquad/core/error.hpp>

#include <cstdio>
#include <iostream>

namespace subquad::drivers {

namespace {

int status_of(ChainVerdict verdict) {
  switch (verdict) {
    case ChainVerdict::satisfiable:
      return kSatisfiable;
    case ChainVerdict::unsatisfiable:
      return kUnsatisfiable;
    case ChainVerdict::refuted:
      return kRefuted;
  }
  return kInternalError;
}

VerbHelp chain_help() {
  return {
      {"CNF -> OV -> (GapANN ->) attention -> kernel -> flags -> lift -> verified. n queries, n_k keys, dimension d:",
       "direct: 2^ceil(v/2) x (2^floor(v/2) + 1) for v variables, d = clauses + 1; gap-ann: the same, d about 4 "
       "clauses.",
       "Kernels: exact (float64), exact-f32 (float32), rigorous (MPFR enclosures), or 'cmd:PROGRAM {q} {k} {v} {out} "
       "{scale}'",
       "with .npy files (float64) and the number that scales the logits.",
       "The audit trusts neither kernel nor reductions: flags against exact integer scans, values against proved "
       "enclosures.",
       "stdout: 's SATISFIABLE' and 'v' lines, or 's UNSATISFIABLE'; only 'c' lines if the kernel is refuted. stderr: "
       "the table."},
      {"10 satisfiable, with a verified model", "20 unsatisfiable", "1 the kernel (or the cross-check) is refuted",
       "2 bad usage or input, or an unusable kernel", "3 resource guard", "4 undecided at the kernel's precision",
       "130 interrupted"},
      {"subquad chain petersen-3-colouring.cnf --decode",
       "subquad chain f.cnf --via gap-ann --kernel exact --cross-check --json"}};
}

}  // namespace

int run_chain(const Invocation& invocation) {
  VerbCommand command(
      invocation, "Decides a CNF through attention: every stage is measured against its theorem and verified.",
      {Effective::json, Effective::dry_run, Effective::force, Effective::seed, Effective::threads}, chain_help());
  ChainOptions options;
  std::string input, via = "direct", kernel_name = "exact-f32", parameters = "refined", audit = "auto", sabotage;
  bool decode = false;
  command.app.add_option("FILE", input, "DIMACS CNF; -: standard input")->required();
  command.app.add_option("--via", via, "Route")->check(CLI::IsMember({"direct", "gap-ann"}))->capture_default_str();
  command.app.add_option("--kernel", kernel_name, "exact, exact-f32, rigorous, or 'cmd:...'")->capture_default_str();
  command.app.add_option("--parameters", parameters, "refined: constant error; paper: AS23's, log-domain kernels only")
      ->check(CLI::IsMember({"refined", "paper"}))
      ->capture_default_str();
  auto* tolerance =
      command.app.add_option("--tolerance", options.tolerance, "eps_a, the kernel's allowed error, in (0, 1/2)")
          ->capture_default_str();
  command.app.add_option("--left-variables", options.left_variables,
                         "Variables on the left side (default: half, rounded up)");
  command.app.add_option("--audit", audit, "auto, full, sample:ROWS, or none")->capture_default_str();
  command.app.add_option("--alpha", options.alpha, "Exponent of the ledger's hypothetical kernel")
      ->check(CLI::Range(1.0, 2.0))
      ->capture_default_str();
  command.app.add_flag("--cross-check", options.cross_check, "Run CaDiCaL too; a disagreement is refuted");
  command.app.add_flag("--decode", decode, "Say what the model means, from 'c varname' comments");
  command.app.add_option("--sabotage", sabotage, "Negative control: drop-key:J or add:ROW:X makes the kernel wrong");
  if (!command.parse()) return kDone;

  options.via = via == "direct" ? Via::direct : Via::gap_ann;
  options.parameters = parameters == "refined" ? AttentionParameters::refined : AttentionParameters::paper;
  require(!(options.parameters == AttentionParameters::paper && tolerance->count() > 0), ErrorKind::parameter,
          "--tolerance: the paper's parameters fix eps_a = n^-C_a");
  options.audit = parse_audit_policy(audit);
  options.seed = command.shared.seed;
  options.force = command.shared.force;
  attention::Kernel kernel = choose_kernel(kernel_name);
  if (!sabotage.empty()) kernel = with_planted_fault(kernel, parse_planted_fault(sabotage));

  InputSource file(input);
  const sat::Cnf formula = read_formula(file, command);
  const Execution execution = command.execution();
  if (command.shared.dry_run) {
    const ChainPlan plan = plan_chain(formula, options, kernel);
    const auto estimate = estimate_kernel_seconds(plan, kernel, execution);
    const ResourceLimits limits = ResourceLimits::now();
    if (command.shared.json)
      std::cout << plan_json(plan, options, kernel, estimate, limits).dump(2) << '\n';
    else
      std::cout << plan_text(plan, kernel, estimate, limits);
    return kDone;
  }

  const ChainResult result = run_chain_on(formula, options, kernel, execution);
  const int status = status_of(result.verdict);
  std::vector<std::string> decoded;
  if (decode && result.model) decoded = decode_model(formula, *result.model);
  if (!command.shared.quiet) std::fputs(result_text(result, options, kernel).c_str(), stderr);
  // A refutation is the point of the command: it is said even under --quiet.
  for (const std::string& line : fault_lines(result)) std::fprintf(stderr, "subquad: %s\n", line.c_str());
  if (command.shared.json)
    std::cout << result_json(result, options, kernel, decoded, status).dump(2) << '\n';
  else
    std::cout << competition_text(result, decoded);
  return status;
}

}  // namespace subquad::drivers
