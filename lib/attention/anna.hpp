// ANNA attention (L25 Definition 3.1, Algorithm 1): each query averages the values of keys that share its hash buckets.
#pragma once

#include <subquad/ann/anna_plan.hpp>
#include <subquad/core/execution.hpp>

#include <cstdint>
#include <vector>

namespace subquad::attention {

/// How the tables are held.
enum class AnnaMemory {
  tables,  ///< all l tables at once, queries answered afterwards (Algorithm 1)
  /// one table at a time, buckets for the queries' codes only: memory independent of l, equal results bit by bit
  linear
};

struct AnnaParameters {
  ann::HashFamily family;
  std::uint64_t code_length = 1;  ///< z
  std::uint64_t tables = 1;       ///< l
  std::uint64_t seed = 1;         ///< table u: Random(seed).split("table").split(u)
};

struct AnnaResult {
  problems::MatrixD output;               ///< n x d_v; rows without collision are 0, never NaN
  std::vector<std::uint64_t> collisions;  ///< n: sum over keys of C_ij; 0 means no neighbour was met
  std::uint64_t peak_bytes = 0;           ///< what the tables and sums took at most, counted, beyond input and output
};

/// out_i = sum_j C_ij v_j / sum_j C_ij, C_ij the number of tables in which key j and query i have equal codes.
///
/// Order of sums: tables ascending, within a bucket keys ascending; so both memories agree to the last bit.
/// Errors  Error(parameter): shapes, points outside the family's domain, z = 0, l = 0; Error(interrupted)
AnnaResult anna_attention(const AnnaParameters& parameters, const Eigen::Ref<const problems::MatrixD>& q,
                          const Eigen::Ref<const problems::MatrixD>& k, const Eigen::Ref<const problems::MatrixD>& v,
                          AnnaMemory memory, const Execution& execution = {});

}  // namespace subquad::attention
