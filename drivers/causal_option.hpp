// The options --causal and --causal-offset, of the verbs that work on attention.
#pragma once

#include <subquad/problems/attention_mask.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>

namespace subquad::drivers {

/// What was given on the command line.
struct CausalOption {
  bool causal = false;
  std::optional<std::uint64_t> offset;

  /// Adds both options to a verb.
  void add_to(CLI::App& app);
  bool given() const { return causal || offset.has_value(); }
  /// Throws Error(parameter) for an offset without --causal.
  problems::AttentionMask mask() const;
};

}  // namespace subquad::drivers
