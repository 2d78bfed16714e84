// subquad attend: one kernel on npy matrices, with its plan, its error certificate, its time.
#include "attention_arrays.hpp"
#include "attention_verification.hpp"
#include "causal_option.hpp"
#include "exit_status.hpp"
#include "instance_reading.hpp"
#include "kernel_choice.hpp"
#include "resource_guard.hpp"
#include "size_json.hpp"
#include "verbs.hpp"

#include <subquad/attention/low_rank.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/stopwatch.hpp>
#include <subquad/io/npy.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <iostream>
#include <optional>

namespace subquad::drivers {
namespace {

using attention::LowRankArithmetic;
using attention::LowRankPlan;
using attention::LowRankRequest;
using Json = nlohmann::ordered_json;
using problems::Attention;

struct AttendOptions {
  std::vector<std::string> files;
  std::string output, kernel = "exact";
  std::optional<double> tolerance, scale, entry_bound;
  std::uint64_t max_rank = 20'000;
  bool verify = false;
  CausalOption causal;
};

std::optional<LowRankArithmetic> low_rank_arithmetic(const std::string& kernel) {
  if (kernel == "low-rank") return LowRankArithmetic::float64;
  if (kernel == "low-rank-f32") return LowRankArithmetic::float32;
  return std::nullopt;
}

Json plan_json(const LowRankPlan& plan) {
  const attention::LowRankBounds& b = plan.request.bounds;
  return {{"radius", b.radius},
          {"denominator_radius", b.denominator_radius},
          {"value_bound", b.value_bound},
          {"value_half_range", b.value_half_range},
          {"tolerance", plan.request.tolerance},
          {"arithmetic", to_string(plan.request.arithmetic)},
          {"epsilon", plan.epsilon},
          {"degree", plan.degree},
          {"rank", count_json(plan.rank)},
          {"paper_rank", count_json(plan.paper_rank)},
          {"bytes", count_json(plan.bytes)},
          {"operations", count_json(plan.operations)},
          {"propagation_bound", plan.propagation_bound},
          {"rounding_bound", plan.rounding_bound},
          {"error_bound", plan.error_bound}};
}

void say_plan(const LowRankPlan& plan, const VerbCommand& command) {
  command.note(
      "plan: logits up to R = {:.4g}, eps_a = {:.3g}; degree {} (certified least for eps = {}), proved eps <= {:.4g}",
      plan.request.bounds.radius, plan.request.tolerance, plan.degree,
      to_decimal(plan.polynomial.epsilon, 4, exact::Rounding::nearest), plan.epsilon);
  command.note("plan: rank {} = C({}+{},{}) (AS23's bound: {}), {} beyond inputs and output, {} multiply-adds",
               subquad::describe(plan.rank), plan.degree, plan.request.dim, plan.request.dim,
               subquad::describe(plan.paper_rank), describe_bytes(plan.bytes), subquad::describe(plan.operations));
  command.note("plan: error <= {:.4g} certain: {:.4g} from the polynomial, {:.4g} from {} rounding", plan.error_bound,
               plan.propagation_bound, plan.rounding_bound, to_string(plan.request.arithmetic));
}

LowRankPlan make_plan(const Attention::Instance& instance, const AttendOptions& options, LowRankArithmetic arithmetic,
                      bool force, const Execution& execution) {
  LowRankRequest request = low_rank_request(instance, *options.tolerance, arithmetic);
  if (options.entry_bound) {
    request.bounds = attention::low_rank_bounds_from_entries(*options.entry_bound, request.dim, request.scale);
  }
  request.max_rank = options.max_rank;
  const ResourceLimits limits = ResourceLimits::now();
  request.max_bytes = force || limits.bytes == 0 ? Count(1) << 60 : limits.bytes;
  return plan_low_rank(request, execution.thread_count());
}

void add_options(VerbCommand& command, AttendOptions& options) {
  auto& app = command.app;
  app.add_option("FILES", options.files, "Q.npy K.npy V.npy (n x d, n_k x d, n_k x d_v), or one .attention instance")
      ->required();
  app.add_option("-o,--output", options.output, "Output, n x d_v (.npy, float64)");
  app.add_option("--kernel", options.kernel,
                 "exact, exact-f32, rigorous, low-rank, low-rank-f32, or cmd:... as for chain")
      ->capture_default_str();
  app.add_option("--tolerance", options.tolerance,
                 "eps_a > 0: the error allowed an entry; needed by low-rank and --verify");
  app.add_option("--scale", options.scale, "Factor of the logits (default 1/d)");
  app.add_option("--entry-bound", options.entry_bound,
                 "low-rank: plan for all inputs with entries in [-B, B], not for these data");
  app.add_option("--max-rank", options.max_rank, "low-rank: refuse beyond this rank")->capture_default_str();
  options.causal.add_to(app);
  app.add_flag("--verify", options.verify, "Prove or refute that every entry is within eps_a (quadratic time)");
}

/// Three matrices, or an instance, which brings its own scale and eps_a.
Attention::Instance read_input(AttendOptions& options, VerbCommand& command) {
  require(options.files.size() == 3 || options.files.size() == 1, ErrorKind::parameter,
          "attend: {} files given, expected Q.npy K.npy V.npy or INSTANCE.attention", options.files.size());
  if (options.files.size() == 3) {
    Attention::Instance instance =
        read_attention_arrays(options.files[0], options.files[1], options.files[2], options.scale);
    if (options.tolerance) instance.log_tolerance = std::log(*options.tolerance);
    return instance;
  }
  require(!options.scale, ErrorKind::parameter, "--scale: an .attention file holds its own scale");
  InputSource file(options.files[0]);
  const reductions::AnyInstance any = read_any_instance(reductions::problem(Attention::kId), file, command);
  Attention::Instance instance = std::any_cast<const Attention::Instance&>(any.value);
  if (options.tolerance) {
    instance.log_tolerance = std::log(*options.tolerance);
  } else {
    options.tolerance = std::exp(instance.log_tolerance);
    require(*options.tolerance > 0, ErrorKind::unsupported,
            "{}: eps_a = e^({}) is below every double; give --tolerance", options.files[0], instance.log_tolerance);
  }
  return instance;
}

}  // namespace

int run_attend(const Invocation& invocation) {
  VerbCommand command(
      invocation, "Runs one attention kernel on matrices: softmax(S Q K^T) V by rows.",
      {Effective::json, Effective::dry_run, Effective::force, Effective::threads},
      {{"low-rank (AS23): replaces exp by a polynomial of the certified least degree; every entry is within eps_a for "
        "certain,",
        "rounding included. It refuses, with the numbers, where rank, memory or rounding do not allow that.",
        "--dry-run says the plan only. Time: O(n r (d + d_v)) for rank r; the exact kernels: O(n n_k (d + d_v))."},
       {"0 done", "1 --verify refuted the output", "2 bad usage or input", "3 refused: rank, memory, rounding",
        "4 undecided"},
       {"subquad attend q.npy k.npy v.npy -o out.npy --kernel low-rank --tolerance 1e-3",
        "subquad attend q.npy k.npy v.npy --kernel low-rank-f32 --tolerance 1e-2 --dry-run"}});
  AttendOptions options;
  add_options(command, options);
  if (!command.parse()) return kDone;
  const auto arithmetic = low_rank_arithmetic(options.kernel);
  require(!options.tolerance || (std::isfinite(*options.tolerance) && *options.tolerance > 0), ErrorKind::parameter,
          "--tolerance: {}, expected a positive number", options.tolerance.value_or(0.0));
  require(options.tolerance || options.files.size() == 1 || !(arithmetic || options.verify), ErrorKind::parameter,
          "attend: expected --tolerance T with {}", arithmetic ? options.kernel : "--verify");
  require(!options.entry_bound || arithmetic, ErrorKind::parameter, "--entry-bound is for the low-rank kernels only");
  const attention::Kernel kernel = choose_kernel(options.kernel);
  const problems::AttentionMask mask = options.causal.mask();
  require(!mask.causal || kernel.run_masked, ErrorKind::parameter,
          "--causal: the kernel {} has no masks; exact and exact-f32 have", kernel.name);

  const Attention::Instance instance = read_input(options, command);
  Json report = {{"schema", "subquad.attend/1"},
                 {"version", version()},
                 {"kernel", kernel.name},
                 {"arithmetic", kernel.arithmetic},
                 {"sizes", sizes_json(Attention::size(instance))},
                 {"scale", instance.scale},
                 {"dry_run", command.shared.dry_run}};
  if (mask.causal) report["causal_offset"] = mask.offset;
  const Execution execution = command.execution();
  std::optional<LowRankPlan> plan;
  if (arithmetic) {
    plan = make_plan(instance, options, *arithmetic, command.shared.force, execution);
    say_plan(*plan, command);
    report["plan"] = plan_json(*plan);
  } else {
    const ResourceNeed need = reference_solver_need(Attention::kId, Attention::size(instance));
    command.note("{}: {}, {} {}", kernel.name, describe(Attention::size(instance)), subquad::describe(need.operations),
                 need.operation_name);
    if (!command.shared.dry_run) check_resources("running " + kernel.name, need, command.shared.force);
  }
  if (command.shared.dry_run) {
    if (command.shared.json) std::cout << report.dump(2) << '\n';
    return kDone;
  }

  const Stopwatch watch;
  problems::MatrixD output;
  if (plan) {
    attention::LowRankResult result = low_rank_attention(*plan, instance, execution);
    output = std::move(result.output);
    report["error_bound"] = result.error_bound;
    command.note("ran in {:.3g} s: error <= {:.4g} certain for this output", watch.seconds(), result.error_bound);
  } else {
    output = (mask.causal ? kernel.run_masked(instance, mask, execution) : kernel.run(instance, execution)).output;
    command.note("ran in {:.3g} s", watch.seconds());
  }
  report["seconds"] = watch.seconds();
  report["peak_memory_bytes"] = peak_memory_bytes();
  command.note("peak memory {}", describe_bytes(peak_memory_bytes()));
  int status = kDone;
  if (options.verify) {
    const AttentionVerification verification =
        verify_attention_output(instance, output, *options.tolerance, command.shared.force, execution, mask);
    status = exit_status(verification.report.verdict);
    command.note("{}: {}", to_string(verification.report.verdict), verification.report.reason);
    report["verification"] = {{"verdict", to_string(verification.report.verdict)},
                              {"reason", verification.report.reason},
                              {"evidence", verification.evidence}};
  }
  report["exit_status"] = status;
  if (!options.output.empty())
    io::write_npy_file(options.output, output, Provenance{command.command_line, std::nullopt, options.files[0], ""});
  if (command.shared.json) std::cout << report.dump(2) << '\n';
  return status;
}

}  // namespace subquad::drivers
