// Source instances of the battery: per problem, every small instance, the degenerate ones, and random larger ones.
#pragma once

#include <subquad/reductions/registry.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace subquad::battery {

/// Every instance up to a small size, degenerate ones included:
///   cnf      all multisets of at most 3 clauses over at most 2 variables (also empty clauses, tautologies, duplicates)
///   ov       all pairs of at most 2 + 2 vectors of at most 2 coordinates
///   gap-ann  all of at most 2 + 2 points of at most 2 coordinates (1 query at 2), with all thresholds
///            -1 <= r_yes < r_no <= dim + 1
///   ann      all of at most 2 queries and 1..3 keys of at most 2 coordinates (1 query at 2), eps in {0, 1/3, 1, 5/2}
/// Empty for a problem that the battery does not know.
std::vector<reductions::AnyInstance> exhaustive_instances(std::string_view problem);

/// Hand-picked forms beyond the exhaustive size: no clause, unused variables, all ones, all zeros, duplicates, and
/// dimensions around a word boundary.
std::vector<reductions::AnyInstance> degenerate_instances(std::string_view problem);

/// `count` random instances; sizes as large as brute force allows.
std::vector<reductions::AnyInstance> random_instances(std::string_view problem, std::uint64_t seed,
                                                      std::uint64_t count);

}  // namespace subquad::battery
