// Exact attention by streaming softmax: O(n d) memory, never an n x n matrix.
//
// One pass over the keys in tiles keeps, per query, the running maximum logit, the running sum of weights and the running
// weighted sum of values, rescaled when the maximum grows (Milakov & Gimelshein 2018; Rabe & Staats 2021; Dao et al. 2022).
#pragma once

#include <Eigen/Core>

#include <subquad/core/execution.hpp>
#include <subquad/problems/attention.hpp>

namespace subquad::attention {

/// Computes softmax(scale * q k^T) v by rows.
///
/// Shapes    q: n x d, k: n_k x d, v: n_k x d_v, returns n x d_v; row-major; n_k >= 1 unless n = 0
/// Ranges    finite entries (not checked here: see problems::validate); any finite logits, also beyond +-10^4
/// Accuracy  float32/float64 arithmetic, exp within a few ulp (estimate; verifiers/attention_output certifies outputs)
/// Threads   over blocks of queries; the result does not depend on their number
/// Cost      O(n n_k (d + d_v)) time, inputs + outputs + O(threads * tile) memory
/// Errors    throws Error(parameter) for mismatched shapes or n_k = 0 with n > 0; Error(interrupted) on request
problems::MatrixF streaming_softmax(const Eigen::Ref<const problems::MatrixF>& q,
                                    const Eigen::Ref<const problems::MatrixF>& k,
                                    const Eigen::Ref<const problems::MatrixF>& v, float scale, const Execution& execution);
problems::MatrixD streaming_softmax(const Eigen::Ref<const problems::MatrixD>& q,
                                    const Eigen::Ref<const problems::MatrixD>& k,
                                    const Eigen::Ref<const problems::MatrixD>& v, double scale, const Execution& execution);

}  // namespace subquad::attention
