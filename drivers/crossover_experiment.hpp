// Crossover: from which n on low-rank attention beats the exact kernel at the same eps_a, measured here and now.
#pragma once

#include <subquad/attention/low_rank_plan.hpp>
#include <subquad/core/execution.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace subquad::drivers {

struct CrossoverOptions {
  std::vector<std::uint64_t> dims{2, 4, 8, 16};
  double radius = 1.0;      ///< R: entries of Q and K are uniform in [-sqrt R, sqrt R], scale 1/d, V uniform in [-1, 1]
  double tolerance = 1e-3;  ///< eps_a, for both kernels
  attention::LowRankArithmetic arithmetic = attention::LowRankArithmetic::float64;
  int log2_n_low = 6;
  int log2_n_high = 15;
  int repetitions = 5;              ///< medians of so many interleaved runs
  std::uint64_t checked_rows = 64;  ///< rows of both outputs that are proved to be within eps_a
  std::uint64_t seed = 1;
};

/// One measurement.
struct CrossoverRow {
  std::uint64_t dim = 0;
  std::uint64_t n = 0;
  int degree = 0;
  Count rank;
  double error_bound = 0.0;  ///< proved for the low-rank output
  double exact_seconds = 0.0;
  double low_rank_seconds = 0.0;  ///< planning included
  bool certified = false;         ///< both outputs: the checked rows are proved to be within eps_a
};

/// Where the curves cross.
struct Crossover {
  std::uint64_t dim = 0;
  std::optional<std::uint64_t> n;  ///< the least measured n from which on low-rank is always faster; empty if none
};

/// Runs exact (float64, or float32 with the float32 low-rank kernel) and low-rank attention side by side. Progress;
/// interruptible.
/// Errors  Error(parameter) for bad options; Error(resource) if a dimension's plan is refused (the message has the
///         numbers)
std::vector<CrossoverRow> run_crossover(const CrossoverOptions& options, const Execution& execution);

std::vector<Crossover> crossovers(const CrossoverOptions& options, const std::vector<CrossoverRow>& rows);

/// The plot: log2 of seconds over log2 n.
std::string draw_crossover(const CrossoverOptions& options, const std::vector<CrossoverRow>& rows);

}  // namespace subquad::drivers
