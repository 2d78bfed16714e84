// ANNA planning: hash families by name, plans from options, and a plan in words and as JSON.
#pragma once

#include "verb_command.hpp"

#include <subquad/ann/anna_plan.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace subquad::drivers {

/// What the user asks of the tables.
struct AnnaOptions {
  std::string family = "e2lsh";
  double radius = 0.0;
  double ratio = 0.0;
  double failure = 0.0;
  std::optional<std::uint64_t> far_pairs, near_pairs;
  std::optional<std::uint64_t> code_length, tables;  ///< instead of --failure: a choice to be judged, not made
  std::uint64_t max_tables = std::uint64_t{1} << 20;

  /// Adds --radius, --ratio, --failure, --family, --far-pairs, --near-pairs, --code-length, --tables, --max-tables.
  void add_to(CLI::App& app);
};

/// Plans. Without --code-length and --tables: the choice of least cost within the failure probability; with both: the
/// bound of that choice.
///
/// Errors  Error(parameter) for an unknown family (with the nearest), neither or both of --failure and the pair, and as
///         ann::plan_anna; Error(resource) as ann::plan_anna
ann::AnnaPlan make_anna_plan(const AnnaOptions& options, std::uint64_t num_queries, std::uint64_t num_keys,
                             std::uint64_t dim, std::uint64_t value_dim);

nlohmann::ordered_json anna_plan_json(const ann::AnnaPlan& plan);

/// Says the plan as notes.
void say_anna_plan(const ann::AnnaPlan& plan, const VerbCommand& command);

}  // namespace subquad::drivers
