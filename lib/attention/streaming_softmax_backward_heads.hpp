// Gradients over heads: the seam between the exact backward kernel and callers with many heads in one tensor.
#pragma once

#include "streaming_softmax_backward_task.hpp"

#include <vector>

namespace subquad::attention {

/// Computes the gradients of all tasks, which have the same shapes, mask, scale and execution (packed_bytes is filled
/// in); what grad_q, grad_k and grad_v held before is overwritten. Tasks that could leave the range of the arithmetic
/// are computed in long double, one by one, from q, k, v and upstream alone. Shapes with n = 0, d = 0 or d_v = 0 are
/// fine. Throws Error(parameter) for a log-sum-exp that is not finite where the logits are in range.
void run_streaming_backward(const std::vector<StreamingBackwardTask<float>>& tasks);
void run_streaming_backward(const std::vector<StreamingBackwardTask<double>>& tasks);

}  // namespace subquad::attention
