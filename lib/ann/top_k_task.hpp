// What the dispatcher hands to the SIMD targets of exact top-k search: plain pointers, no Eigen.
#pragma once

#include <subquad/core/execution.hpp>
#include <subquad/problems/attention_mask.hpp>

#include <cstddef>
#include <cstdint>

namespace subquad::ann {

/// A read-only row-major matrix; element (i, j) is data[i * row_stride + j].
template <class S>
struct PointView {
  const S* data;
  std::size_t rows;
  std::size_t cols;
  std::size_t row_stride;

  const S* row(std::size_t i) const { return data + i * row_stride; }
};

/// One search. Invariants: 1 <= count <= keys < 2^32 - 1, finite entries, no intermediate result overflows.
template <class S>
struct TopKTask {
  PointView<S> q;
  PointView<S> k;
  std::size_t count;
  bool euclidean;  ///< rank by 2<q, k> - |k|^2 instead of <q, k>
  problems::AttentionMask mask;
  std::uint32_t* index;  ///< n x count, contiguous; filled with kNoKey
  double* score;         ///< n x count, contiguous; filled with -inf
  std::size_t packed_bytes;
  const Execution* execution;
};

/// Queries of a task of a thread; fewer if the candidates would not fit.
inline constexpr std::size_t kTopKQueryBlock = 64;
/// Keys whose scores are computed before they are looked at.
inline constexpr std::size_t kTopKKeyTile = 192;
/// Coordinates of a key panel that are used before the next panel: kept in the first-level cache.
inline constexpr std::size_t kTopKDepthBlock = 256;

}  // namespace subquad::ann
