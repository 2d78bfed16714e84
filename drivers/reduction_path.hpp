// Reduction paths: choosing a path between two problems from command-line words, and walking it down and back up.
#pragma once

#include "resource_guard.hpp"

#include <subquad/core/execution.hpp>
#include <subquad/reductions/registry.hpp>

#include <memory>
#include <string>
#include <vector>

namespace subquad::drivers {

/// One many-one reduction with its parameters fixed.
struct PathStep {
  const reductions::ReductionEntry* entry = nullptr;
  std::shared_ptr<const reductions::AnyReduction> reduction;
};

/// Chooses the reductions from one problem to another and fixes their parameters.
///
/// `through`    names of reductions, comma-separated; empty: the shortest path of many-one reductions
/// `parameters` words "name=value" or "reduction.name=value". A name that several reductions of the path know must be
///              written in the long form
/// Errors       Error(parameter) for unknown problems, reductions or parameters, values out of range, names that do not
///              join up, no path; Error(unsupported) if only Turing reductions lead there
std::vector<PathStep> choose_path(const std::string& from, const std::string& to, const std::string& through,
                                  const std::vector<std::string>& parameters);

/// What each step would build, from the size bounds alone.
struct PlannedInstance {
  std::string problem;
  std::string reduction;
  Sizes sizes;
  Count bytes;
};
std::vector<PlannedInstance> plan_path(const std::vector<PathStep>& path, const Sizes& source);

/// Builds all instances: result[0] is the source, result[i] the target of step i-1.
std::vector<reductions::AnyInstance> reduce_along(const std::vector<PathStep>& path,
                                                  const reductions::AnyInstance& source, const Execution& execution);

/// Lifts an answer of the last instance back to the first. Throws reductions::OracleRefuted if it is proved wrong.
reductions::AnyAnswer lift_along(const std::vector<PathStep>& path,
                                 const std::vector<reductions::AnyInstance>& instances, reductions::AnyAnswer answer);

/// "cnf --cnf_to_ov--> ov --ov_to_gap_ann--> gap-ann".
std::string describe(const std::vector<PathStep>& path);

}  // namespace subquad::drivers
