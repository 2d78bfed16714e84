// A peer for the attention kernels: blocked online softmax around Eigen's matrix product.
//
// What a careful person writes with a good linear algebra library: the same algorithm (tiles of queries and keys,
// running maximum, rescaling, no n x n matrix), Eigen's own vectorised exp, threads over blocks of queries with buffers
// that are allocated once a thread, every instruction of the machine.
#pragma once

#include <cstddef>

namespace subquad::bench {

/// output (n x d_v) = softmax(scale q k^T) v; all row-major and contiguous, n_k >= 1. Scalar is float or double.
template <class Scalar>
void eigen_blocked_attention(const Scalar* q, const Scalar* k, const Scalar* v, std::ptrdiff_t n, std::ptrdiff_t n_k,
                             std::ptrdiff_t d, std::ptrdiff_t d_v, Scalar scale, int threads, Scalar* output);

}  // namespace subquad::bench
