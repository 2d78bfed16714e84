// Chain plan: the sizes, bytes and work of a chain run, exactly, from the reductions' size bounds alone.
#pragma once

#include "chain_options.hpp"
#include "reduction_path.hpp"
#include "resource_guard.hpp"

#include <subquad/attention/kernel.hpp>
#include <subquad/reductions/size_expression.hpp>
#include <subquad/sat/cnf.hpp>

#include <optional>
#include <string>
#include <vector>

namespace subquad::drivers {

/// One instance of the chain, before it is built.
struct PlannedStage {
  std::string problem;                             ///< id
  std::string reduction;                           ///< that makes it; empty for the source
  std::vector<reductions::SizeBound> size_bounds;  ///< in the sizes of the stage before
  Sizes sizes;                                     ///< the bounds' values
  Count bytes;
};

struct ChainPlan {
  std::vector<PlannedStage> stages;  ///< cnf, ov, (gap-ann,) attention
  ResourceNeed kernel;               ///< all instances and the kernel's copies; multiply-adds of the kernel
  Count flag_audit_operations;       ///< word operations to scan all rows exactly
  Count value_audit_operations;      ///< multiply-adds to certify all values
};

/// The chain's reductions with their parameters, from the registry.
/// Throws Error(unsupported) for the paper's parameters on the direct route, or with a kernel outside the log domain.
std::vector<PathStep> chain_path(const ChainOptions& options, const attention::Kernel& kernel);

/// Plans a run. Allocates nothing but the plan. Throws as chain_path; Error(resource) for powers nobody can build.
ChainPlan plan_chain(const sat::Cnf& formula, const ChainOptions& options, const attention::Kernel& kernel);

/// Estimates the kernel's time on this plan from a run on at most 512 queries and 2048 keys of the same dimension.
/// An estimate; nothing for kernels from outside (`cmd:`), whose start-up time would drown it.
std::optional<double> estimate_kernel_seconds(const ChainPlan& plan, const attention::Kernel& kernel,
                                              const Execution& execution);

}  // namespace subquad::drivers
