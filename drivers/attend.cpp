// subquad attend: one kernel on npy matrices, with its plan, its error certificate, its time.
#include "attend_kernel.hpp"
#include "attention_arrays.hpp"
#include "attention_verification.hpp"
#include "causal_option.hpp"
#include "exit_status.hpp"
#include "instance_reading.hpp"
#include "size_json.hpp"
#include "verbs.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/stopwatch.hpp>
#include <subquad/io/npy.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>

namespace subquad::drivers {
namespace {

using Json = nlohmann::ordered_json;
using problems::Attention;

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
      {Effective::json, Effective::dry_run, Effective::force, Effective::seed, Effective::threads},
      {{"low-rank (AS23): replaces exp by a polynomial of the certified least degree; every entry is within eps_a for "
        "certain,",
        "rounding included. It refuses, with the numbers, where rank, memory or rounding do not allow that.",
        "--dry-run says the plan only. Time: O(n r (d + d_v)) for rank r; the exact kernels: O(n n_k (d + d_v)).",
        "knn: softmax over the k best keys, with a certificate a row; without --k as many keys as --tolerance needs. "
        "sampled:",
        "estimates from the k best keys and a few others (H25). anna: hash tables (L25), which average over near "
        "keys."},
       {"0 done", "1 --verify refuted the output", "2 bad usage or input", "3 refused: rank, memory, rounding",
        "4 undecided"},
       {"subquad attend q.npy k.npy v.npy -o out.npy --kernel low-rank --tolerance 1e-3",
        "subquad attend q.npy k.npy v.npy --kernel low-rank-f32 --tolerance 1e-2 --dry-run"}});
  AttendOptions options;
  CausalOption causal;
  auto& app = command.app;
  app.add_option("FILES", options.files, "Q.npy K.npy V.npy (n x d, n_k x d, n_k x d_v), or one .attention instance")
      ->required();
  app.add_option("-o,--output", options.output, "Output, n x d_v (.npy, float64)");
  app.add_option("--kernel", options.kernel,
                 "exact, exact-f32, rigorous, low-rank, low-rank-f32, knn, sampled, anna, or cmd:... as for chain")
      ->capture_default_str();
  app.add_option("--tolerance", options.tolerance, "eps_a > 0: the error allowed an entry");
  app.add_option("--scale", options.scale, "Factor of the logits (default 1/d)");
  causal.add_to(app);
  app.add_flag("--verify", options.verify, "Prove or refute that every entry is within eps_a (quadratic time)");
  const KernelOptions kernel_options = add_kernel_options(app, options);
  if (!command.parse()) return kDone;
  options.seed = command.shared.seed;
  options.force = command.shared.force;
  require(!options.tolerance || (std::isfinite(*options.tolerance) && *options.tolerance > 0), ErrorKind::parameter,
          "--tolerance: {}, expected a positive number", options.tolerance.value_or(0.0));
  for (const auto& [option, kernels] : kernel_options) {
    const bool fits = std::find(kernels.begin(), kernels.end(), options.kernel) != kernels.end();
    require(fits || option->count() == 0, ErrorKind::parameter, "{} is for --kernel {} only", option->get_name(),
            fmt::join(kernels, ", "));
  }
  require(options.tolerance || options.files.size() == 1 || !options.verify, ErrorKind::parameter,
          "attend: expected --tolerance T with --verify");
  require(!(options.verify && options.kernel == "anna"), ErrorKind::parameter,
          "--verify compares with softmax attention, which anna does not approximate; 'subquad anna run --verify' "
          "checks anna");
  const problems::AttentionMask mask = causal.mask();

  const Attention::Instance instance = read_input(options, command);
  const Execution execution = command.execution();
  const std::unique_ptr<AttendKernel> kernel = make_attend_kernel(options, instance, execution.thread_count());
  require(!mask.causal || kernel->has_masks(), ErrorKind::parameter,
          "--causal: the kernel {} has no masks; exact, exact-f32 and knn with --k have", options.kernel);
  Json report = {{"schema", "subquad.attend/1"},
                 {"version", version()},
                 {"kernel", options.kernel},
                 {"arithmetic", kernel->arithmetic()},
                 {"sizes", sizes_json(Attention::size(instance))},
                 {"scale", instance.scale},
                 {"dry_run", command.shared.dry_run}};
  if (mask.causal) report["causal_offset"] = mask.offset;
  kernel->plan(report, command);
  if (command.shared.dry_run) {
    if (command.shared.json) std::cout << report.dump(2) << '\n';
    return kDone;
  }

  const Stopwatch watch;
  const problems::MatrixD output = kernel->run(mask, execution, report, command);
  command.note("ran in {:.3g} s", watch.seconds());
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
