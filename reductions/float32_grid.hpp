// The grid of numbers with at most 12 significant bits: products of two of them are float32 numbers.
#pragma once

namespace subquad::reductions {

/// Significant bits of the entries that a reduction chooses.
inline constexpr int kUnitBits = 12;

/// The least number of kUnitBits significant bits that is at least x, at most x (1 + 2^-11). x > 0, finite.
double round_up_to_unit_grid(double x);

/// The next larger number of the grid: between x (1 + 2^-12) and x (1 + 2^-11). x > 0 on the grid.
double next_on_unit_grid(double x);

}  // namespace subquad::reductions
