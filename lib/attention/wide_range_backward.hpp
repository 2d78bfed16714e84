// Gradients of softmax attention in long double: for inputs whose products could leave the range of float or double.
#pragma once

#include "streaming_softmax_backward_task.hpp"

namespace subquad::attention {

/// Overwrites the task's three gradients, from q, k, v and upstream alone: the forward results are computed again.
///
/// Ranges    any finite doubles; a gradient beyond the range of Scalar becomes an infinity, never NaN
/// Cost      O(heads n n_k (d + d_v)) scalar operations, some 50 times slower than the tiled kernel; three numbers a
///           query
/// Errors    Error(unsupported) where long double has no more range than double; Error(interrupted)
template <class Scalar>
void wide_range_backward(const StreamingBackwardTask<Scalar>& task);

}  // namespace subquad::attention
