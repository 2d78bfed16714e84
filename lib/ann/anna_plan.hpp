// ANNA plans: code length z and number of tables l for which Algorithm 1 of L25 fails with probability at most eta.
//
//   eta <= A (1 - (1 - p2^z)^l) + B (1 - p1^z)^l,   A far pairs (distance > c r), B near pairs (distance <= r),
//   p1 = p(r), p2 = p(c r): an exact union bound (L25.PLAN, docs/proofs/anna_plan.md) instead of the paper's asymptotic
//   choice.
#pragma once

#include <subquad/ann/hash_family.hpp>
#include <subquad/core/count.hpp>

#include <cstdint>
#include <optional>

namespace subquad::ann {

/// What the tables have to promise, simultaneously for all queries (L25 Definition 3.1).
struct AnnaRequest {
  std::uint64_t num_queries = 0;
  std::uint64_t num_keys = 0;
  std::uint64_t dim = 0;
  std::uint64_t value_dim = 1;
  double radius = 0.0;              ///< r > 0 (for r = 0, equality, there is attention/exact_match)
  double ratio = 0.0;               ///< c > 1
  double failure = 0.0;             ///< eta in (0, 1)
  std::optional<Count> far_pairs;   ///< A; num_queries * num_keys if not known
  std::optional<Count> near_pairs;  ///< B; likewise
  std::uint64_t max_tables = std::uint64_t{1} << 20;
};

/// A choice of (z, l), its failure probability and its cost. Costs are counts of a model, not measurements.
struct AnnaPlan {
  AnnaRequest request;
  HashFamily family;
  std::uint64_t code_length = 0;  ///< z
  std::uint64_t tables = 0;       ///< l
  double near_probability = 0.0;  ///< p1
  double far_probability = 0.0;   ///< p2
  double rho = 0.0;               ///< ln p1/ln p2; 0 if p1 = 1 or p2 = 0
  double failure_bound = 0.0;     ///< the bound above, rounded upward; <= request.failure. For cross-polytopes and caps
                                  ///< as good as the integrals behind p1 and p2, which are estimates
  Count bytes_tables;             ///< all l tables at once: for each, n_k codes and n_k (d_v + 1) numbers at most
  Count bytes_linear;      ///< one table at a time, buckets for queries only; a block of codes a thread comes on top
  Count operations;        ///< multiply-adds of hashing and of adding values
  Count exact_operations;  ///< n n_k (d + d_v): the exact kernel
  bool gain = false;       ///< operations < exact_operations
  std::uint64_t paper_code_length =
      0;                             ///< least z with p2^z <= N^-3, N = max(n, n_k) (L25 Theorem 3.4); 0 if p2 = 0 or 1
  Count paper_tables;                ///< ceil(N^(3 rho) ln N)
  double paper_failure_bound = 0.0;  ///< the exact bound at the paper's choice; 1 if it says nothing
};

/// Upper bound of the failure probability of (z, l), the union bound above; at most 1. p1, p2 in [0, 1], p2 <= p1.
double anna_failure_bound(double near_probability, double far_probability, std::uint64_t code_length,
                          std::uint64_t tables, const Count& far_pairs, const Count& near_pairs);

/// The (z, l) of least cost: for every code length z that could help (beyond 1024: in steps of z/1024) the least l
/// that keeps eta.
///
/// Errors  Error(parameter) for r <= 0, c <= 1, eta outside (0, 1), NaN, no queries or keys, distances that the metric
///         does not have; Error(resource) if no (z, l) with l <= max_tables keeps eta: the message has p1, p2 and rho
AnnaPlan plan_anna(const AnnaRequest& request, const HashFamily& family);

/// The same for a given (z, l): its failure bound and costs, whatever they are. request.failure and max_tables are not
/// looked at; other errors as plan_anna, and Error(parameter) for z = 0 or l = 0.
AnnaPlan judge_anna(const AnnaRequest& request, const HashFamily& family, std::uint64_t code_length,
                    std::uint64_t tables);

/// E2LSH with the width whose plan costs least, W/r searched from 0.5 to 1000.
AnnaPlan plan_anna_e2lsh(const AnnaRequest& request);

/// The sharper bound of one instance, from its distances: sum over far pairs of 1 - (1 - p(d)^z)^l plus sum over near
/// pairs of (1 - p(d)^z)^l; at most 1. O(n n_k d). Distances in doubles: pairs within 1e-12 of a limit count as both.
double anna_instance_failure_bound(const HashFamily& family, std::uint64_t code_length, std::uint64_t tables,
                                   const Eigen::Ref<const problems::MatrixD>& q,
                                   const Eigen::Ref<const problems::MatrixD>& k, double radius, double ratio);

}  // namespace subquad::ann
