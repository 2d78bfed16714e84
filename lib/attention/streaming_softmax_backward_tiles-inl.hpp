// Gradients of exact attention for one SIMD target, the inner half: packing and the products of one tile.
//
// Page: docs/kernels/streaming_softmax_backward.md. A tile is 128 queries x 192 keys. Of its five products, two share
// the register tile of the forward kernel's logits; three share `accumulate_tile` below.
//
// Included once per SIMD target: the guard below toggles on purpose.
#if defined(SUBQUAD_ATTENTION_STREAMING_SOFTMAX_BACKWARD_TILES_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef SUBQUAD_ATTENTION_STREAMING_SOFTMAX_BACKWARD_TILES_INL_HPP_
#undef SUBQUAD_ATTENTION_STREAMING_SOFTMAX_BACKWARD_TILES_INL_HPP_
#else
#define SUBQUAD_ATTENTION_STREAMING_SOFTMAX_BACKWARD_TILES_INL_HPP_
#endif

#include "streaming_softmax_backward_task.hpp"
#include "streaming_softmax_tiles-inl.hpp"

#include <numbers>

HWY_BEFORE_NAMESPACE();
namespace subquad::attention::HWY_NAMESPACE {

static_assert(kBackwardQueries % kRows == 0);

/// A matrix by rows for use as vectors, block by block: [column panel][row of the block][its columns], padded with 0.
struct RowLayout {
  explicit RowLayout(std::size_t cols, std::size_t lanes_in_vector, std::size_t rows_in_block)
      : lanes(lanes_in_vector), block_rows(rows_in_block), panels{0, (cols + lanes_in_vector - 1) / lanes_in_vector} {
    panels.panels = (panels.vectors + kVectors - 1) / kVectors;
  }
  std::size_t block_size() const { return panels.vectors * lanes * block_rows; }

  std::size_t lanes;
  std::size_t block_rows;
  ValuePanels panels;
};

/// Packs one row of a block; a null row is 0.
template <class T>
void pack_row(const RowLayout& layout, const T* HWY_RESTRICT row, std::size_t cols, std::size_t place, T* block) {
  for (std::size_t p = 0; p < layout.panels.panels; ++p) {
    const std::size_t first = layout.panels.begin(p) * layout.lanes;
    const std::size_t width = layout.panels.width(p) * layout.lanes;
    T* HWY_RESTRICT out = block + first * layout.block_rows + place * width;
    const std::size_t filled = row == nullptr ? 0 : std::min(width, cols - first);
    for (std::size_t c = 0; c < filled; ++c) out[c] = row[first + c];
    for (std::size_t c = filled; c < width; ++c) out[c] = T{0};
  }
}

/// Packs up to kRows rows for use as broadcast factors: out[coordinate][kRows] = factor * row, missing rows 0.
template <class T>
void pack_factors(const T* const* rows, std::size_t cols, double factor, T* HWY_RESTRICT out) {
  for (std::size_t r = 0; r < kRows; ++r) {
    const T* HWY_RESTRICT row = rows[r];
    for (std::size_t c = 0; c < cols; ++c) {
      out[c * kRows + r] = row == nullptr ? T{0} : static_cast<T>(static_cast<double>(row[c]) * factor);
    }
  }
}

/// Packs rows [first, first + kPanel) of a matrix, transposed: out[coordinate][kPanel]; rows from `end` on are 0.
template <class T>
void pack_columns(const MatrixView<T>& matrix, std::size_t first, std::size_t end, T* HWY_RESTRICT out) {
  for (std::size_t r = 0; r < kPanel<T>; ++r) {
    const T* HWY_RESTRICT row = first + r < end ? matrix.row(first + r) : nullptr;
    for (std::size_t c = 0; c < matrix.cols; ++c) out[c * kPanel<T> + r] = row == nullptr ? T{0} : row[c];
  }
}

/// Adds a product to one register tile of a gradient: out += a b.
///   a(r, j) = a[r kKeyTile + j], or a[j kKeyTile + r] if kTransposed; b: [count][kWidth vectors]
///   out: kRows x kWidth vectors, of which only valid_rows x valid_cols exist
template <class T, std::size_t kWidth, bool kTransposed>
HWY_NOINLINE void accumulate_tile(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, std::size_t count,
                                  T* HWY_RESTRICT out, std::size_t stride, std::size_t valid_rows,
                                  std::size_t valid_cols) {
  const D<T> d;
  V<T> sum[kRows][kWidth];
  SUBQUAD_UNROLL
  for (std::size_t r = 0; r < kRows; ++r) {
    SUBQUAD_UNROLL
    for (std::size_t w = 0; w < kWidth; ++w) sum[r][w] = hn::Zero(d);
  }
  for (std::size_t j = 0; j < count; ++j) {
    V<T> vector[kWidth];
    SUBQUAD_UNROLL
    for (std::size_t w = 0; w < kWidth; ++w) vector[w] = hn::Load(d, b + (j * kWidth + w) * kLanes<T>);
    SUBQUAD_UNROLL
    for (std::size_t r = 0; r < kRows; ++r) {
      const V<T> factor = hn::Set(d, kTransposed ? a[j * kKeyTile + r] : a[r * kKeyTile + j]);
      SUBQUAD_UNROLL
      for (std::size_t w = 0; w < kWidth; ++w) sum[r][w] = hn::MulAdd(factor, vector[w], sum[r][w]);
    }
  }
  if (valid_rows >= kRows && valid_cols >= kWidth * kLanes<T>) {
    SUBQUAD_UNROLL
    for (std::size_t r = 0; r < kRows; ++r) {
      SUBQUAD_UNROLL
      for (std::size_t w = 0; w < kWidth; ++w) {
        T* HWY_RESTRICT place = out + r * stride + w * kLanes<T>;
        hn::StoreU(hn::Add(hn::LoadU(d, place), sum[r][w]), d, place);
      }
    }
    return;
  }
  HWY_ALIGN T edge[kRows * kWidth * kLanes<T>];
  SUBQUAD_UNROLL
  for (std::size_t r = 0; r < kRows; ++r) {
    SUBQUAD_UNROLL
    for (std::size_t w = 0; w < kWidth; ++w) hn::Store(sum[r][w], d, edge + (r * kWidth + w) * kLanes<T>);
  }
  for (std::size_t r = 0; r < std::min(valid_rows, kRows); ++r) {
    for (std::size_t c = 0; c < std::min(valid_cols, kWidth * kLanes<T>); ++c) {
      out[r * stride + c] += edge[r * kWidth * kLanes<T> + c];
    }
  }
}

/// Adds a product to rows [first_row, rows) of a gradient: out (rows x cols) += a b, or a^T b if kTransposed.
///   a: row stride kKeyTile; b: one block of `layout`, of which rows [first, first + count) are multiplied
template <class T, bool kTransposed>
void accumulate_block(const T* a, const T* b, const RowLayout& layout, std::size_t first, std::size_t count,
                      std::size_t first_row, std::size_t rows, std::size_t cols, const MatrixTarget<T>& out) {
  for (std::size_t p = 0; p < layout.panels.panels; ++p) {
    const std::size_t column = layout.panels.begin(p) * kLanes<T>;
    const std::size_t width = layout.panels.width(p);
    const T* panel = b + column * layout.block_rows + first * width * kLanes<T>;
    for (std::size_t row = first_row; row < rows; row += kRows) {
      const T* factors = kTransposed ? a + first * kKeyTile + row : a + row * kKeyTile + first;
      T* place = out.data + row * out.row_stride + column;
      const auto add = [&](auto tile) {
        tile(factors, panel, count, place, out.row_stride, rows - row, cols - column);
      };
      if (width == 1) add(accumulate_tile<T, 1, kTransposed>);
      if (width == 2) add(accumulate_tile<T, 2, kTransposed>);
      if (width == 3) add(accumulate_tile<T, 3, kTransposed>);
    }
  }
}

/// Turns logits s into weights p = 2^(s - shift) and the products dp = <G, V> into ds = p (dp - mean), in place.
///   s, dp: row stride kKeyTile. Rounding may put a logit above its shift, and a caller's log-sum-exp may be wrong; no
///   weight is ever above 1.
template <class T>
HWY_NOINLINE void weigh_tile(std::size_t first_row, std::size_t rows, std::size_t padded_keys,
                             const T* HWY_RESTRICT shifts, const T* HWY_RESTRICT means, T* HWY_RESTRICT s,
                             T* HWY_RESTRICT dp) {
  const D<T> d;
  for (std::size_t r = first_row; r < rows; ++r) {
    const V<T> shift = hn::Set(d, shifts[r]);
    const V<T> mean = hn::Set(d, means[r]);
    T* HWY_RESTRICT logits = s + r * kKeyTile;
    T* HWY_RESTRICT products = dp + r * kKeyTile;
    for (std::size_t j = 0; j < padded_keys; j += kLanes<T>) {
      const V<T> exponent = hn::Min(hn::Sub(hn::Load(d, logits + j), shift), hn::Zero(d));
      const V<T> weight = exp2_nonpositive(d, exponent);
      hn::Store(weight, d, logits + j);
      hn::Store(hn::Mul(weight, hn::Sub(hn::Load(d, products + j), mean)), d, products + j);
    }
  }
}

}  // namespace subquad::attention::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SUBQUAD_ATTENTION_STREAMING_SOFTMAX_BACKWARD_TILES_INL_HPP_
