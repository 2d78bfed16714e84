// ANNA attention (L25 Definition 3.1, Algorithm 1): each query averages the values of the keys that share its hash
// buckets.
#pragma once

#include <subquad/ann/hash_family.hpp>
#include <subquad/core/execution.hpp>
#include <subquad/problems/attention.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace subquad::attention {

/// How the tables are held.
enum class AnnaMemory {
  tables,  ///< all l tables at once, queries answered afterwards (Algorithm 1)
  linear   ///< one table at a time with buckets for the queries' codes only: memory independent of l (Algorithm 2)
};

/// The tables to draw: z, l and the seed. ann::plan_anna chooses z and l.
struct AnnaParameters {
  ann::HashFamily family;
  std::uint64_t code_length = 1;  ///< z >= 1
  std::uint64_t tables = 1;       ///< l >= 1
  std::uint64_t seed = 1;         ///< table u is drawn from Random(seed).split("table").split(u)
};

/// The output, and for each row how often keys were met.
struct AnnaResult {
  problems::MatrixD output;               ///< n x d_v; rows that met no key are 0, never NaN
  std::vector<std::uint64_t> collisions;  ///< n: sum over keys of C_ij; 0 flags a row without neighbour
  /// Counted, not measured: the most that codes, tables and sums took at a time, beyond inputs, result and the drawn
  /// functions of one table. For AnnaMemory::linear it does not depend on l.
  std::uint64_t peak_bytes = 0;
};

/// out_i = sum_j C_ij v_j/sum_j C_ij, where C_ij is the number of tables in which key j and query i have equal codes
/// (L25.DEF, L25.T3). A key that is met in three tables counts three times.
///
/// Shapes    q: n x d, k: n_k x d, v: n_k x d_v, d = family.dim; finite; in the family's domain
/// Order     S_iu, the sum of the values in query i's bucket of table u: from 0, keys ascending. Then S_i1 + .. + S_il
///           from 0, tables ascending, and one division. So both memories and any number of threads give the same bits
/// Accuracy  each entry within gamma_(l + n_k) of sum_j C_ij |v_j|/sum_j C_ij, gamma_t = t u/(1 - t u), u = 2^-53, and
///           2^-1075 (proved; verifiers::verify_anna_output checks it for an output)
/// Threads   over points (hashing), buckets and queries
/// Cost      O(l (n + n_k)(z h + d_v)) expected time, h the time of one function on one point. Memory: tables
///           O(l n_k (z + d_v)); linear O(n (z + d_v) + n_k), and 1024 z codes a thread each
/// Errors    Error(parameter): shapes, points outside the domain (with their place), z = 0, l = 0, values so large that
///           l n_k of them could overflow a sum; Error(interrupted)
AnnaResult anna_attention(const AnnaParameters& parameters, const Eigen::Ref<const problems::MatrixD>& q,
                          const Eigen::Ref<const problems::MatrixD>& k, const Eigen::Ref<const problems::MatrixD>& v,
                          AnnaMemory memory, const Execution& execution = {});

/// The counts of one query: (key, C_ij > 0), keys ascending.
using AnnaCounts = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// Returns the counts C_ij behind the output, one list a query, for verifiers/anna.
///
/// Cost    O(l (n + n_k) z h) time for the codes and O(l) times the length of each list; one table at a time, and the
///         memory of the pairs with C_ij > 0
/// Errors  as anna_attention
std::vector<AnnaCounts> anna_counts(const AnnaParameters& parameters, const Eigen::Ref<const problems::MatrixD>& q,
                                    const Eigen::Ref<const problems::MatrixD>& k, const Execution& execution = {});

}  // namespace subquad::attention
