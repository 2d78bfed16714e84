// Goodness of fit: do counts follow a stated distribution? G-test, cells merged until the expected counts allow it.
#pragma once

#include <cstdint>
#include <span>

namespace subquad {

/// The outcome of a test.
struct GoodnessOfFit {
  double statistic = 0.0;   ///< G = 2 sum O ln(O/E)
  std::uint64_t cells = 0;  ///< after merging
  double p_value = 1.0;     ///< chi-square tail with cells - 1 degrees of freedom; asymptotic in the counts
  bool impossible = false;  ///< a cell of probability 0 was hit: refuted whatever the statistic
  bool refuted() const;     ///< impossible, or p_value < kFalseAlarm
};

/// Tests counts against probabilities. Cells are merged in ascending order of expectation until each merged cell
/// expects at least `least_expected`, and at least a quarter of the root of the number of cells: with very many cells
/// that expect 5 each, G is too large for fair samples by more than the deviations that 1e-9 allows. Sizes equal,
/// probabilities >= 0 with sum 1 within 1e-9, at least one count, else Error(parameter).
GoodnessOfFit g_test(std::span<const std::uint64_t> counts, std::span<const double> probabilities,
                     double least_expected = 5.0);

}  // namespace subquad
