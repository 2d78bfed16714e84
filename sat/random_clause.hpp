// Random sets of distinct variables, shared by the random k-SAT generators. Private to the room.
#pragma once

#include <subquad/core/random.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace subquad::sat {

/// Throws Error(parameter) naming the generator unless 1 <= clause_width <= num_variables <= kMaxVariables.
void check_k_sat_parameters(std::string_view generator, std::uint64_t num_variables, std::uint64_t clause_width);

/// Returns `count` distinct variables out of num_variables, ascending, uniform among all such sets (Floyd's algorithm:
/// Bentley and Floyd, A sample of brilliance, CACM 1987). count <= num_variables.
std::vector<std::uint32_t> draw_variables(std::uint64_t num_variables, std::uint64_t count, Random& random);

}  // namespace subquad::sat
