// Batched multi-head attention on (B, H, n, d) tensors with strides, as deep-learning frameworks hold them.
#pragma once

#include <subquad/core/execution.hpp>
#include <subquad/problems/attention_mask.hpp>

#include <array>
#include <cstdint>
#include <optional>

namespace subquad::attention {

/// A view of a 4-dimensional tensor (batch, head, token, coordinate); element (b, h, i, c) is data[b s0 + h s1 + i s2 +
/// c s3], strides in elements. The last stride must be 1.
template <class T>
struct Tensor4View {
  T* data = nullptr;
  std::array<std::uint64_t, 4> shape{};
  std::array<std::int64_t, 4> stride{};
  static Tensor4View contiguous(T* data, std::uint64_t b, std::uint64_t h, std::uint64_t n, std::uint64_t d);
};

struct BatchedOptions {
  std::optional<double> scale;  ///< default 1/sqrt(d), as frameworks do (the rest of the library: AS23's 1/d)
  problems::AttentionMask mask;
};

/// out[b, h] = softmax(scale q[b, h] k[b, h']^T) v[b, h'], where h' = h / (H / H_kv): K and V may have fewer heads
/// (grouped queries). Threads over heads and blocks of queries.
void batched_attention(const Tensor4View<const float>& q, const Tensor4View<const float>& k,
                       const Tensor4View<const float>& v, const Tensor4View<float>& output,
                       const BatchedOptions& options = {}, const Execution& execution = {});
void batched_attention(const Tensor4View<const double>& q, const Tensor4View<const double>& k,
                       const Tensor4View<const double>& v, const Tensor4View<double>& output,
                       const BatchedOptions& options = {}, const Execution& execution = {});

/// The gradients, written to grad_q, grad_k, grad_v (grouped heads add up).
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
