// Softmax attention in long double: for inputs whose logits or sums could leave the range of float or double.
#pragma once

#include "streaming_softmax_task.hpp"

namespace subquad::attention {

/// Computes the task (of which log2_scale and packed_bytes are not used) in two passes over the keys for each query, in
/// scalar long double arithmetic.
///
/// Ranges    any finite doubles: products of three doubles stay far inside long double's range; n_k >= 1. A log-sum-exp
///           beyond the range of double becomes an infinity
/// Cost      O(heads n n_k (2 d + d_v)) scalar operations, some 30 times slower than the tiled kernel; O(d_v) memory a
///           thread
/// Errors    Error(unsupported) where long double has no more range than double; Error(interrupted)
template <class Scalar>
void wide_range_softmax(const StreamingSoftmaxTask<Scalar>& task, double scale);

}  // namespace subquad::attention
