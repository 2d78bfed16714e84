// What the dispatcher hands to the SIMD targets of streaming_softmax_backward: plain pointers, no Eigen.
#pragma once

#include "streaming_softmax_task.hpp"

#include <subquad/core/execution.hpp>
#include <subquad/problems/attention_mask.hpp>

#include <cstddef>

namespace subquad::attention {

/// A matrix that is written; element (i, j) is data[i * row_stride + j].
template <class T>
struct MatrixTarget {
  T* data;
  std::size_t row_stride;
};

/// One head of keys and values, and the heads of queries that look at it. The gradients of k and v are sums over these
/// heads. Invariants: n, n_k, d_v >= 1, and no intermediate result leaves the arithmetic's range.
template <class T>
struct StreamingBackwardTask {
  MatrixView<T> q;            ///< n x d, the first head
  MatrixView<T> k;            ///< n_k x d
  MatrixView<T> v;            ///< n_k x d_v
  MatrixView<T> upstream;     ///< n x d_v, the first head: G
  MatrixView<T> output;       ///< n x d_v, the first head: O
  const double* log_sum_exp;  ///< query_heads x n, natural log
  MatrixTarget<T> grad_q;     ///< n x d, the first head
  MatrixTarget<T> grad_k;     ///< n_k x d
  MatrixTarget<T> grad_v;     ///< n_k x d_v
  double scale;
  const Execution* execution;
  problems::AttentionMask mask{};
  std::size_t packed_bytes = 0;  ///< budget of the packed queries, and the same again of the packed keys
  std::size_t query_heads = 1;
  std::size_t q_head_stride = 0;  ///< numbers from one head to the next, also of grad_q, upstream and output
  std::size_t upstream_head_stride = 0;
  std::size_t output_head_stride = 0;
  std::size_t grad_q_head_stride = 0;

  const T* q_row(std::size_t head, std::size_t i) const { return q.row(i) + head * q_head_stride; }
  const T* upstream_row(std::size_t head, std::size_t i) const { return upstream.row(i) + head * upstream_head_stride; }
  const T* output_row(std::size_t head, std::size_t i) const { return output.row(i) + head * output_head_stride; }
  T* grad_q_row(std::size_t head, std::size_t i) const {
    return grad_q.data + head * grad_q_head_stride + i * grad_q.row_stride;
  }
  /// The number of keys that query i sees.
  std::size_t visible(std::size_t i) const { return static_cast<std::size_t>(mask.visible(i, k.rows)); }
};

/// Queries of one tile of the backward kernel; its keys are kKeyTile.
inline constexpr std::size_t kBackwardQueries = 128;

}  // namespace subquad::attention
