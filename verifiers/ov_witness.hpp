// OV verifiers: a witness pair, and the claim that rows have (no) orthogonal partner, by exact integer scans.
#pragma once

#include <subquad/core/execution.hpp>
#include <subquad/core/verdict.hpp>
#include <subquad/problems/orthogonal_vectors.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace subquad::verifiers {

/// Certified iff i, j are in range and <a_i, b_j> = 0; refuted with a common coordinate otherwise. O(dim).
/// Errors: Error(parameter) if A and B differ in dimension.
Report verify_ov_witness(const problems::OrthogonalVectors::Instance& instance, std::uint64_t i, std::uint64_t j);

/// A row whose flag is proved wrong.
struct WrongRow {
  std::uint64_t row = 0;
  bool claimed = false;                  ///< what the flag said
  std::optional<std::uint64_t> partner;  ///< the first partner if the truth is yes
};

/// Checks for each chosen row i whether flag[i] = "a_i has an orthogonal partner". Returns the wrong rows, ascending,
/// at most `max_reported`. Without `rows` all are chosen; duplicates count once. O(rows num_b dim/64); a row is left at
/// its first partner, and threads share the rows.
///
/// Errors: Error(parameter) if there is not one flag a row of A, a chosen row is out of range, or dimensions differ;
/// Error(interrupted) on a stop request.
std::vector<WrongRow> verify_ov_rows(const problems::OrthogonalVectors::Instance& instance,
                                     const std::vector<bool>& flag,
                                     const std::optional<std::vector<std::uint64_t>>& rows = {},
                                     std::uint64_t max_reported = 16, const Execution& execution = {});

}  // namespace subquad::verifiers
