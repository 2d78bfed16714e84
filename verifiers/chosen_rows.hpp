// Chosen rows: which rows a verifier looks at, from what its caller asked for.
#pragma once

#include <subquad/core/error.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

namespace subquad::verifiers {

/// Returns the rows that were asked for, ascending and each once; without a choice all of 0 .. num_rows - 1.
/// Throws Error(parameter) for a row that does not exist. O(rows log rows).
inline std::vector<std::uint64_t> chosen_rows(const std::optional<std::vector<std::uint64_t>>& rows,
                                              std::uint64_t num_rows) {
  std::vector<std::uint64_t> chosen;
  if (!rows) {
    chosen.resize(num_rows);
    std::iota(chosen.begin(), chosen.end(), std::uint64_t{0});
    return chosen;
  }
  chosen = *rows;
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  require(chosen.empty() || chosen.back() < num_rows, ErrorKind::parameter, "row {} chosen, but there are {} rows",
          chosen.empty() ? 0 : chosen.back(), num_rows);
  return chosen;
}

}  // namespace subquad::verifiers
