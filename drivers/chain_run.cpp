#include "chain_run.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/line_reader.hpp>
#include <subquad/core/stopwatch.hpp>
#include <subquad/reductions/cnf_to_ov.hpp>
#include <subquad/reductions/gap_ann_to_attention.hpp>
#include <subquad/reductions/ov_to_attention.hpp>
#include <subquad/reductions/ov_to_gap_ann.hpp>
#include <subquad/sat/cadical_solver.hpp>
#include <subquad/verifiers/gap_ann_rows.hpp>
#include <subquad/verifiers/ov_witness.hpp>
#include <subquad/verifiers/sat_model.hpp>

#include <algorithm>
#include <cmath>

namespace subquad::drivers {

namespace {

using problems::Attention;
using problems::GapAnn;
using problems::OrthogonalVectors;
using reductions::CnfToOv;
using reductions::GapAnnToAttention;
using reductions::OvToAttention;
using reductions::OvToGapAnn;

template <class R>
typename R::Target::Instance build(const R& reduction, const typename R::Source::Instance& source,
                                   const Execution& execution, std::vector<BuiltStage>& stages) {
  const Stopwatch watch;
  auto target = reduction.reduce(source, execution);
  BuiltStage stage;
  stage.seconds = watch.seconds();
  stage.problem = R::Target::kId;
  stage.reduction = R::info().name;
  stage.size_bounds = reduction.size_bounds();
  stage.sizes = R::Target::size(target);
  stage.allowed = planned_sizes(stage.size_bounds, stages.back().sizes);
  stage.violations = reductions::violations(stage.size_bounds, stages.back().sizes, stage.sizes);
  stages.push_back(std::move(stage));
  return target;
}

AttentionFacts facts_of(const Attention::Instance& instance, const ChainOptions& options) {
  AttentionFacts facts;
  facts.num_queries = static_cast<std::uint64_t>(instance.q.rows());
  facts.num_keys = static_cast<std::uint64_t>(instance.k.rows());
  facts.dim = static_cast<std::uint64_t>(instance.q.cols());
  facts.value_dim = static_cast<std::uint64_t>(instance.v.cols());
  facts.entry_bound = instance.entry_bound;
  facts.beta = instance.entry_bound * instance.entry_bound;
  facts.scale = instance.scale;
  facts.log_tolerance = instance.log_tolerance;
  if (options.parameters == AttentionParameters::refined)
    facts.tolerance = parse_real(options.tolerance).value_or(std::exp(instance.log_tolerance));
  return facts;
}

Count word_operations(const Count& vectors, std::uint64_t dim) {
  return vectors * ((dim + 63) / 64);
}

std::vector<WrongFlag> wrong_ov_flags(const OrthogonalVectors::Instance& ov, const std::vector<bool>& flags,
                                      const std::optional<std::vector<std::uint64_t>>& rows,
                                      const Execution& execution) {
  std::vector<WrongFlag> result;
  for (const auto& wrong : verifiers::verify_ov_rows(ov, flags, rows, 16, execution))
    result.push_back(
        {wrong.row, wrong.partner
                        ? fmt::format("a_{} is orthogonal to b_{}, but the output says it has no partner", wrong.row,
                                      *wrong.partner)
                        : fmt::format("a_{} has no orthogonal partner, but the output says it has one", wrong.row)});
  return result;
}

std::vector<WrongFlag> wrong_gap_flags(const GapAnn::Instance& gap, const std::vector<bool>& flags,
                                       const std::optional<std::vector<std::uint64_t>>& rows,
                                       const Execution& execution) {
  std::vector<WrongFlag> result;
  for (const auto& wrong : verifiers::verify_gap_ann_rows(gap, GapAnn::Answer{flags}, rows, 16, execution).wrong)
    result.push_back(
        {wrong.row, fmt::format("query {} has its nearest key at distance {} (key {}; near <= {}, far >= {}), but the "
                                "output says {}",
                                wrong.row, wrong.nearest_distance, wrong.nearest_key, gap.r_yes, gap.r_no,
                                wrong.claimed_near ? "near" : "far")});
  return result;
}

// A wrong flag on a row whose value is certified would contradict the reduction's theorem, not the kernel.
void require_theorem_holds(const ChainAudit& audit, double tolerance, bool log_domain) {
  if (log_domain) return;
  tolerance *= 1.0 - 1e-9;  // a value at the very edge proves nothing against the theorem
  for (const KernelFault& fault : audit.faults) {
    if (!fault.truth) continue;
    const bool within =
        fault.candidate >= fault.truth->high - tolerance && fault.candidate <= fault.truth->low + tolerance;
    require(!within, ErrorKind::internal,
            "row {}: {}; yet its output {} is within {} of the exact value [{}, {}]: the reduction is wrong", fault.row,
            fault.what, fault.candidate, tolerance, fault.truth->low, fault.truth->high);
  }
}

void compare_with_cadical(const sat::Cnf& formula, const Execution& execution, ChainResult& result) {
  const Stopwatch watch;
  CrossCheck check;
  const auto answer = sat::solve_with_cadical(formula, execution);
  check.satisfiable = answer.model.has_value();
  check.agrees = check.satisfiable == (result.verdict == ChainVerdict::satisfiable);
  check.seconds = watch.seconds();
  result.cross_check = check;
}

// One oracle call, and one word operation for every word that the reductions wrote.
reductions::Ledger ledger_of(const ChainResult& result, const Attention::Instance& instance,
                             std::uint64_t num_variables, const std::string& kernel_name) {
  reductions::Ledger ledger(static_cast<double>(num_variables));
  reductions::LedgerEntry entry;
  entry.problem = Attention::kId;
  entry.num_a = static_cast<std::uint64_t>(instance.q.rows());
  entry.num_b = static_cast<std::uint64_t>(instance.k.rows());
  entry.dim = static_cast<std::uint64_t>(instance.q.cols());
  entry.description_bits =
      64 * Count(static_cast<std::uint64_t>(instance.q.size() + instance.k.size() + instance.v.size()));
  entry.seconds = result.kernel_seconds;
  entry.tag = kernel_name;
  ledger.add(entry);
  for (const BuiltStage& stage : result.stages)
    if (!stage.reduction.empty()) ledger.add_operations(instance_bytes(stage.problem, stage.sizes) / 8);
  return ledger;
}

}  // namespace

std::string_view to_string(ChainVerdict verdict) noexcept {
  switch (verdict) {
    case ChainVerdict::satisfiable:
      return "satisfiable";
    case ChainVerdict::unsatisfiable:
      return "unsatisfiable";
    case ChainVerdict::refuted:
      return "refuted";
  }
  return "unknown";
}

ChainResult run_chain_on(const sat::Cnf& formula, const ChainOptions& options, const attention::Kernel& kernel,
                         const Execution& execution) {
  const Stopwatch watch;
  const ChainPlan plan = plan_chain(formula, options, kernel);
  check_resources(fmt::format("this chain (kernel {}, {})", kernel.name, describe(plan.stages.back().sizes)),
                  plan.kernel, options.force);
  const bool paper = options.parameters == AttentionParameters::paper;
  ChainResult result;
  BuiltStage source;
  source.problem = sat::CnfSat::kId;
  source.sizes = sat::CnfSat::size(formula);
  result.stages.push_back(std::move(source));

  CnfToOv::Parameters ov_parameters;
  ov_parameters.left_variables = options.left_variables;
  const CnfToOv cnf_to_ov(ov_parameters);
  const OrthogonalVectors::Instance ov = build(cnf_to_ov, formula, execution, result.stages);

  const OvToGapAnn ov_to_gap;
  OvToAttention::Parameters direct_parameters;
  GapAnnToAttention::Parameters gap_parameters;
  if (!paper) direct_parameters.tolerance = reductions::Tolerance(options.tolerance);
  if (!paper) gap_parameters.tolerance = reductions::Tolerance(options.tolerance);
  gap_parameters.mode = paper ? GapAnnToAttention::Mode::paper : GapAnnToAttention::Mode::refined;
  const OvToAttention ov_to_attention(direct_parameters);
  const GapAnnToAttention gap_to_attention(gap_parameters);

  const bool direct = options.via == Via::direct;
  GapAnn::Instance gap;
  if (!direct) gap = build(ov_to_gap, ov, execution, result.stages);
  const Attention::Instance instance = direct ? build(ov_to_attention, ov, execution, result.stages)
                                              : build(gap_to_attention, gap, execution, result.stages);
  result.attention = facts_of(instance, options);

  const Stopwatch kernel_watch;
  const Attention::Answer answer = kernel.run(instance, execution);
  result.kernel_seconds = kernel_watch.seconds();
  // Of the instance as built: the plan's dimension may be an upper bound.
  result.kernel_operations = static_cast<double>(instance.q.rows()) * static_cast<double>(instance.k.rows()) *
                             static_cast<double>(instance.q.cols() + instance.v.cols());

  const std::uint64_t num_flags = ov.a.rows();
  // Rounded up, so that a kernel exactly at its tolerance is never refuted.
  const double tolerance = paper ? 0.0 : std::nextafter(result.attention.tolerance, 1.0);
  AuditTask task{instance, answer, tolerance, paper, num_flags, {}, {}, {}};
  task.flag_row_operations = word_operations(ov.b.rows(), direct ? ov.a.cols() : gap.queries.cols());
  task.read_flags = [&] {
    return direct ? OvToAttention::row_flags(instance, answer) : gap_to_attention.lift(gap, instance, answer).near;
  };
  task.wrong_flags = [&](const std::vector<bool>& flags, const std::optional<std::vector<std::uint64_t>>& rows) {
    return direct ? wrong_ov_flags(ov, flags, rows, execution) : wrong_gap_flags(gap, flags, rows, execution);
  };
  result.audit = audit_kernel(task, options.audit, options.seed, execution);
  require_theorem_holds(result.audit, result.attention.tolerance, paper);

  result.rows_flagged =
      static_cast<std::uint64_t>(std::count(result.audit.flags.begin(), result.audit.flags.end(), true));
  const Stopwatch lift_watch;
  if (result.audit.verdict != Verdict::refuted) {
    try {
      const auto ov_answer = direct ? ov_to_attention.lift(ov, instance, answer)
                                    : ov_to_gap.lift(ov, gap, GapAnn::Answer{result.audit.flags});
      const auto cnf_answer = cnf_to_ov.lift(formula, ov, ov_answer);
      result.verdict = cnf_answer.model ? ChainVerdict::satisfiable : ChainVerdict::unsatisfiable;
      result.model = cnf_answer.model;
    } catch (const reductions::OracleRefuted& refuted) {
      // Reached only without a complete audit: the lift looks at one flagged row itself.
      KernelFault fault;
      fault.row = refuted.row();
      fault.what = refuted.what();
      fault.candidate = answer.output(static_cast<Eigen::Index>(fault.row), 0);
      if (paper) fault.log_candidate = answer.log_column[fault.row];
      fault.truth = verifiers::enclose_attention_row(instance, fault.row).front();
      result.audit.faults.push_back(fault);
      result.audit.verdict = Verdict::refuted;
    }
  }
  if (result.model) {
    const Report report = verifiers::verify_model(formula, *result.model);
    require(report.verdict == Verdict::certified, ErrorKind::internal, "the lifted assignment is no model: {}",
            report.reason);
    result.model_report = report.reason;
  }
  result.lift_seconds = lift_watch.seconds();
  if (options.cross_check && result.verdict != ChainVerdict::refuted) {
    compare_with_cadical(formula, execution, result);
    if (!result.cross_check->agrees) result.verdict = ChainVerdict::refuted;
  }
  // A wrong answer implies nothing.
  if (result.verdict != ChainVerdict::refuted)
    result.ledger = ledger_of(result, instance, formula.num_variables(), kernel.name);
  result.peak_memory_bytes = peak_memory_bytes();
  result.seconds = watch.seconds();
  return result;
}

}  // namespace subquad::drivers
