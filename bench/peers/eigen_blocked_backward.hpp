// A peer for the backward kernel: the same recomputation by blocks around Eigen's matrix product.
//
// What a careful person writes with a good linear algebra library: tiles of queries and keys, weights from the saved
// log-sum-exps with Eigen's own vectorised exp, five products a tile, gradients of the keys summed in place. One
// thread.
#pragma once

#include <cstddef>

namespace subquad::bench {

/// Gradients of <upstream, softmax(scale q k^T) v> from the saved output and log-sum-exps (natural log, n numbers); all
/// row-major and contiguous, n_k >= 1. Scalar is float or double.
template <class Scalar>
void eigen_blocked_backward(const Scalar* q, const Scalar* k, const Scalar* v, const Scalar* upstream,
                            const Scalar* output, const double* log_sum_exp, std::ptrdiff_t n, std::ptrdiff_t n_k,
                            std::ptrdiff_t d, std::ptrdiff_t d_v, Scalar scale, Scalar* grad_q, Scalar* grad_k,
                            Scalar* grad_v);

}  // namespace subquad::bench
