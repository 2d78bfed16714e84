// Exact-match attention (EMA, L25 Definition 2.2): each query averages the values of the keys that are equal to it.
#pragma once

#include <subquad/core/execution.hpp>
#include <subquad/problems/attention.hpp>

#include <cstdint>
#include <vector>

namespace subquad::attention {

/// The output, and the number of equal keys of each query.
struct ExactMatchResult {
  problems::MatrixD output;            ///< n x d_v; 0 where no key is equal
  std::vector<std::uint64_t> matches;  ///< n; 0 flags a row without neighbour
};

/// Keys are equal if all entries are equal as numbers (-0 = +0). This is ANNA with r = 0 (L25.EMA): both give the row 0
/// to a query without neighbour. One layer of it solves Match2 (L25.M2).
///
/// Shapes   q: n x d, k: n_k x d, v: n_k x d_v, finite; fewer than 2^32 - 1 keys
/// Order    each sum from 0, keys ascending, one division
/// Threads  over buckets and queries; the result does not depend on their number
/// Cost     O((n + n_k)(d + d_v)) expected time, O(n_k (d + d_v) + n d) memory
/// Errors   Error(parameter) for shapes, NaN or infinite entries with their place, values so large that n_k of them
///          could overflow a sum; Error(interrupted)
ExactMatchResult exact_match_attention(const Eigen::Ref<const problems::MatrixD>& q,
                                       const Eigen::Ref<const problems::MatrixD>& k,
                                       const Eigen::Ref<const problems::MatrixD>& v, const Execution& execution = {});

}  // namespace subquad::attention
