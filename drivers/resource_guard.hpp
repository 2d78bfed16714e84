// Resource guard: says what a piece of work would need, before anything is allocated.
#pragma once

#include <subquad/core/count.hpp>
#include <subquad/core/problem.hpp>
#include <subquad/reductions/size_expression.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace subquad::drivers {

/// What a piece of work needs. Exact counts of a model (words, entries, multiply-adds), not measurements.
struct ResourceNeed {
  Count bytes = 0;
  Count operations = 0;
  std::string operation_name = "operations";  ///< "multiply-adds", "word operations"
};

/// The guard's limits.
struct ResourceLimits {
  Count bytes;                        ///< 80% of the memory that is free now; 0: unknown, not limited
  Count operations = Count(1) << 48;  ///< about a day on a fast processor core

  /// The limits of this machine at this moment.
  static ResourceLimits now();
};

/// Throws Error(resource), with the numbers and what --force means, if `need` is beyond the limits and not `force`.
void check_resources(const std::string& what, const ResourceNeed& need, bool force,
                     const ResourceLimits& limits = ResourceLimits::now());

/// Bytes that an instance of the problem takes in memory, from its size fields: 64-bit words of bit matrices, doubles
/// of attention matrices, 4 bytes a literal at full clause width. Throws Error(internal) for an unknown problem id.
Count instance_bytes(std::string_view problem, const Sizes& sizes);

/// Elementary operations of the reference solver: word operations for bit matrices (all pairs), multiply-adds for
/// attention, clause visits for CNF by brute force. Throws Error(internal) for an unknown problem id.
ResourceNeed reference_solver_need(std::string_view problem, const Sizes& sizes);

/// The sizes that the bounds allow for the given source. Throws Error(resource) for powers that nobody can build.
Sizes planned_sizes(const std::vector<reductions::SizeBound>& bounds, const Sizes& source);

/// "num_a 1024, num_b 1024, dim 91".
std::string describe(const Sizes& sizes);

}  // namespace subquad::drivers
