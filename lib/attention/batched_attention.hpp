// Batched multi-head attention on (B, H, n, d) tensors with strides, as deep-learning frameworks hold them.
//
// Shapes in this file: q (B, H, n, d), k (B, H_kv, n_k, d), v (B, H_kv, n_k, d_v), output and upstream (B, H, n, d_v);
// H is a multiple of H_kv, and query head h looks at head h / (H / H_kv) of keys and values. Page:
// docs/kernels/batched_attention.md
#pragma once

#include <subquad/core/execution.hpp>
#include <subquad/problems/attention_mask.hpp>

#include <array>
#include <cstdint>
#include <optional>

namespace subquad::attention {

/// A view of a 4-dimensional tensor (batch, head, token, coordinate); element (b, h, i, c) is data[b s0 + h s1 + i s2 +
/// c s3], strides in elements. s3 must be 1 and no stride negative; inputs may repeat elements (stride 0), outputs may
/// not hold two elements in one place.
template <class T>
struct Tensor4View {
  T* data = nullptr;
  std::array<std::uint64_t, 4> shape{};
  std::array<std::int64_t, 4> stride{};

  /// The row-major tensor of this shape.
  static Tensor4View contiguous(T* data, std::uint64_t b, std::uint64_t h, std::uint64_t n, std::uint64_t d) {
    const auto rows = static_cast<std::int64_t>(d);
    const auto heads = rows * static_cast<std::int64_t>(n);
    return {data, {b, h, n, d}, {heads * static_cast<std::int64_t>(h), heads, rows, 1}};
  }
};

/// What all heads share.
struct BatchedOptions {
  std::optional<double> scale;  ///< finite; default 1/sqrt(d), as frameworks do (the rest of the library: AS23's 1/d)
  problems::AttentionMask mask;
};

/// Computes output[b, h] = softmax(scale q[b, h] k[b, h']^T) v[b, h'] for every batch b and head h.
///
/// Shapes    as above; n_k >= 1 unless there is no query. Nothing may overlap the output; inputs are read in place
/// Ranges    finite entries (not checked); output finite then, as in streaming_softmax
/// Threads   over batches, heads and blocks of queries; the result of a head is that of streaming_softmax with this
///           scale, bit by bit, whatever the threads and the other heads
/// Cost      B H times streaming_softmax; 16 MiB of packed keys and values for all heads in work together (of one
///           head, if that needs more); heads of queries with the same keys share their packing
/// Errors    Error(parameter) for shapes that do not fit, a stride that is not allowed, a scale that is not finite;
///           Error(interrupted)
void batched_attention(const Tensor4View<const float>& q, const Tensor4View<const float>& k,
                       const Tensor4View<const float>& v, const Tensor4View<float>& output,
                       const BatchedOptions& options = {}, const Execution& execution = {});
void batched_attention(const Tensor4View<const double>& q, const Tensor4View<const double>& k,
                       const Tensor4View<const double>& v, const Tensor4View<double>& output,
                       const BatchedOptions& options = {}, const Execution& execution = {});

/// Computes the gradients of phi at batched_attention, given upstream = dphi/doutput; implements SQ.BACKWARD.
///
/// Shapes    as above; grad_q, grad_k, grad_v like q, k, v. What they held is overwritten; the gradients of a head of
///           keys and values are summed over the heads of queries that look at it
/// Ranges    finite entries (not checked); never NaN then, as in streaming_softmax_backward
/// Threads   over batches, heads and tiles; the result does not depend on their number
/// Cost      B H times streaming_softmax_backward. Memory beyond the tensors: outputs of the heads in work (16 MiB of
///           them, or one group of heads), and 32 MiB of packed blocks (or those of one group)
/// Errors    as batched_attention
void batched_attention_backward(const Tensor4View<const float>& q, const Tensor4View<const float>& k,
                                const Tensor4View<const float>& v, const Tensor4View<const float>& upstream,
                                const Tensor4View<float>& grad_q, const Tensor4View<float>& grad_k,
                                const Tensor4View<float>& grad_v, const BatchedOptions& options = {},
                                const Execution& execution = {});
void batched_attention_backward(const Tensor4View<const double>& q, const Tensor4View<const double>& k,
                                const Tensor4View<const double>& v, const Tensor4View<const double>& upstream,
                                const Tensor4View<double>& grad_q, const Tensor4View<double>& grad_k,
                                const Tensor4View<double>& grad_v, const BatchedOptions& options = {},
                                const Execution& execution = {});

}  // namespace subquad::attention
