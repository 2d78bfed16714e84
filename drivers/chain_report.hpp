// Chain report: a chain's plan and result as a table for people, as JSON for programs, and as SAT-competition lines.
#pragma once

#include "chain_plan.hpp"
#include "chain_run.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace subquad::drivers {

/// The plan as a table: sizes, bytes, multiply-adds, estimated time, and what the resource guard says.
std::string plan_text(const ChainPlan& plan, const attention::Kernel& kernel,
                      std::optional<double> kernel_seconds_estimate, const ResourceLimits& limits);

/// The result as a table: every stage's sizes against their bounds, the attention instance's numbers, times, the audit,
/// the cross-check, and the ledger's conclusion at this alpha.
std::string result_text(const ChainResult& result, const ChainOptions& options, const attention::Kernel& kernel);

/// One line a fault: row, û_i, the proved enclosure of u_i, and which check failed.
std::vector<std::string> fault_lines(const ChainResult& result);

/// `s SATISFIABLE` with `v` lines of at most 78 characters, `s UNSATISFIABLE`, or comment lines only if refuted.
/// `decoded` lines become comments.
std::string competition_text(const ChainResult& result, const std::vector<std::string>& decoded);

/// Schema "subquad.chain/1" (docs/cli.md), dry_run true.
nlohmann::ordered_json plan_json(const ChainPlan& plan, const ChainOptions& options, const attention::Kernel& kernel,
                                 std::optional<double> kernel_seconds_estimate, const ResourceLimits& limits);

/// Schema "subquad.chain/1" (docs/cli.md), dry_run false.
nlohmann::ordered_json result_json(const ChainResult& result, const ChainOptions& options,
                                   const attention::Kernel& kernel, const std::vector<std::string>& decoded,
                                   int exit_status);

}  // namespace subquad::drivers
