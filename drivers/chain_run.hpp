// Chain run: decides a CNF through attention.
//
// CNF -> OV -> (GapANN ->) attention -> kernel -> flags -> lift -> verified.
#pragma once

#include "chain_audit.hpp"
#include "chain_options.hpp"
#include "chain_plan.hpp"

#include <subquad/attention/kernel.hpp>
#include <subquad/reductions/ledger.hpp>
#include <subquad/sat/cnf.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace subquad::drivers {

/// One instance of the chain as it was built.
struct BuiltStage {
  std::string problem;
  std::string reduction;                           ///< empty for the source
  std::vector<reductions::SizeBound> size_bounds;  ///< in the sizes of the stage before
  Sizes sizes;
  Sizes allowed;                        ///< the bounds' values at the sizes of the stage before
  std::vector<std::string> violations;  ///< empty: all bounds hold
  double seconds = 0;
};

/// What the attention instance is, in numbers.
struct AttentionFacts {
  std::uint64_t num_queries = 0;
  std::uint64_t num_keys = 0;
  std::uint64_t dim = 0;
  std::uint64_t value_dim = 0;
  double entry_bound = 0;  ///< B
  double beta = 0;         ///< B^2, the weight of the logits; an estimate where B was rounded up to 1
  double scale = 0;
  double tolerance = 0;      ///< eps_a, 0 if it underflows
  double log_tolerance = 0;  ///< ln eps_a
};

enum class ChainVerdict {
  satisfiable,    ///< with a model that verifiers::verify_model certified
  unsatisfiable,  ///< no row is flagged; certified if the audit is complete
  refuted         ///< the kernel, or the cross-check, is proved wrong
};

/// "satisfiable", "unsatisfiable" or "refuted".
std::string_view to_string(ChainVerdict verdict) noexcept;

struct CrossCheck {
  bool satisfiable = false;
  bool agrees = false;
  double seconds = 0;
};

struct ChainResult {
  ChainVerdict verdict = ChainVerdict::refuted;
  std::optional<sat::Model> model;
  std::vector<BuiltStage> stages;
  AttentionFacts attention;
  double kernel_seconds = 0;
  double kernel_operations = 0;  ///< multiply-adds
  ChainAudit audit;
  std::uint64_t rows_flagged = 0;
  double lift_seconds = 0;
  std::string model_report;  ///< what the model verifier said
  std::optional<CrossCheck> cross_check;
  std::optional<reductions::Ledger> ledger;  ///< nothing if the kernel is refuted: then nothing follows
  std::uint64_t peak_memory_bytes = 0;
  double seconds = 0;

  /// True iff the verdict rests on checks of every row (and not on the kernel).
  bool fully_audited() const noexcept { return audit.verdict == Verdict::certified && audit.complete(); }
};

/// Runs the chain. Nothing is allocated before the resource guard has agreed.
///
/// Returns  refuted, with faults or with a disagreeing cross-check, when the kernel is proved wrong: it does not throw
/// Errors   those of plan_chain; Error(resource) from the guard; Error(undecided) where log enclosures are too wide;
///          Error(internal) if a kernel within its tolerance gave a wrong flag (a theorem of the chain would be false)
///          or a lifted model fails; Error(interrupted)
ChainResult run_chain_on(const sat::Cnf& formula, const ChainOptions& options, const attention::Kernel& kernel,
                         const Execution& execution);

}  // namespace subquad::drivers
