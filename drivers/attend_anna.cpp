// attend --kernel anna: hash tables by a plan; the verb `anna run` has more to say about them.
#include "attend_kernel.hpp"
#include "resource_guard.hpp"

#include <subquad/attention/anna.hpp>
#include <subquad/core/error.hpp>

#include <algorithm>

namespace subquad::drivers {
namespace {

using Json = nlohmann::ordered_json;
using problems::Attention;

class AnnaKernel final : public AttendKernel {
 public:
  AnnaKernel(const AttendOptions& options, const Attention::Instance& instance)
      : instance_(instance),
        seed_(options.seed),
        force_(options.force),
        plan_(make_anna_plan(
            options.anna, static_cast<std::uint64_t>(instance.q.rows()), static_cast<std::uint64_t>(instance.k.rows()),
            static_cast<std::uint64_t>(instance.q.cols()), static_cast<std::uint64_t>(instance.v.cols()))) {}

  std::string arithmetic() const override { return "float64"; }

  void plan(Json& report, const VerbCommand& command) override {
    say_anna_plan(plan_, command);
    ResourceNeed need;
    need.bytes = plan_.bytes_linear;
    need.operations = plan_.operations;
    need.operation_name = "multiply-adds";
    if (!command.shared.dry_run) check_resources("ANNA with these tables", need, force_);
    report["plan"] = anna_plan_json(plan_);
  }

  problems::MatrixD run(const problems::AttentionMask&, const Execution& execution, Json& report,
                        const VerbCommand& command) override {
    attention::AnnaResult result =
        attention::anna_attention({plan_.family, plan_.code_length, plan_.tables, seed_}, instance_.q, instance_.k,
                                  instance_.v, attention::AnnaMemory::linear, execution);
    const auto empty =
        static_cast<std::uint64_t>(std::count(result.collisions.begin(), result.collisions.end(), std::uint64_t{0}));
    report["rows_without_neighbour"] = empty;
    command.note("{} of {} queries met no key; their rows are 0", empty, result.collisions.size());
    return std::move(result.output);
  }

 private:
  const Attention::Instance& instance_;
  std::uint64_t seed_;
  bool force_;
  ann::AnnaPlan plan_;
};

}  // namespace

std::unique_ptr<AttendKernel> make_anna_kernel(const AttendOptions& options, const Attention::Instance& instance) {
  return std::make_unique<AnnaKernel>(options, instance);
}

}  // namespace subquad::drivers
