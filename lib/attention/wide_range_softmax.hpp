// Softmax attention in long double: for inputs whose logits or sums could leave the range of float or double.
#pragma once

#include <subquad/core/execution.hpp>
#include <subquad/problems/attention.hpp>
#include <subquad/problems/attention_mask.hpp>

#include <Eigen/Core>

namespace subquad::attention {

/// Computes softmax(scale * q k^T) v in two passes over the keys for each query, in scalar long double arithmetic.
///
/// Shapes    as in streaming_softmax_into, n_k >= 1; Scalar is float or double
/// Returns   also ln sum_j e^logit_ij of each query in log_sum_exp (n numbers), unless it is null; beyond the range of
///           double that is an infinity
/// Ranges    any finite doubles: products of three doubles stay far inside long double's range
/// Cost      O(n n_k (2 d + d_v)) scalar operations, some 30 times slower than the tiled kernel; O(d_v) memory a thread
/// Errors    Error(unsupported) where long double has no more range than double; Error(interrupted)
template <class Scalar>
void wide_range_softmax(const Eigen::Ref<const problems::RowMajorMatrix<Scalar>>& q,
                        const Eigen::Ref<const problems::RowMajorMatrix<Scalar>>& k,
                        const Eigen::Ref<const problems::RowMajorMatrix<Scalar>>& v, double scale,
                        const Execution& execution, Eigen::Ref<problems::RowMajorMatrix<Scalar>> output,
                        const problems::AttentionMask& mask = {}, double* log_sum_exp = nullptr);

}  // namespace subquad::attention
