#include "chain_report.hpp"

#include "size_json.hpp"
#include "terminal_progress.hpp"

#include <subquad/core/provenance.hpp>

#include <fmt/format.h>

#include <cmath>

namespace subquad::drivers {

namespace {

// An expression that fits a table; the whole stands in JSON and in `subquad graph`.
std::string shortened(const std::string& expression) {
  constexpr std::size_t kWidth = 44;
  return expression.size() <= kWidth ? expression : expression.substr(0, kWidth - 3) + "...";
}

// The next power of ten: still a bound, and the same on machines that add in another order.
double rounded_up(double bound) {
  return bound > 0 && std::isfinite(bound) ? std::pow(10.0, std::ceil(std::log10(bound))) : bound;
}

// "num_a        1024  = 2^ceil(num_variables/2) = 1024  ✓"
std::string size_line(const std::string& stage, const std::string& field, const Count& value,
                      const reductions::SizeBound* bound, const Count* allowed) {
  std::string line = fmt::format("  {:<11}{:<14}{:>12}", stage, field, subquad::describe(value));
  if (bound == nullptr) return line + "\n";
  const bool exact = bound->kind == reductions::BoundKind::exact;
  const bool holds = exact ? value == *allowed : value <= *allowed;
  const std::string expression = bound->expression.to_string();
  const std::string digits = subquad::describe(*allowed);
  line += fmt::format("  {} {}", exact ? "=" : "<=", shortened(expression));
  if (expression != digits) line += " = " + digits;
  return line + (holds ? "  ✓\n" : "  VIOLATED\n");
}

const reductions::SizeBound* bound_of(const std::vector<reductions::SizeBound>& bounds, const std::string& field) {
  for (const auto& bound : bounds)
    if (bound.field == field) return &bound;
  return nullptr;
}

std::string stage_text(const BuiltStage& stage) {
  std::string text;
  for (std::size_t f = 0; f < stage.sizes.size(); ++f) {
    const auto& [field, value] = stage.sizes[f];
    const auto* bound = bound_of(stage.size_bounds, field);
    text += size_line(f == 0 ? stage.problem : "", field, value, bound,
                      bound ? &size_field(stage.allowed, field) : nullptr);
  }
  if (!stage.reduction.empty())
    text += fmt::format("             built by {} in {}\n", stage.reduction, describe_seconds(stage.seconds));
  return text;
}

std::string attention_text(const AttentionFacts& facts) {
  const std::string tolerance = facts.tolerance > 0
                                    ? fmt::format("{:g}", facts.tolerance)
                                    : fmt::format("e^({:.1f}), below every double", facts.log_tolerance);
  return fmt::format("             B = {:.4g}, beta = B^2 = {:.4g}, scale = 1/{:.6g}, eps_a = {}\n", facts.entry_bound,
                     facts.beta, 1.0 / facts.scale, tolerance);
}

std::string audit_text(const ChainResult& result, const ChainOptions& options) {
  const ChainAudit& audit = result.audit;
  if (options.audit.mode == AuditMode::none)
    return "  audit      none: the verdict is the kernel's word, not audited\n";
  std::string text = fmt::format("  audit      flags of {} of {} rows scanned exactly, {} say yes",
                                 audit.rows_flag_checked, audit.num_flags, result.rows_flagged);
  text += audit.complete() ? "\n" : "; not fully audited\n";
  if (options.parameters == AttentionParameters::paper)
    text += "             enclosures of ln u compared with the threshold ln 2t~ in every row\n";
  else
    text += fmt::format(
        "             values of {} of {} rows looked at ({} entries by {}, {} by MPFR), error <= {:g} against eps_a "
        "= "
        "{:g}\n",
        audit.rows_value_checked, audit.num_rows, audit.entries_by_double,
        audit.by_histogram ? "integer histogram" : "double", audit.entries_by_mpfr,
        rounded_up(audit.largest_error_bound), result.attention.tolerance);
  return text + fmt::format("             {} in {}\n", to_string(audit.verdict), describe_seconds(audit.seconds));
}

nlohmann::ordered_json options_json(const ChainOptions& options, const attention::Kernel& kernel) {
  nlohmann::ordered_json result = {
      {"via", to_string(options.via)},          {"kernel", kernel.name},
      {"arithmetic", kernel.arithmetic},        {"parameters", to_string(options.parameters)},
      {"audit", to_string(options.audit.mode)}, {"seed", options.seed}};
  if (options.parameters == AttentionParameters::refined) result["tolerance"] = options.tolerance;
  return result;
}

nlohmann::ordered_json stage_json(const std::string& problem, const std::string& reduction, const Sizes& sizes,
                                  const std::vector<reductions::SizeBound>& bounds, const Sizes& allowed) {
  nlohmann::ordered_json result = {{"problem", problem}};
  if (!reduction.empty()) result["reduction"] = reduction;
  result["sizes"] = nlohmann::ordered_json::array();
  for (const auto& [field, value] : sizes) {
    nlohmann::ordered_json size = {{"field", field}, {"value", count_json(value)}};
    if (const auto* bound = bound_of(bounds, field)) {
      const bool exact = bound->kind == reductions::BoundKind::exact;
      const Count& most = size_field(allowed, field);
      size["bound"] = {{"kind", exact ? "exact" : "upper_bound"},
                       {"expression", bound->expression.to_string()},
                       {"value", count_json(most)},
                       {"holds", exact ? value == most : value <= most}};
    }
    result["sizes"].push_back(std::move(size));
  }
  return result;
}

// JSON has no infinities or NaN.
nlohmann::ordered_json fault_json(const KernelFault& fault) {
  nlohmann::ordered_json result = {
      {"row", fault.row}, {"what", fault.what}, {"candidate", number_json(fault.candidate)}};
  if (fault.log_candidate)
    result["log_candidate"] = {number_json(fault.log_candidate->log_low), number_json(fault.log_candidate->log_high)};
  if (fault.truth) result["truth"] = {number_json(fault.truth->low), number_json(fault.truth->high)};
  return result;
}

nlohmann::ordered_json audit_json(const ChainResult& result, const ChainOptions& options) {
  const ChainAudit& audit = result.audit;
  nlohmann::ordered_json report = {{"mode", to_string(options.audit.mode)},
                                   {"verdict", to_string(audit.verdict)},
                                   {"fully_audited", result.fully_audited()},
                                   {"rows", audit.num_rows},
                                   {"flags", audit.num_flags},
                                   {"flags_checked", audit.rows_flag_checked},
                                   {"flags_yes", result.rows_flagged},
                                   {"values_checked", audit.rows_value_checked},
                                   {"values_method", audit.by_histogram ? "histogram" : "general"},
                                   {"entries_by_double", audit.entries_by_double},
                                   {"entries_by_mpfr", audit.entries_by_mpfr},
                                   {"largest_error_bound", number_json(audit.largest_error_bound)},
                                   {"seconds", audit.seconds},
                                   {"faults", nlohmann::ordered_json::array()}};
  for (const KernelFault& fault : audit.faults) report["faults"].push_back(fault_json(fault));
  return report;
}

}  // namespace

std::string plan_text(const ChainPlan& plan, const attention::Kernel& kernel,
                      std::optional<double> kernel_seconds_estimate, const ResourceLimits& limits) {
  std::string text = "  stage      size                  value  bound\n";
  for (const PlannedStage& stage : plan.stages) {
    for (std::size_t f = 0; f < stage.sizes.size(); ++f) {
      const auto& [field, value] = stage.sizes[f];
      const auto* bound = bound_of(stage.size_bounds, field);
      std::string line =
          fmt::format("  {:<11}{:<14}{:>12}", f == 0 ? stage.problem : "", field, subquad::describe(value));
      if (bound != nullptr)
        line += fmt::format("  {} {}", bound->kind == reductions::BoundKind::exact ? "=" : "<=",
                            shortened(bound->expression.to_string()));
      text += line + "\n";
    }
    text += fmt::format("             {}\n", describe_bytes(stage.bytes));
  }
  text += fmt::format("  kernel     {} ({}): {} multiply-adds, estimated time {}\n", kernel.name, kernel.arithmetic,
                      subquad::describe(plan.kernel.operations),
                      kernel_seconds_estimate ? describe_seconds(*kernel_seconds_estimate) : std::string("unknown"));
  text += fmt::format("  audit      {} word operations for the flags, {} multiply-adds for all values\n",
                      subquad::describe(plan.flag_audit_operations), subquad::describe(plan.value_audit_operations));
  text += fmt::format("  memory     {}; the guard allows {} and {} multiply-adds\n", describe_bytes(plan.kernel.bytes),
                      limits.bytes > 0 ? describe_bytes(limits.bytes) : std::string("any"),
                      subquad::describe(limits.operations));
  return text;
}

std::string result_text(const ChainResult& result, const ChainOptions& options, const attention::Kernel& kernel) {
  std::string text = "  stage      size                  value  bound\n";
  for (const BuiltStage& stage : result.stages) text += stage_text(stage);
  text += attention_text(result.attention);
  text += fmt::format("  kernel     {} ({}): {}, {}/s multiply-adds\n", kernel.name, kernel.arithmetic,
                      describe_seconds(result.kernel_seconds),
                      describe_rate(result.kernel_operations / std::max(result.kernel_seconds, 1e-9)));
  text += audit_text(result, options);
  if (result.model)
    text += fmt::format("  lift       {} in {}\n", result.model_report, describe_seconds(result.lift_seconds));
  if (result.cross_check)
    text +=
        fmt::format("  cadical    {} in {}: {}\n", result.cross_check->satisfiable ? "satisfiable" : "unsatisfiable",
                    describe_seconds(result.cross_check->seconds), result.cross_check->agrees ? "agrees" : "DISAGREES");
  if (result.ledger) {
    const auto lines = reductions::conclusion(*result.ledger, options.alpha, 1.0);
    for (std::size_t i = 0; i < lines.size(); ++i)
      text += fmt::format("  {:<11}{}\n", i == 0 ? "ledger" : "", lines[i]);
  }
  return text + fmt::format("  total      {}, peak memory {}\n", describe_seconds(result.seconds),
                            describe_bytes(result.peak_memory_bytes));
}

std::vector<std::string> fault_lines(const ChainResult& result) {
  std::vector<std::string> lines;
  for (const KernelFault& fault : result.audit.faults) {
    std::string line = fmt::format("kernel refuted: row {}: û = {:.17g}", fault.row, fault.candidate);
    if (fault.log_candidate)
      line += fmt::format(", ln û in [{:.17g}, {:.17g}]", fault.log_candidate->log_low, fault.log_candidate->log_high);
    if (fault.truth) line += fmt::format(", u in [{:.17g}, {:.17g}] (proved)", fault.truth->low, fault.truth->high);
    lines.push_back(line + "; " + fault.what);
  }
  if (result.cross_check && !result.cross_check->agrees)
    lines.push_back(fmt::format("cross-check refuted: the chain says {}, CaDiCaL says {}",
                                result.cross_check->satisfiable ? "unsatisfiable" : "satisfiable",
                                result.cross_check->satisfiable ? "satisfiable" : "unsatisfiable"));
  return lines;
}

std::string competition_text(const ChainResult& result, const std::vector<std::string>& decoded) {
  std::string text;
  for (const std::string& line : fault_lines(result)) text += "c " + line + "\n";
  if (result.verdict == ChainVerdict::refuted) return text;
  for (const std::string& line : decoded) text += "c " + line + "\n";
  if (result.verdict == ChainVerdict::unsatisfiable) return text + "s UNSATISFIABLE\n";
  text += "s SATISFIABLE\n";
  constexpr std::size_t kWidth = 78;
  std::string line = "v";
  const auto append = [&](const std::string& word) {
    if (line.size() + 1 + word.size() > kWidth) {
      text += line + "\n";
      line = "v";
    }
    line += " " + word;
  };
  for (std::size_t v = 0; v < result.model->size(); ++v)
    append((*result.model)[v] ? std::to_string(v + 1) : "-" + std::to_string(v + 1));
  append("0");
  return text + line + "\n";
}

nlohmann::ordered_json plan_json(const ChainPlan& plan, const ChainOptions& options, const attention::Kernel& kernel,
                                 std::optional<double> kernel_seconds_estimate, const ResourceLimits& limits) {
  nlohmann::ordered_json result = {{"schema", "subquad.chain/1"},
                                   {"version", version()},
                                   {"dry_run", true},
                                   {"options", options_json(options, kernel)},
                                   {"stages", nlohmann::ordered_json::array()}};
  for (const PlannedStage& stage : plan.stages) {
    auto entry = stage_json(stage.problem, stage.reduction, stage.sizes, stage.size_bounds, stage.sizes);
    entry["bytes"] = count_json(stage.bytes);
    result["stages"].push_back(std::move(entry));
  }
  result["need"] = {{"bytes", count_json(plan.kernel.bytes)},
                    {"kernel_multiply_adds", count_json(plan.kernel.operations)},
                    {"flag_audit_word_operations", count_json(plan.flag_audit_operations)},
                    {"value_audit_multiply_adds", count_json(plan.value_audit_operations)}};
  if (kernel_seconds_estimate) result["need"]["kernel_seconds_estimate"] = number_json(*kernel_seconds_estimate);
  result["limits"] = {{"bytes", count_json(limits.bytes)}, {"kernel_multiply_adds", count_json(limits.operations)}};
  return result;
}

nlohmann::ordered_json result_json(const ChainResult& result, const ChainOptions& options,
                                   const attention::Kernel& kernel, const std::vector<std::string>& decoded,
                                   int exit_status) {
  nlohmann::ordered_json report = {{"schema", "subquad.chain/1"},
                                   {"version", version()},
                                   {"dry_run", false},
                                   {"options", options_json(options, kernel)},
                                   {"verdict", to_string(result.verdict)},
                                   {"exit_status", exit_status}};
  report["model"] = nullptr;
  if (result.model && result.verdict == ChainVerdict::satisfiable) {
    report["model"] = nlohmann::ordered_json::array();
    for (std::size_t v = 0; v < result.model->size(); ++v)
      report["model"].push_back((*result.model)[v] ? static_cast<std::int64_t>(v + 1)
                                                   : -static_cast<std::int64_t>(v + 1));
    report["model_verified"] = true;
    report["decoded"] = decoded;
  }
  report["stages"] = nlohmann::ordered_json::array();
  for (const BuiltStage& stage : result.stages) {
    auto entry = stage_json(stage.problem, stage.reduction, stage.sizes, stage.size_bounds, stage.allowed);
    entry["seconds"] = stage.seconds;
    report["stages"].push_back(std::move(entry));
  }
  const AttentionFacts& facts = result.attention;
  report["attention"] = {{"entry_bound", number_json(facts.entry_bound)},
                         {"beta", number_json(facts.beta)},
                         {"scale", number_json(facts.scale)},
                         {"tolerance", number_json(facts.tolerance)},
                         {"log_tolerance", number_json(facts.log_tolerance)}};
  report["kernel"] = {{"seconds", result.kernel_seconds}, {"multiply_adds", number_json(result.kernel_operations)}};
  report["audit"] = audit_json(result, options);
  if (result.cross_check)
    report["cross_check"] = {{"solver", "cadical"},
                             {"satisfiable", result.cross_check->satisfiable},
                             {"agrees", result.cross_check->agrees},
                             {"seconds", result.cross_check->seconds}};
  if (result.ledger)
    report["ledger"] = {{"log2_base", result.ledger->log2_base()},
                        {"alpha", options.alpha},
                        {"operations", count_json(result.ledger->operations())},
                        {"conclusion", reductions::conclusion(*result.ledger, options.alpha, 1.0)}};
  report["seconds"] = result.seconds;
  report["peak_memory_bytes"] = result.peak_memory_bytes;
  return report;
}

}  // namespace subquad::drivers
