// Low-rank attention, the part that is compiled once per instruction set: monomials of a tile, and the two products.
//
// Nothing here relies on a fused multiply-add or on its absence: the bound of the rounding allows both.
//
// Included once per target: the guard below toggles on purpose.
#if defined(SUBQUAD_ATTENTION_LOW_RANK_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef SUBQUAD_ATTENTION_LOW_RANK_INL_HPP_
#undef SUBQUAD_ATTENTION_LOW_RANK_INL_HPP_
#else
#define SUBQUAD_ATTENTION_LOW_RANK_INL_HPP_
#endif

#include "low_rank_task.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace subquad::attention {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

const char* low_rank_target_name() {
  return hwy::TargetName(HWY_TARGET);
}

/// monomials[0] = 1, monomials[i] = monomials[parent[i]] * variables[variable[i]].
template <class T>
HWY_INLINE void fill_monomials(const LowRankTile<T>& tile) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t tokens = tile.tokens;
  for (std::size_t w = 0; w < tokens; w += lanes) hn::Store(hn::Set(d, T{1}), d, tile.monomials + w);
  for (std::size_t i = 1; i < tile.features; ++i) {
    const T* HWY_RESTRICT from = tile.monomials + std::size_t{tile.parent[i]} * tokens;
    const T* HWY_RESTRICT factor = tile.variables + std::size_t{tile.variable[i]} * tokens;
    T* HWY_RESTRICT to = tile.monomials + i * tokens;
    for (std::size_t w = 0; w < tokens; w += 2 * lanes) {
      hn::Store(hn::Mul(hn::Load(d, from + w), hn::Load(d, factor + w)), d, to + w);
      hn::Store(hn::Mul(hn::Load(d, from + w + lanes), hn::Load(d, factor + w + lanes)), d, to + w + lanes);
    }
  }
}

/// Dot products of one monomial's row with kColumns rows of values.
template <int kColumns, class T>
HWY_INLINE void dot_columns(const T* HWY_RESTRICT monomial, const T* HWY_RESTRICT values, std::size_t tokens,
                            double* HWY_RESTRICT sums) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  auto a0 = hn::Zero(d), a1 = a0, a2 = a0, a3 = a0;
  auto b0 = a0, b1 = a0, b2 = a0, b3 = a0;
  for (std::size_t w = 0; w < tokens; w += 2 * lanes) {
    const auto m0 = hn::Load(d, monomial + w);
    const auto m1 = hn::Load(d, monomial + w + lanes);
    a0 = hn::MulAdd(m0, hn::Load(d, values + w), a0);
    b0 = hn::MulAdd(m1, hn::Load(d, values + w + lanes), b0);
    if constexpr (kColumns > 1) {
      a1 = hn::MulAdd(m0, hn::Load(d, values + tokens + w), a1);
      b1 = hn::MulAdd(m1, hn::Load(d, values + tokens + w + lanes), b1);
    }
    if constexpr (kColumns > 2) {
      a2 = hn::MulAdd(m0, hn::Load(d, values + 2 * tokens + w), a2);
      b2 = hn::MulAdd(m1, hn::Load(d, values + 2 * tokens + w + lanes), b2);
    }
    if constexpr (kColumns > 3) {
      a3 = hn::MulAdd(m0, hn::Load(d, values + 3 * tokens + w), a3);
      b3 = hn::MulAdd(m1, hn::Load(d, values + 3 * tokens + w + lanes), b3);
    }
  }
  sums[0] += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(a0, b0))));
  if constexpr (kColumns > 1) sums[1] += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(a1, b1))));
  if constexpr (kColumns > 2) sums[2] += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(a2, b2))));
  if constexpr (kColumns > 3) sums[3] += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(a3, b3))));
}

template <class T>
HWY_INLINE void add_keys(const LowRankKeyTile<T>& task) {
  fill_monomials(task.tile);
  const std::size_t tokens = task.tile.tokens;
  const std::size_t columns = task.tile.columns;
  for (std::size_t i = 0; i < task.tile.features; ++i) {
    const T* monomial = task.tile.monomials + i * tokens;
    double* sums = task.sums + i * columns;
    std::size_t c = 0;
    for (; c + 4 <= columns; c += 4) dot_columns<4>(monomial, task.values + c * tokens, tokens, sums + c);
    if (columns - c == 3) dot_columns<3>(monomial, task.values + c * tokens, tokens, sums + c);
    if (columns - c == 2) dot_columns<2>(monomial, task.values + c * tokens, tokens, sums + c);
    if (columns - c == 1) dot_columns<1>(monomial, task.values + c * tokens, tokens, sums + c);
  }
}

/// out[c][w] = sum over features [begin, end) of monomial[w] weighted[c], for kColumns columns and two vectors of
/// tokens.
template <int kColumns, class T>
HWY_INLINE void combine_block(const LowRankQueryTile<T>& task, std::size_t begin, std::size_t end, std::size_t column,
                              std::size_t w) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t tokens = task.tile.tokens;
  const std::size_t columns = task.tile.columns;
  auto a0 = hn::Zero(d), a1 = a0, a2 = a0, a3 = a0;
  auto b0 = a0, b1 = a0, b2 = a0, b3 = a0;
  const T* HWY_RESTRICT monomial = task.tile.monomials + begin * tokens + w;
  const T* HWY_RESTRICT weighted = task.weighted + begin * columns + column;
  for (std::size_t i = begin; i < end; ++i, monomial += tokens, weighted += columns) {
    const auto m0 = hn::Load(d, monomial);
    const auto m1 = hn::Load(d, monomial + lanes);
    const auto y0 = hn::Set(d, weighted[0]);
    a0 = hn::MulAdd(m0, y0, a0);
    b0 = hn::MulAdd(m1, y0, b0);
    if constexpr (kColumns > 1) {
      const auto y1 = hn::Set(d, weighted[1]);
      a1 = hn::MulAdd(m0, y1, a1);
      b1 = hn::MulAdd(m1, y1, b1);
    }
    if constexpr (kColumns > 2) {
      const auto y2 = hn::Set(d, weighted[2]);
      a2 = hn::MulAdd(m0, y2, a2);
      b2 = hn::MulAdd(m1, y2, b2);
    }
    if constexpr (kColumns > 3) {
      const auto y3 = hn::Set(d, weighted[3]);
      a3 = hn::MulAdd(m0, y3, a3);
      b3 = hn::MulAdd(m1, y3, b3);
    }
  }
  T* HWY_RESTRICT out = task.block_sums + column * tokens + w;
  hn::Store(a0, d, out);
  hn::Store(b0, d, out + lanes);
  if constexpr (kColumns > 1) {
    hn::Store(a1, d, out + tokens);
    hn::Store(b1, d, out + tokens + lanes);
  }
  if constexpr (kColumns > 2) {
    hn::Store(a2, d, out + 2 * tokens);
    hn::Store(b2, d, out + 2 * tokens + lanes);
  }
  if constexpr (kColumns > 3) {
    hn::Store(a3, d, out + 3 * tokens);
    hn::Store(b3, d, out + 3 * tokens + lanes);
  }
}

template <class T>
HWY_INLINE void answer_queries(const LowRankQueryTile<T>& task) {
  fill_monomials(task.tile);
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  const std::size_t tokens = task.tile.tokens;
  const std::size_t columns = task.tile.columns;
  std::fill_n(task.result, columns * tokens, 0.0);
  for (std::size_t begin = 0; begin < task.tile.features; begin += task.feature_block) {
    const std::size_t end = std::min(task.tile.features, begin + task.feature_block);
    for (std::size_t w = 0; w < tokens; w += 2 * lanes) {
      std::size_t c = 0;
      for (; c + 4 <= columns; c += 4) combine_block<4>(task, begin, end, c, w);
      if (columns - c == 3) combine_block<3>(task, begin, end, c, w);
      if (columns - c == 2) combine_block<2>(task, begin, end, c, w);
      if (columns - c == 1) combine_block<1>(task, begin, end, c, w);
    }
    for (std::size_t x = 0; x < columns * tokens; ++x) task.result[x] += static_cast<double>(task.block_sums[x]);
  }
}

void add_keys_float(const LowRankKeyTile<float>& task) {
  add_keys(task);
}
void add_keys_double(const LowRankKeyTile<double>& task) {
  add_keys(task);
}
void answer_queries_float(const LowRankQueryTile<float>& task) {
  answer_queries(task);
}
void answer_queries_double(const LowRankQueryTile<double>& task) {
  answer_queries(task);
}

}  // namespace HWY_NAMESPACE
}  // namespace subquad::attention
HWY_AFTER_NAMESPACE();

#endif
