#include "chain_plan.hpp"

#include "kernel_choice.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/core/stopwatch.hpp>

#include <algorithm>

namespace subquad::drivers {

std::vector<PathStep> chain_path(const ChainOptions& options, const attention::Kernel& kernel) {
  const bool paper = options.parameters == AttentionParameters::paper;
  require(!(paper && options.via == Via::direct), ErrorKind::unsupported,
          "the paper's parameters (AS23 Lemma 4.7) exist for --via gap-ann only; the direct route is refined");
  require(!paper || kernel.log_domain, ErrorKind::unsupported,
          "the paper's parameters allow an error of n^-C_a, which underflows to 0 as a float: kernel '{}' ({}) returns "
          "ordinary "
          "floats; use --kernel rigorous, which returns enclosures of ln u",
          kernel.name, kernel.arithmetic);
  std::vector<std::string> words;
  if (options.left_variables) words.push_back(fmt::format("cnf_to_ov.left_variables={}", *options.left_variables));
  const char* last = options.via == Via::direct ? "ov_to_attention" : "gap_ann_to_attention";
  if (!paper) words.push_back(fmt::format("{}.tolerance={}", last, options.tolerance));
  if (options.via == Via::gap_ann) words.push_back(fmt::format("{}.mode={}", last, to_string(options.parameters)));
  return choose_path(
      "cnf", "attention",
      options.via == Via::direct ? "cnf_to_ov,ov_to_attention" : "cnf_to_ov,ov_to_gap_ann,gap_ann_to_attention", words);
}

ChainPlan plan_chain(const sat::Cnf& formula, const ChainOptions& options, const attention::Kernel& kernel) {
  ChainPlan plan;
  require(!options.left_variables || *options.left_variables <= formula.num_variables(), ErrorKind::parameter,
          "--left-variables {}: the formula has {} variables", options.left_variables.value_or(0),
          formula.num_variables());
  PlannedStage source;
  source.problem = sat::CnfSat::kId;
  source.sizes = sat::CnfSat::size(formula);
  source.bytes = instance_bytes(source.problem, source.sizes);
  plan.stages.push_back(std::move(source));
  for (const PathStep& step : chain_path(options, kernel)) {
    PlannedStage stage;
    stage.problem = step.entry->info.target;
    stage.reduction = step.entry->info.name;
    stage.size_bounds = step.reduction->size_bounds();
    stage.sizes = planned_sizes(stage.size_bounds, plan.stages.back().sizes);
    stage.bytes = instance_bytes(stage.problem, stage.sizes);
    plan.stages.push_back(std::move(stage));
  }
  for (const PlannedStage& stage : plan.stages) plan.kernel.bytes += stage.bytes;
  const PlannedStage& last = plan.stages.back();
  const Count output_bytes = 8 * size_field(last.sizes, "num_queries") * size_field(last.sizes, "value_dim");
  // Half a copy for the kernels that round the instance to float32, and the output in both precisions.
  plan.kernel.bytes += last.bytes / 2 + 2 * output_bytes;
  plan.kernel.operations = reference_solver_need(last.problem, last.sizes).operations;
  plan.kernel.operation_name = "multiply-adds";
  plan.value_audit_operations = plan.kernel.operations;
  const PlannedStage& flagged = plan.stages[plan.stages.size() - 2];
  plan.flag_audit_operations = reference_solver_need(flagged.problem, flagged.sizes).operations;
  return plan;
}

std::optional<double> estimate_kernel_seconds(const ChainPlan& plan, const attention::Kernel& kernel,
                                              const Execution& execution) {
  if (is_shell_kernel(kernel)) return std::nullopt;
  const Sizes& sizes = plan.stages.back().sizes;
  const Count& dim = size_field(sizes, "dim");
  const Count& value_dim = size_field(sizes, "value_dim");
  const std::int64_t most_queries = kernel.log_domain ? 2 : 512;
  const std::int64_t most_keys = kernel.log_domain ? 32 : 2048;
  problems::Attention::Instance probe;
  const auto clamp = [](const Count& size, std::int64_t most) {
    return size > most ? most : static_cast<std::int64_t>(size.convert_to<std::uint64_t>());
  };
  const std::int64_t n = std::max<std::int64_t>(1, clamp(size_field(sizes, "num_queries"), most_queries));
  const std::int64_t n_k = std::max<std::int64_t>(1, clamp(size_field(sizes, "num_keys"), most_keys));
  const std::int64_t d = clamp(dim, 4096);
  const std::int64_t d_v = clamp(value_dim, 4096);
  Random random(1);
  const auto fill = [&random](problems::MatrixD& matrix, std::int64_t rows, std::int64_t cols) {
    matrix.resize(rows, cols);
    for (std::int64_t i = 0; i < matrix.size(); ++i) matrix.data()[i] = random.unit();
  };
  fill(probe.q, n, d);
  fill(probe.k, n_k, d);
  fill(probe.v, n_k, d_v);
  probe.entry_bound = 1.0;
  double best = 0;
  for (int run = 0; run < 3; ++run) {
    const Stopwatch watch;
    kernel.run(probe, Execution{execution.threads, execution.stop, nullptr});
    best = run == 0 ? watch.seconds() : std::min(best, watch.seconds());
  }
  const double probed = static_cast<double>(n) * static_cast<double>(n_k) * static_cast<double>(d + d_v);
  return best * (plan.kernel.operations.convert_to<double>() / std::max(1.0, probed));
}

}  // namespace subquad::drivers
