// Exact top-k for one SIMD target: register tiles of scores, and a filter against each query's threshold.
//
// Keys are packed in ranges that fit a budget and are shared by all threads; between two ranges the best candidates of
// a query wait in the result. Scores of a pair are computed by one fixed sequence of operations that depends on the
// dimension and the target only.
//
// Included once per SIMD target: the guard below toggles on purpose.
#if defined(SUBQUAD_ANN_TOP_K_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef SUBQUAD_ANN_TOP_K_INL_HPP_
#undef SUBQUAD_ANN_TOP_K_INL_HPP_
#else
#define SUBQUAD_ANN_TOP_K_INL_HPP_
#endif

#include "candidates-inl.hpp"
#include "top_k_task.hpp"

#include <hwy/aligned_allocator.h>
#include <hwy/highway.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

// Register tiles are arrays of vectors; the compiler keeps them in registers only once these loops are unrolled.
#undef SUBQUAD_UNROLL
#if defined(__clang__)
#define SUBQUAD_UNROLL _Pragma("clang loop unroll(full)")
#else
#define SUBQUAD_UNROLL _Pragma("GCC unroll 16")
#endif

HWY_BEFORE_NAMESPACE();
namespace subquad::ann::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using D = hn::ScalableTag<T>;
template <class T>
using V = hn::Vec<D<T>>;
template <class T>
inline constexpr std::size_t kLanes = hn::MaxLanes(D<T>());
inline constexpr std::size_t kRows = (HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_ARCH_ARM) ? 8 : 4;
inline constexpr std::size_t kVectors = 3;
template <class T>
inline constexpr std::size_t kPanel = kVectors* kLanes<T>;
static_assert(kTopKQueryBlock % kRows == 0 && kTopKKeyTile % kPanel<float> == 0 && kTopKKeyTile % kPanel<double> == 0);

/// Scores of kRows queries and kPanel keys over `depth` coordinates: s (+)= q k^T.
///   q: [depth][kRows], k: [depth][kPanel], s: row stride kTopKKeyTile
template <class T>
HWY_NOINLINE void score_tile(const T* HWY_RESTRICT q, const T* HWY_RESTRICT k, std::size_t depth, bool accumulate,
                             T* HWY_RESTRICT s) {
  const D<T> d;
  V<T> sum[kRows][kVectors];
  SUBQUAD_UNROLL
  for (std::size_t r = 0; r < kRows; ++r) {
    SUBQUAD_UNROLL
    for (std::size_t v = 0; v < kVectors; ++v) {
      sum[r][v] = accumulate ? hn::Load(d, s + r * kTopKKeyTile + v * kLanes<T>) : hn::Zero(d);
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
    for (std::size_t v = 0; v < kVectors; ++v) hn::Store(sum[r][v], d, s + r * kTopKKeyTile + v * kLanes<T>);
  }
}

/// One search.
template <class T, class S>
class TopKSearch {
 public:
  explicit TopKSearch(const TopKTask<S>& task) : task_(task), d_(task.q.cols) {
    const std::size_t key_bytes = (d_ + 1) * sizeof(T);
    range_ = std::max(task_.packed_bytes / key_bytes / kTopKKeyTile, std::size_t{1}) * kTopKKeyTile;
    // At most 4 MiB of candidates a thread, but whole register tiles.
    const std::size_t row_bytes = (candidate_capacity(task_.count) + 2 * kLanes<T>)*2 * sizeof(T);
    block_ = std::clamp((std::size_t{4} << 20) / row_bytes / kRows * kRows, kRows, kTopKQueryBlock);
  }

  void run() {
    const std::size_t padded = round_up(std::min(range_, task_.k.rows), kPanel<T>);
    packed_ = hwy::AllocateAligned<T>(padded * std::max<std::size_t>(d_, 1));
    offsets_ = hwy::AllocateAligned<T>(padded);
    const std::uint64_t ranges = (task_.k.rows - 1) / range_ + 1;
    const ProgressScope progress(*task_.execution, "top-k search", ranges * task_.q.rows);
    for (first_ = 0; first_ < task_.k.rows; first_ += range_) {
      pack();
      parallel_for(*task_.execution, task_.q.rows, block_,
                   [this](std::uint64_t begin, std::uint64_t end) { process(begin, end); });
    }
  }

 private:
  struct Scratch {
    hwy::AlignedFreeUniquePtr<T[]> q;
    hwy::AlignedFreeUniquePtr<T[]> scores;
    std::vector<Candidates<T>> candidates;
    std::vector<OrderedCandidate<T>> sorting;
  };

  static constexpr std::size_t round_up(std::size_t x, std::size_t multiple) {
    return (x + multiple - 1) / multiple * multiple;
  }

  void pack() {
    count_ = std::min(range_, task_.k.rows - first_);
    Execution quiet = *task_.execution;
    quiet.progress = nullptr;
    parallel_for(quiet, round_up(count_, kPanel<T>) / kPanel<T>, 8, [this](std::uint64_t begin, std::uint64_t end) {
      for (std::size_t panel = begin; panel < end; ++panel) pack_panel(panel);
    });
  }

  /// [panel][coordinate][key], zeros behind the last key; and |k|^2 (by the same sums in the arithmetic T).
  void pack_panel(std::size_t panel) {
    const std::size_t begin = panel * kPanel<T>;
    T* HWY_RESTRICT out = packed_.get() + begin * d_;
    for (std::size_t j = begin; j < begin + kPanel<T>; ++j) {
      const S* HWY_RESTRICT row = j < count_ ? task_.k.row(first_ + j) : nullptr;
      T square = T{0};
      for (std::size_t c = 0; c < d_; ++c) {
        const T x = j < count_ ? static_cast<T>(row[c]) : T{0};
        out[c * kPanel<T> + (j - begin)] = x;
        square += x * x;
      }
      offsets_[j] = square;
    }
  }

  std::unique_ptr<Scratch> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto scratch = std::move(free_.back());
        free_.pop_back();
        return scratch;
      }
    }
    auto scratch = std::make_unique<Scratch>();
    scratch->q = hwy::AllocateAligned<T>(block_ * std::max<std::size_t>(d_, 1));
    scratch->scores = hwy::AllocateAligned<T>(block_ * kTopKKeyTile);
    scratch->candidates.resize(block_);
    return scratch;
  }

  void process(std::size_t begin, std::size_t end) {
    std::unique_ptr<Scratch> scratch = take();
    const std::size_t rows = end - begin;
    const std::size_t padded_rows = round_up(rows, kRows);
    for (std::size_t i = 0; i < padded_rows; ++i) {
      T* HWY_RESTRICT q = scratch->q.get() + (i / kRows) * kRows * d_ + i % kRows;
      const S* HWY_RESTRICT row = i < rows ? task_.q.row(begin + i) : nullptr;
      for (std::size_t c = 0; c < d_; ++c) q[c * kRows] = i < rows ? static_cast<T>(row[c]) : T{0};
    }
    for (std::size_t i = 0; i < rows; ++i) restore(begin + i, scratch->candidates[i]);
    const std::size_t seen = std::min(visible(begin + rows - 1), first_ + count_);
    for (std::size_t tile = 0; first_ + tile < seen; tile += kTopKKeyTile) {
      const std::size_t keys = std::min(kTopKKeyTile, count_ - tile);
      const std::size_t padded_keys = round_up(keys, kPanel<T>);
      score_block(tile, padded_keys, padded_rows, *scratch);
      for (std::size_t i = 0; i < rows; ++i) {
        T* scores = scratch->scores.get() + i * kTopKKeyTile;
        const std::size_t limit = visible(begin + i);
        const std::size_t shown = limit > first_ + tile ? std::min(keys, limit - first_ - tile) : 0;
        std::fill(scores + shown, scores + padded_keys, -std::numeric_limits<T>::infinity());
        if (task_.euclidean) {
          for (std::size_t j = 0; j < shown; ++j) scores[j] = T{2} * scores[j] - offsets_[tile + j];
        }
        scratch->candidates[i].add(scores, padded_keys, static_cast<std::uint32_t>(first_ + tile));
      }
    }
    for (std::size_t i = 0; i < rows; ++i) {
      scratch->candidates[i].finish(scratch->sorting, task_.index + (begin + i) * task_.count,
                                    task_.score + (begin + i) * task_.count);
    }
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(scratch));
  }

  std::size_t visible(std::size_t query) const { return task_.mask.visible(query, task_.k.rows); }

  /// Starts from nothing, or from what the previous range left in the result.
  void restore(std::size_t query, Candidates<T>& candidates) const {
    candidates.reset(task_.count);
    if (first_ == 0) return;
    candidates.restore(task_.index + query * task_.count, task_.score + query * task_.count, ~std::uint32_t{0});
  }

  void score_block(std::size_t tile, std::size_t padded_keys, std::size_t rows, Scratch& scratch) const {
    const std::size_t depth_blocks = std::max<std::size_t>((d_ + kTopKDepthBlock - 1) / kTopKDepthBlock, 1);
    const std::size_t depth = (d_ + depth_blocks - 1) / depth_blocks;
    for (std::size_t key = 0; key < padded_keys; key += kPanel<T>) {
      const T* panel = packed_.get() + (tile + key) * d_;
      for (std::size_t block = 0; block < depth_blocks; ++block) {
        const std::size_t c = std::min(block * depth, d_);
        for (std::size_t row = 0; row < rows; row += kRows) {
          score_tile<T>(scratch.q.get() + row * d_ + c * kRows, panel + c * kPanel<T>, std::min(depth, d_ - c),
                        block > 0, scratch.scores.get() + row * kTopKKeyTile + key);
        }
      }
    }
  }

  const TopKTask<S>& task_;
  std::size_t d_;
  std::size_t range_ = 0;  // keys packed at a time
  std::size_t block_ = 0;  // queries at a time
  std::size_t first_ = 0;  // first key of the range
  std::size_t count_ = 0;  // keys in the range
  hwy::AlignedFreeUniquePtr<T[]> packed_;
  hwy::AlignedFreeUniquePtr<T[]> offsets_;  // |k|^2
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> free_;
};

// One entry point a target for each pair (arithmetic, storage): the table behind HWY_EXPORT cannot hold templates.
void top_k_float(const TopKTask<float>& task) {
  TopKSearch<float, float>(task).run();
}
void top_k_float_from_double(const TopKTask<double>& task) {
  TopKSearch<float, double>(task).run();
}
void top_k_double(const TopKTask<double>& task) {
  TopKSearch<double, double>(task).run();
}

}  // namespace subquad::ann::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SUBQUAD_ANN_TOP_K_INL_HPP_
