// Streaming softmax for one SIMD target, the inner half: packed layouts, register tiles, weights.
//
// A register tile has kRows queries x kPanel keys (logits) or kRows queries x up to 3 vectors of value columns
// (output). Every number of the output is computed by one fixed sequence of operations that depends on the shapes and
// the target only: not on the thread, and not on the other queries of a block.
//
// Included once per SIMD target: the guard below toggles on purpose.
#if defined(SUBQUAD_ATTENTION_STREAMING_SOFTMAX_TILES_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef SUBQUAD_ATTENTION_STREAMING_SOFTMAX_TILES_INL_HPP_
#undef SUBQUAD_ATTENTION_STREAMING_SOFTMAX_TILES_INL_HPP_
#else
#define SUBQUAD_ATTENTION_STREAMING_SOFTMAX_TILES_INL_HPP_
#endif

#include "exp2-inl.hpp"
#include "scratch_pool.hpp"
#include "streaming_softmax_task.hpp"
#include "tile_buffer.hpp"

#include <subquad/core/execution.hpp>

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

// Register tiles are arrays of vectors; the compiler keeps them in registers only once these loops are unrolled.
#undef SUBQUAD_UNROLL
#if defined(__clang__)
#define SUBQUAD_UNROLL _Pragma("clang loop unroll(full)")
#else
#define SUBQUAD_UNROLL _Pragma("GCC unroll 16")
#endif

HWY_BEFORE_NAMESPACE();
namespace subquad::attention::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using D = hn::ScalableTag<T>;
template <class T>
using V = hn::Vec<D<T>>;

template <class T>
inline constexpr std::size_t kLanes = hn::MaxLanes(D<T>());
// 24 accumulators, 3 key vectors and a broadcast fit 32 registers; 12 + 3 + 1 fit 16.
inline constexpr std::size_t kRows = (HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_ARCH_ARM) ? 8 : 4;
inline constexpr std::size_t kVectors = 3;
template <class T>
inline constexpr std::size_t kPanel = kVectors* kLanes<T>;

static_assert(kQueryBlock % kRows == 0 && kKeyTile % kPanel<float> == 0 && kKeyTile % kPanel<double> == 0);

constexpr std::size_t round_up(std::size_t x, std::size_t multiple) {
  return (x + multiple - 1) / multiple * multiple;
}

/// The value columns cut into panels of one to three vectors, as even as possible.
struct ValuePanels {
  std::size_t panels;
  std::size_t vectors;
  std::size_t begin(std::size_t panel) const {  // in vectors
    return panel * (vectors / panels) + std::min(panel, vectors % panels);
  }
  std::size_t width(std::size_t panel) const { return begin(panel + 1) - begin(panel); }
};

/// A range of keys and values, packed once and read by all threads.
///   k: [panel][coordinate][kPanel keys], padded with 0
///   v: [value panel][key][its columns], or the bare column if d_v = 1, padded with 0
template <class T>
struct PackedKeys {
  TileBuffer<T> k;
  TileBuffer<T> v;
  std::size_t first = 0;
  std::size_t count = 0;
  std::size_t padded = 0;
};

/// Working memory of one thread.
template <class T>
struct Scratch {
  Scratch(std::size_t d, std::size_t value_columns)
      : q(kQueryBlock * d),
        weights(kQueryBlock * kKeyTile),
        tile_max(kQueryBlock * kLanes<T>),
        weight_sum(kQueryBlock * kLanes<T>),
        value_sum(kQueryBlock * value_columns) {}

  TileBuffer<T> q;           // [register tile][coordinate][kRows]
  TileBuffer<T> weights;     // [query][kKeyTile]: logits, then weights
  TileBuffer<T> tile_max;    // [query][lane]
  TileBuffer<T> weight_sum;  // [query][lane]
  TileBuffer<T> value_sum;   // [query][value column, padded]; lanes of partial sums if d_v = 1
  T running_max[kQueryBlock];
  T correction[kQueryBlock];
};

/// Packs key panel `panel` of the range and its values.
template <class T, class S>
void pack_panel(const StreamingSoftmaxTask<S>& task, const ValuePanels& value_panels, std::size_t panel,
                PackedKeys<T>& packed) {
  const std::size_t d = task.k.cols;
  const std::size_t begin = panel * kPanel<T>;
  const std::size_t end = std::min(begin + kPanel<T>, packed.count);
  T* HWY_RESTRICT k = packed.k.data() + begin * d;
  for (std::size_t j = begin; j < begin + kPanel<T>; ++j) {
    const S* HWY_RESTRICT row = j < end ? task.k.row(packed.first + j) : nullptr;
    for (std::size_t c = 0; c < d; ++c) k[c * kPanel<T> + (j - begin)] = j < end ? static_cast<T>(row[c]) : T{0};
  }
  for (std::size_t j = begin; j < begin + kPanel<T>; ++j) {
    const S* HWY_RESTRICT row = j < end ? task.v.row(packed.first + j) : nullptr;
    if (task.v.cols == 1) {
      packed.v.data()[j] = j < end ? static_cast<T>(row[0]) : T{0};
      continue;
    }
    for (std::size_t p = 0; p < value_panels.panels; ++p) {
      const std::size_t first_column = value_panels.begin(p) * kLanes<T>;
      const std::size_t width = value_panels.width(p) * kLanes<T>;
      T* HWY_RESTRICT out = packed.v.data() + first_column * packed.padded + j * width;
      for (std::size_t c = 0; c < width; ++c) {
        const std::size_t column = first_column + c;
        out[c] = j < end && column < task.v.cols ? static_cast<T>(row[column]) : T{0};
      }
    }
  }
}

/// Packs the queries [first, first + count) of one head, scaled so that logits come out in base 2; missing queries are
/// 0.
template <class T, class S>
void pack_queries(const StreamingSoftmaxTask<S>& task, std::size_t head, std::size_t first, std::size_t count,
                  Scratch<T>& scratch) {
  const std::size_t d = task.q.cols;
  for (std::size_t i = 0; i < round_up(count, kRows); ++i) {
    T* HWY_RESTRICT q = scratch.q.data() + (i / kRows) * kRows * d + i % kRows;
    const S* HWY_RESTRICT row = i < count ? task.q_row(head, first + i) : nullptr;
    for (std::size_t c = 0; c < d; ++c) {
      q[c * kRows] = i < count ? static_cast<T>(static_cast<double>(row[c]) * task.log2_scale) : T{0};
    }
  }
}

/// Logits of one register tile over `depth` coordinates: s (+)= q k^T.
///   q: [depth][kRows], k: [depth][kPanel], s: kRows x kPanel with row stride kKeyTile
template <class T>
HWY_NOINLINE void logit_tile(const T* HWY_RESTRICT q, const T* HWY_RESTRICT k, std::size_t depth, bool accumulate,
                             T* HWY_RESTRICT s) {
  const D<T> d;
  V<T> sum[kRows][kVectors];
  SUBQUAD_UNROLL
  for (std::size_t r = 0; r < kRows; ++r) {
    SUBQUAD_UNROLL
    for (std::size_t v = 0; v < kVectors; ++v) {
      sum[r][v] = accumulate ? hn::Load(d, s + r * kKeyTile + v * kLanes<T>) : hn::Zero(d);
    }
  }
  for (std::size_t c = 0; c < depth; ++c) {
    V<T> key[kVectors];
    SUBQUAD_UNROLL
    for (std::size_t v = 0; v < kVectors; ++v) key[v] = hn::Load(d, k + c * kPanel<T> + v * kLanes<T>);
    SUBQUAD_UNROLL
    for (std::size_t r = 0; r < kRows; ++r) {
      const V<T> query = hn::Set(d, q[c * kRows + r]);
      SUBQUAD_UNROLL
      for (std::size_t v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(query, key[v], sum[r][v]);
    }
  }
  SUBQUAD_UNROLL
  for (std::size_t r = 0; r < kRows; ++r) {
    SUBQUAD_UNROLL
    for (std::size_t v = 0; v < kVectors; ++v) hn::Store(sum[r][v], d, s + r * kKeyTile + v * kLanes<T>);
  }
}

/// Rows [first_row, rows) of s (row stride kKeyTile) = a b^T over `depth` coordinates, for `padded_keys` columns. The
/// panel of b is the outer loop: it stays in the first-level cache.
///   a: [register tile][depth][kRows], b: [panel][depth][kPanel]; first_row, rows: multiples of kRows
template <class T>
void logit_block(const T* a, const T* b, std::size_t depth, std::size_t first_row, std::size_t rows,
                 std::size_t padded_keys, T* s) {
  const std::size_t blocks = std::max<std::size_t>((depth + kDepthBlock - 1) / kDepthBlock, 1);
  const std::size_t part = (depth + blocks - 1) / blocks;
  for (std::size_t key = 0; key < padded_keys; key += kPanel<T>) {
    const T* panel = b + key * depth;
    for (std::size_t block = 0; block < blocks; ++block) {
      const std::size_t c = std::min(block * part, depth);
      for (std::size_t row = first_row; row < rows; row += kRows) {
        logit_tile<T>(a + row * depth + c * kRows, panel + c * kPanel<T>, std::min(part, depth - c), block > 0,
                      s + row * kKeyTile + key);
      }
    }
  }
}

/// Output of one register tile over the keys of a key tile: sums = sums * correction + weights v.
///   weights: kRows x keys with row stride kKeyTile, v: [keys][kWidth vectors], sums: row stride `stride`
template <class T, std::size_t kWidth>
HWY_NOINLINE void value_tile(const T* HWY_RESTRICT weights, const T* HWY_RESTRICT v, std::size_t keys,
                             const T* HWY_RESTRICT correction, T* HWY_RESTRICT sums, std::size_t stride) {
  const D<T> d;
  V<T> sum[kRows][kWidth];
  SUBQUAD_UNROLL
  for (std::size_t r = 0; r < kRows; ++r) {
    SUBQUAD_UNROLL
    for (std::size_t w = 0; w < kWidth; ++w) sum[r][w] = hn::Zero(d);
  }
  for (std::size_t j = 0; j < keys; ++j) {
    V<T> value[kWidth];
    SUBQUAD_UNROLL
    for (std::size_t w = 0; w < kWidth; ++w) value[w] = hn::Load(d, v + (j * kWidth + w) * kLanes<T>);
    SUBQUAD_UNROLL
    for (std::size_t r = 0; r < kRows; ++r) {
      const V<T> weight = hn::Set(d, weights[r * kKeyTile + j]);
      SUBQUAD_UNROLL
      for (std::size_t w = 0; w < kWidth; ++w) sum[r][w] = hn::MulAdd(weight, value[w], sum[r][w]);
    }
  }
  SUBQUAD_UNROLL
  for (std::size_t r = 0; r < kRows; ++r) {
    SUBQUAD_UNROLL
    for (std::size_t w = 0; w < kWidth; ++w) {
      T* HWY_RESTRICT place = sums + r * stride + w * kLanes<T>;
      hn::Store(hn::MulAdd(hn::Load(d, place), hn::Set(d, correction[r]), sum[r][w]), d, place);
    }
  }
}

/// Turns the logits of query `r` for one key tile into weights relative to the running maximum and adds up the weights;
/// with a single value column (kOneColumn) also the weighted values, so that the weights need not be written back.
template <class T, bool kOneColumn>
HWY_INLINE void weigh_row(std::size_t r, std::size_t padded_keys, const T* HWY_RESTRICT column, Scratch<T>& scratch) {
  const D<T> d;
  T* HWY_RESTRICT s = scratch.weights.data() + r * kKeyTile;
  V<T> largest = hn::Load(d, s);
  for (std::size_t j = kLanes<T>; j < padded_keys; j += kLanes<T>) largest = hn::Max(largest, hn::Load(d, s + j));
  T correction = T{1};
  // The maximum settles after a few tiles, so the branch is well predicted and the reduction rare.
  if (!hn::AllFalse(d, hn::Gt(largest, hn::Set(d, scratch.running_max[r])))) {
    const T grown = hn::GetLane(hn::MaxOfLanes(d, largest));
    correction = hn::GetLane(exp2_nonpositive(d, hn::Set(d, scratch.running_max[r] - grown)));
    scratch.running_max[r] = grown;
  }
  scratch.correction[r] = correction;
  const V<T> shift = hn::Set(d, scratch.running_max[r]);
  V<T> weight_sum = hn::Zero(d);
  V<T> value_sum = hn::Zero(d);
  for (std::size_t j = 0; j < padded_keys; j += kLanes<T>) {
    const V<T> weight = exp2_nonpositive(d, hn::Sub(hn::Load(d, s + j), shift));
    weight_sum = hn::Add(weight_sum, weight);
    if constexpr (kOneColumn) {
      value_sum = hn::MulAdd(weight, hn::Load(d, column + j), value_sum);
    } else {
      hn::Store(weight, d, s + j);
    }
  }
  T* HWY_RESTRICT sums = scratch.weight_sum.data() + r * kLanes<T>;
  hn::Store(hn::MulAdd(hn::Load(d, sums), hn::Set(d, correction), weight_sum), d, sums);
  if constexpr (kOneColumn) {
    T* HWY_RESTRICT values = scratch.value_sum.data() + r * kLanes<T>;
    hn::Store(hn::MulAdd(hn::Load(d, values), hn::Set(d, correction), value_sum), d, values);
  }
}

template <class T, bool kOneColumn>
HWY_NOINLINE void weigh_rows(std::size_t rows, std::size_t padded_keys, const T* HWY_RESTRICT column,
                             Scratch<T>& scratch) {
  for (std::size_t r = 0; r < rows; ++r) weigh_row<T, kOneColumn>(r, padded_keys, column, scratch);
}

/// Sum of one vector's lanes in memory, in ascending order.
template <class T>
T add_lanes(const T* lanes) {
  T sum = lanes[0];
  for (std::size_t i = 1; i < kLanes<T>; ++i) sum += lanes[i];
  return sum;
}

}  // namespace subquad::attention::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SUBQUAD_ATTENTION_STREAMING_SOFTMAX_TILES_INL_HPP_
