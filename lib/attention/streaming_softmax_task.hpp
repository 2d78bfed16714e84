// What the dispatcher hands to the SIMD targets of streaming_softmax: plain pointers, no Eigen.
#pragma once

#include <subquad/core/execution.hpp>
#include <subquad/problems/attention_mask.hpp>

#include <cstddef>

namespace subquad::attention {

/// A read-only row-major matrix; element (i, j) is data[i * row_stride + j].
template <class S>
struct MatrixView {
  const S* data;
  std::size_t rows;
  std::size_t cols;
  std::size_t row_stride;

  const S* row(std::size_t i) const { return data + i * row_stride; }
};

/// Inputs and output in the storage type S: one head of keys and values, and the heads of queries that look at it (one,
/// or a group). The targets compute in their own arithmetic type and convert while packing and storing, so that no
/// converted copy of a whole matrix exists. Invariants: n, n_k, d_v >= 1, and neither logits nor sums leave the
/// arithmetic's range (the dispatcher sees to both).
template <class S>
struct StreamingSoftmaxTask {
  MatrixView<S> q;            ///< n x d, the first head
  MatrixView<S> k;            ///< n_k x d
  MatrixView<S> v;            ///< n_k x d_v
  S* output;                  ///< n x d_v, the first head
  std::size_t output_stride;  ///< numbers from one row of the output to the next
  double log2_scale;          ///< scale * log2(e): logits are held in base 2
  std::size_t packed_bytes;   ///< budget of the packed keys and values
  const Execution* execution;
  problems::AttentionMask mask{};
  double* log_sum_exp = nullptr;       ///< query_heads x n, natural log; null: not wanted
  std::size_t query_heads = 1;         ///< all with the same n, the same keys and values, the same mask
  std::size_t q_head_stride = 0;       ///< numbers from one head of the queries to the next
  std::size_t output_head_stride = 0;  ///< the same of the output

  const S* q_row(std::size_t head, std::size_t i) const { return q.row(i) + head * q_head_stride; }
  S* output_row(std::size_t head, std::size_t i) const {
    return output + head * output_head_stride + i * output_stride;
  }
  /// The number of keys that query i sees.
  std::size_t visible(std::size_t i) const { return static_cast<std::size_t>(mask.visible(i, k.rows)); }
};

/// Shape of the tiles, the same for every target.
inline constexpr std::size_t kQueryBlock = 64;   ///< queries a task of a thread
inline constexpr std::size_t kKeyTile = 192;     ///< keys between two updates of the running maximum
inline constexpr std::size_t kDepthBlock = 256;  ///< coordinates of a key panel kept in the first-level cache

}  // namespace subquad::attention
