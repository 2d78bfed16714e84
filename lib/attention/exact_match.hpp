// Exact-match attention (EMA, L25 Definition 2.2): the mean value of the keys equal to the query.
#pragma once

#include <subquad/core/execution.hpp>
#include <subquad/problems/attention.hpp>

#include <cstdint>
#include <vector>

namespace subquad::attention {

struct ExactMatchResult {
  problems::MatrixD output;            ///< n x d_v; 0 where no key is equal
  std::vector<std::uint64_t> matches;  ///< n: equal keys
};

/// Keys are equal if all entries are (-0 = +0). Sums in ascending order of keys. O((n + n_k)(d + d_v)) expected time.
/// Errors: Error(parameter) for shapes, NaN or infinite entries (with place).
ExactMatchResult exact_match_attention(const Eigen::Ref<const problems::MatrixD>& q,
                                       const Eigen::Ref<const problems::MatrixD>& k,
                                       const Eigen::Ref<const problems::MatrixD>& v, const Execution& execution = {});

}  // namespace subquad::attention
