// What the dispatcher hands to the SIMD targets of streaming_softmax: plain pointers, no Eigen.
#pragma once

#include <subquad/core/execution.hpp>

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

/// Inputs and output in the storage type S. The targets compute in their own arithmetic type and convert while packing
/// and storing, so that no converted copy of a whole matrix exists. Invariants: n, n_k, d_v >= 1, and neither logits
/// nor sums leave the arithmetic's range (the dispatcher sees to both).
template <class S>
struct StreamingSoftmaxTask {
  MatrixView<S> q;            ///< n x d
  MatrixView<S> k;            ///< n_k x d
  MatrixView<S> v;            ///< n_k x d_v
  S* output;                  ///< n x d_v
  std::size_t output_stride;  ///< numbers from one row of the output to the next
  double log2_scale;          ///< scale * log2(e): logits are held in base 2
  std::size_t packed_bytes;   ///< budget of the packed keys and values
  const Execution* execution;
};

/// Shape of the tiles, the same for every target.
inline constexpr std::size_t kQueryBlock = 64;   ///< queries a task of a thread
inline constexpr std::size_t kKeyTile = 192;     ///< keys between two updates of the running maximum
inline constexpr std::size_t kDepthBlock = 256;  ///< coordinates of a key panel kept in the first-level cache

}  // namespace subquad::attention
