// OV verifiers: a witness pair, and the claim that rows have (no) orthogonal partner, by exact integer scans.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <subquad/core/execution.hpp>
#include <subquad/core/verdict.hpp>
#include <subquad/problems/orthogonal_vectors.hpp>

namespace subquad::verifiers {

/// Certified iff i, j are in range and <a_i, b_j> = 0; refuted with a common coordinate otherwise. O(dim).
Report verify_ov_witness(const problems::OrthogonalVectors::Instance& instance, std::uint64_t i, std::uint64_t j);

/// A row whose flag is proved wrong.
struct WrongRow {
  std::uint64_t row = 0;
  bool claimed = false;                  ///< what the flag said
  std::optional<std::uint64_t> partner;  ///< a partner (distance witness) if the truth is yes
};

/// Checks for each chosen row i whether flag[i] = "a_i has an orthogonal partner". Returns the wrong rows, ascending,
/// at most `max_reported`. rows empty optional: all. O(rows num_b dim/64) with early exit, threads.
std::vector<WrongRow> verify_ov_rows(const problems::OrthogonalVectors::Instance& instance, const std::vector<bool>& flag,
                                     const std::optional<std::vector<std::uint64_t>>& rows = {},
                                     std::uint64_t max_reported = 16, const Execution& execution = {});

}  // namespace subquad::verifiers
