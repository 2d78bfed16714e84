// attend --kernel low-rank: the plan of AS23's algorithm in words, and its certificate.
#include "attend_kernel.hpp"
#include "resource_guard.hpp"
#include "size_json.hpp"

#include <subquad/attention/low_rank.hpp>
#include <subquad/core/error.hpp>

namespace subquad::drivers {
namespace {

using attention::LowRankArithmetic;
using attention::LowRankPlan;
using attention::LowRankRequest;
using Json = nlohmann::ordered_json;
using problems::Attention;

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

class LowRankKernel final : public AttendKernel {
 public:
  LowRankKernel(const AttendOptions& options, const Attention::Instance& instance, int threads) : instance_(instance) {
    const LowRankArithmetic arithmetic =
        options.kernel == "low-rank" ? LowRankArithmetic::float64 : LowRankArithmetic::float32;
    LowRankRequest request = attention::low_rank_request(instance, *options.tolerance, arithmetic);
    if (options.entry_bound) {
      request.bounds = attention::low_rank_bounds_from_entries(*options.entry_bound, request.dim, request.scale);
    }
    request.max_rank = options.max_rank;
    const ResourceLimits limits = ResourceLimits::now();
    request.max_bytes = options.force || limits.bytes == 0 ? Count(1) << 60 : limits.bytes;
    plan_ = attention::plan_low_rank(request, threads);
  }

  std::string arithmetic() const override { return std::string(to_string(plan_.request.arithmetic)); }

  void plan(Json& report, const VerbCommand& command) override {
    say_plan(plan_, command);
    report["plan"] = plan_json(plan_);
  }

  problems::MatrixD run(const problems::AttentionMask&, const Execution& execution, Json& report,
                        const VerbCommand& command) override {
    attention::LowRankResult result = attention::low_rank_attention(plan_, instance_, execution);
    report["error_bound"] = result.error_bound;
    command.note("error <= {:.4g} certain for this output", result.error_bound);
    return std::move(result.output);
  }

 private:
  const Attention::Instance& instance_;
  LowRankPlan plan_;
};

}  // namespace

std::unique_ptr<AttendKernel> make_low_rank_kernel(const AttendOptions& options, const Attention::Instance& instance,
                                                   int threads) {
  require(options.tolerance.has_value(), ErrorKind::parameter, "attend: expected --tolerance T with {}",
          options.kernel);
  return std::make_unique<LowRankKernel>(options, instance, threads);
}

}  // namespace subquad::drivers
