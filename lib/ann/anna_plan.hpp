// ANNA plans: code length z and number of tables l for which Algorithm 1 of L25 fails with probability at most eta.
//
// L25 = Liu, Yu, Sanford, Andoni & Hsu, NeurIPS 2025. Exact union bound instead of the paper's asymptotic choice:
//   eta <= A l p2^z + B (1 - p1^z)^l,   A far pairs (distance > c r), B near pairs (distance <= r), p1 = p(r), p2 = p(c
//   r).
#pragma once

#include <subquad/ann/hash_family.hpp>
#include <subquad/core/count.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace subquad::ann {

/// What the tables have to promise.
struct AnnaRequest {
  std::uint64_t num_queries = 0, num_keys = 0, dim = 0, value_dim = 1;
  double radius = 0.0;              ///< r > 0 (exact match has its own kernel)
  double ratio = 0.0;               ///< c > 1
  double failure = 0.0;             ///< eta in (0, 1)
  std::optional<Count> far_pairs;   ///< A; num_queries * num_keys if not known
  std::optional<Count> near_pairs;  ///< B; likewise
  std::uint64_t max_tables = 1u << 20;
};

struct AnnaPlan {
  AnnaRequest request;
  HashFamily family;
  std::uint64_t code_length = 0;        ///< z
  std::uint64_t tables = 0;             ///< l
  double near_probability = 0.0;        ///< p1
  double far_probability = 0.0;         ///< p2
  double rho = 0.0;                     ///< ln p1 / ln p2
  double failure_bound = 0.0;           ///< the bound above, rounded upward; <= request.failure
  Count bytes_tables;                   ///< all tables at once: l (n_k (m + 1) numbers + codes)
  Count bytes_linear;                   ///< one table at a time
  Count operations;                     ///< multiply-adds: hashing, and adding values
  Count exact_operations;               ///< n n_k (d + d_v): what the exact kernel takes
  bool gain = false;                    ///< operations < exact_operations
  std::uint64_t paper_code_length = 0;  ///< L25 Theorem 3.4: p2^z <= N^-3
  Count paper_tables;                   ///< ceil(N^{3 rho} ln N)
  double paper_failure_bound = 0.0;     ///< the exact bound at the paper's choice; may be above 1
};

/// The least cost over l for one family: eta/2 for each term to start from, then every smaller z tried (L25 Theorem 3.4
/// with explicit constants). Errors: Error(parameter) for r <= 0, c <= 1, eta outside (0, 1), no queries or keys, NaN,
/// a radius that the metric does not have; Error(resource) if p1 or p2 leave no (z, l) with l <= max_tables: the
/// message has rho and the l needed.
AnnaPlan plan_anna(const AnnaRequest& request, const HashFamily& family);

/// E2LSH with the width that needs the least operations, searched over W/r.
AnnaPlan plan_anna_e2lsh(const AnnaRequest& request);

/// The instance bound: sum over far pairs of 1 - (1 - p(d)^z)^l plus sum over near pairs of (1 - p(d)^z)^l, from the
/// true distances; O(n n_k d). At most the plan's bound with the true A and B.
double anna_instance_failure_bound(const HashFamily& family, std::uint64_t code_length, std::uint64_t tables,
                                   const Eigen::Ref<const problems::MatrixD>& q,
                                   const Eigen::Ref<const problems::MatrixD>& k, double radius, double ratio);

}  // namespace subquad::ann
