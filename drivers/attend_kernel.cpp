#include "attend_kernel.hpp"

#include "kernel_choice.hpp"
#include "resource_guard.hpp"

#include <subquad/core/error.hpp>

namespace subquad::drivers {
namespace {

using Json = nlohmann::ordered_json;
using problems::Attention;

/// A kernel of the registry, or any program.
class RegistryKernel final : public AttendKernel {
 public:
  RegistryKernel(const AttendOptions& options, const Attention::Instance& instance)
      : options_(options), instance_(instance), kernel_(choose_kernel(options.kernel)) {}

  std::string arithmetic() const override { return kernel_.arithmetic; }
  bool has_masks() const override { return static_cast<bool>(kernel_.run_masked); }

  void plan(Json&, const VerbCommand& command) override {
    const ResourceNeed need = reference_solver_need(Attention::kId, Attention::size(instance_));
    command.note("{}: {}, {} {}", kernel_.name, describe(Attention::size(instance_)),
                 subquad::describe(need.operations), need.operation_name);
    if (!command.shared.dry_run) check_resources("running " + kernel_.name, need, options_.force);
  }

  problems::MatrixD run(const problems::AttentionMask& mask, const Execution& execution, Json&,
                        const VerbCommand&) override {
    return (mask.causal ? kernel_.run_masked(instance_, mask, execution) : kernel_.run(instance_, execution)).output;
  }

 private:
  const AttendOptions& options_;
  const Attention::Instance& instance_;
  attention::Kernel kernel_;
};

}  // namespace

KernelOptions add_kernel_options(CLI::App& app, AttendOptions& options) {
  const std::vector<std::string> low_rank{"low-rank", "low-rank-f32"};
  KernelOptions result{
      {app.add_option("--entry-bound", options.entry_bound,
                      "low-rank: plan for all inputs with entries in [-B, B], not for these data"),
       low_rank},
      {app.add_option("--max-rank", options.max_rank, "low-rank: refuse beyond this rank")->capture_default_str(),
       low_rank},
      {app.add_option("--k", options.k, "knn, sampled: keys a query (sampled: default sqrt(n_k))"), {"knn", "sampled"}},
      {app.add_option("--index", options.index, "knn: exact, lsh or faiss search")->capture_default_str(), {"knn"}},
      {app.add_option("--gap", options.gap, "knn: no missed logit is above the worst listed one + C"), {"knn"}},
      {app.add_option("--estimator", options.estimator, "sampled: mean, median-of-means or upweighted")
           ->check(CLI::IsMember({"mean", "median-of-means", "upweighted"}))
           ->capture_default_str(),
       {"sampled"}},
      {app.add_option("--samples", options.samples, "sampled: samples a row (and group)"), {"sampled"}},
      {app.add_option("--delta", options.delta, "sampled: as many samples as eps_a and this failure probability need"),
       {"sampled"}}};
  const std::vector<CLI::Option*> before = app.get_options();
  options.anna.add_to(app);
  for (CLI::Option* option : app.get_options()) {
    if (std::find(before.begin(), before.end(), option) == before.end()) {
      option->required(false);
      result.push_back({option, {"anna"}});
    }
  }
  return result;
}

std::unique_ptr<AttendKernel> make_attend_kernel(const AttendOptions& options, const Attention::Instance& instance,
                                                 int threads) {
  if (options.kernel == "low-rank" || options.kernel == "low-rank-f32")
    return make_low_rank_kernel(options, instance, threads);
  if (options.kernel == "knn") return make_knn_kernel(options, instance);
  if (options.kernel == "sampled") return make_sampled_kernel(options, instance);
  if (options.kernel == "anna") return make_anna_kernel(options, instance);
  return std::make_unique<RegistryKernel>(options, instance);
}

}  // namespace subquad::drivers
