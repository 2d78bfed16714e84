// attend --kernel sampled: H25's estimators, with sample sizes from a tolerance and a failure probability.
#include "attend_kernel.hpp"
#include "resource_guard.hpp"
#include "size_json.hpp"

#include <subquad/ann/top_k.hpp>
#include <subquad/attention/sampled_attention.hpp>
#include <subquad/core/error.hpp>

#include <algorithm>
#include <cmath>

namespace subquad::drivers {
namespace {

using attention::Estimator;
using attention::SampledOptions;
using Json = nlohmann::ordered_json;
using problems::Attention;

class SampledKernel final : public AttendKernel {
 public:
  SampledKernel(const AttendOptions& options, const Attention::Instance& instance)
      : instance_(instance), force_(options.force) {
    const auto n = static_cast<std::uint64_t>(instance.k.rows());
    require(n >= 1, ErrorKind::parameter, "sampled: no keys");
    k_ = options.k.value_or(static_cast<std::uint64_t>(std::ceil(std::sqrt(static_cast<double>(n)))));
    require(options.samples.has_value() != options.delta.has_value(), ErrorKind::parameter,
            "attend: sampled needs either --samples N, or --tolerance T with --delta D");
    require(!options.delta || options.tolerance, ErrorKind::parameter, "attend: --delta needs --tolerance T");
    sampled_.seed = options.seed;
    sampled_.estimator = options.estimator == "mean"              ? Estimator::mean
                         : options.estimator == "median-of-means" ? Estimator::median_of_means
                                                                  : Estimator::upweighted_tail;
    name_ = options.estimator;
    if (options.samples) {
      sampled_.samples = *options.samples;
      sampled_.groups = sampled_.estimator == Estimator::median_of_means ? 9 : 1;
    } else {
      choose_samples(*options.tolerance, *options.delta, n);
    }
  }

  std::string arithmetic() const override { return "float64"; }

  void plan(Json& report, const VerbCommand& command) override {
    command.note("sampled: {}, {} best of {} keys, {} samples a row{}", name_, k_, instance_.k.rows(), sampled_.samples,
                 sampled_.groups > 1 ? fmt::format(" and group, {} groups", sampled_.groups) : "");
    if (!promise_.empty()) command.note("sampled: {}", promise_);
    if (Count(sampled_.samples) * sampled_.groups >= Count(static_cast<std::uint64_t>(instance_.k.rows())))
      command.note("sampled: no gain: as many samples a row as there are keys; the exact kernel is faster");
    const Count n = static_cast<std::uint64_t>(instance_.q.rows());
    const Count d = static_cast<std::uint64_t>(instance_.q.cols());
    const Count values = static_cast<std::uint64_t>(instance_.v.cols());
    ResourceNeed need;
    need.bytes = n * k_ * 12;
    need.operations = n * static_cast<std::uint64_t>(instance_.k.rows()) * d +
                      n * Count(sampled_.samples) * sampled_.groups * (d + values);
    need.operation_name = "multiply-adds";
    if (!command.shared.dry_run) check_resources("running sampled", need, force_);
    report["k"] = k_;
    report["estimator"] = name_;
    report["samples"] = sampled_.samples;
    report["groups"] = sampled_.groups;
  }

  problems::MatrixD run(const problems::AttentionMask&, const Execution& execution, Json& report,
                        const VerbCommand& command) override {
    const ann::Neighbors neighbors = ann::exact_top_k(instance_.q, instance_.k, k_, {}, execution);
    attention::SampledResult result = attention::sampled_attention(instance_, neighbors, sampled_, execution);
    report["logits"] = result.logits;
    command.note("{:.3g} logits a row beyond the listed keys",
                 static_cast<double>(result.logits) / std::max<double>(1.0, static_cast<double>(instance_.q.rows())));
    return std::move(result.output);
  }

 private:
  void choose_samples(double tolerance, double delta, std::uint64_t n) {
    const double value_bound = instance_.v.size() == 0 ? 0.0 : instance_.v.cwiseAbs().maxCoeff();
    promise_ = fmt::format("each entry is within {:g} with probability at least {:g}", tolerance, 1 - delta);
    if (sampled_.estimator == Estimator::mean) {
      sampled_.samples = attention::hoeffding_samples(value_bound, tolerance, delta);
    } else if (sampled_.estimator == Estimator::median_of_means) {
      const auto plan = attention::median_of_means_plan(value_bound * value_bound, tolerance, delta);
      sampled_.samples = plan.group_size;
      sampled_.groups = plan.groups;
    } else {
      const Count samples = attention::upweighted_tail_samples(n, std::min(k_, n), value_bound, tolerance, delta);
      require(samples <= Count(std::uint64_t{1} << 40), ErrorKind::resource,
              "sampled: {} samples a row are needed for eps = {:g}, delta = {:g} with k = {}; raise --k or eps",
              subquad::describe(samples), tolerance, delta, k_);
      sampled_.samples = samples.convert_to<std::uint64_t>();
    }
  }

  const Attention::Instance& instance_;
  bool force_;
  std::uint64_t k_ = 0;
  SampledOptions sampled_;
  std::string name_;
  std::string promise_;
};

}  // namespace

std::unique_ptr<AttendKernel> make_sampled_kernel(const AttendOptions& options, const Attention::Instance& instance) {
  return std::make_unique<SampledKernel>(options, instance);
}

}  // namespace subquad::drivers
