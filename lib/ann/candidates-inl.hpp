// Candidates of one query: a buffer that keeps the k best of what was put in, and a threshold that only grows.
//
// When the buffer is full, the threshold is raised by bisection over the ordered integers that floating-point numbers
// are: a step counts the scores above a value, which vectors do in a fraction of a comparison sort's time, and it may
// stop as soon as few more than k are left.
//
// Included once per SIMD target: the guard below toggles on purpose.
#if defined(SUBQUAD_ANN_CANDIDATES_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef SUBQUAD_ANN_CANDIDATES_INL_HPP_
#undef SUBQUAD_ANN_CANDIDATES_INL_HPP_
#else
#define SUBQUAD_ANN_CANDIDATES_INL_HPP_
#endif

#include "candidate_order.hpp"
#include "top_k_task.hpp"

#include <hwy/aligned_allocator.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace subquad::ann::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
class Candidates {
  using D = hn::ScalableTag<T>;
  using Index = hwy::MakeUnsigned<T>;  // as wide as a score: one mask serves both
  using DI = hn::RebindToUnsigned<D>;
  static constexpr std::size_t kLanes = hn::MaxLanes(D());

 public:
  /// Room for a search of the `count` best; nothing in it yet.
  void reset(std::size_t count) {
    const std::size_t capacity = candidate_capacity(count);
    if (count != count_) {
      const std::size_t room = (capacity + 2 * kLanes) / kLanes * kLanes;
      scores_ = hwy::AllocateAligned<T>(room);
      indices_ = hwy::AllocateAligned<Index>(room);
    }
    count_ = count;
    full_ = capacity - kTopKKeyTile;
    size_ = 0;
    threshold_ = -std::numeric_limits<T>::infinity();
    dense_ = true;
  }

  /// Puts in what an earlier part of the search found: at most `count` keys, best first.
  void restore(const std::uint32_t* index, const double* score, std::uint32_t no_key) {
    for (; size_ < count_ && index[size_] != no_key; ++size_) {
      scores_[size_] = static_cast<T>(score[size_]);
      indices_[size_] = index[size_];
    }
    if (size_ == count_) threshold_ = scores_[count_ - 1];
  }

  /// Puts in the keys first_key, first_key + 1, ... that can still matter. `keys` is a multiple of the lanes and at
  /// most kTopKKeyTile; larger indices than before.
  HWY_INLINE void add(const T* HWY_RESTRICT scores, std::size_t keys, std::uint32_t first_key) {
    if (size_ > full_) compact(count_ + (full_ - count_) / 4);
    const std::size_t before = size_;
    if (dense_) {
      append<true>(scores, keys, first_key);
    } else {
      append<false>(scores, keys, first_key);
    }
    // A branch for each vector is worth it only where it can be predicted.
    dense_ = (size_ - before) * 8 * kLanes >= keys;
  }

  /// Writes the best, best first, equal scores by ascending index. Returns their number, at most `count`.
  std::size_t finish(std::vector<OrderedCandidate<T>>& scratch, std::uint32_t* index, double* score) {
    compact(count_);
    scratch.resize(2 * size_);
    for (std::size_t a = 0; a < size_; ++a) {
      scratch[a] = {ordered_bits(scores_[a]), static_cast<std::uint32_t>(indices_[a])};
    }
    const OrderedCandidate<T>* sorted = sort_best_first(scratch.data(), scratch.data() + size_, size_);
    for (std::size_t a = 0; a < size_; ++a) {
      index[a] = sorted[a].index;
      score[a] = static_cast<double>(from_ordered_bits<T>(sorted[a].order));
    }
    return size_;
  }

 private:
  template <bool kDense>
  HWY_INLINE void append(const T* HWY_RESTRICT scores, std::size_t keys, std::uint32_t first_key) {
    const D d;
    const DI di;
    const auto threshold = hn::Set(d, threshold_);
    auto index = hn::Add(hn::Iota(di, 0), hn::Set(di, Index{first_key}));
    const auto step = hn::Set(di, static_cast<Index>(kLanes));
    T* HWY_RESTRICT out_scores = scores_.get();
    Index* HWY_RESTRICT out_indices = indices_.get();
    std::size_t size = size_;
    for (std::size_t j = 0; j < keys; j += kLanes, index = hn::Add(index, step)) {
      const auto score = hn::Load(d, scores + j);
      const auto better = hn::Gt(score, threshold);
      if constexpr (!kDense) {
        if (HWY_LIKELY(hn::AllFalse(d, better))) continue;
      }
      // Not CompressStore: some processors write masked lanes to memory one by one.
      hn::StoreU(hn::Compress(score, better), d, out_scores + size);
      hn::StoreU(hn::Compress(index, hn::RebindMask(di, better)), di, out_indices + size);
      size += hn::CountTrue(d, better);
    }
    size_ = size;
  }

  std::size_t count_at_least(T value) const {
    const D d;
    const auto limit = hn::Set(d, value);
    std::size_t count = 0;
    for (std::size_t j = 0; j < size_; j += kLanes) count += hn::CountTrue(d, hn::Ge(hn::Load(d, &scores_[j]), limit));
    return count;
  }

  /// Drops candidates until `count_` to `most` are left, the best of all, and raises the threshold. From then on only
  /// scores above it can matter: at least `count_` keys are not below it, and later keys have larger indices. The order
  /// of what is left does not change.
  HWY_NOINLINE void compact(std::size_t most) {
    if (size_ <= most) return;
    const D d;
    hn::StoreU(hn::Set(d, -std::numeric_limits<T>::infinity()), d, &scores_[size_]);
    auto least = hn::Load(d, scores_.get()), largest = least;
    for (std::size_t j = 0; j + kLanes <= size_; j += kLanes) {
      const auto score = hn::Load(d, &scores_[j]);
      least = hn::Min(least, score);
      largest = hn::Max(largest, score);
    }
    for (std::size_t j = size_ / kLanes * kLanes; j < size_; ++j) {
      least = hn::Min(least, hn::Set(d, scores_[j]));
      largest = hn::Max(largest, hn::Set(d, scores_[j]));
    }
    // Invariant: at least count_ scores are >= low, fewer are >= high.
    auto low = ordered_bits(hn::GetLane(hn::MinOfLanes(d, least)));
    auto high = ordered_bits(hn::GetLane(hn::MaxOfLanes(d, largest))) + 1;
    std::size_t left = size_;
    while (left > most && high - low > 1) {
      const auto middle = low + (high - low) / 2;
      const std::size_t above = count_at_least(from_ordered_bits<T>(middle));
      if (above >= count_) {
        low = middle;
        left = above;
      } else {
        high = middle;
      }
    }
    threshold_ = from_ordered_bits<T>(low);
    if (left <= most) {
      keep_at_least();
    } else {
      keep_ties_by_index();
    }
  }

  void keep_at_least() {
    const D d;
    const DI di;
    const auto limit = hn::Set(d, threshold_);
    std::size_t kept = 0;
    for (std::size_t j = 0; j < size_; j += kLanes) {
      const auto score = hn::Load(d, &scores_[j]);
      const auto index = hn::Load(di, &indices_[j]);
      const auto keep = hn::Ge(score, limit);
      hn::StoreU(hn::Compress(score, keep), d, &scores_[kept]);
      hn::StoreU(hn::Compress(index, hn::RebindMask(di, keep)), di, &indices_[kept]);
      kept += hn::CountTrue(d, keep);
    }
    size_ = kept;
  }

  /// Many scores equal the threshold: the first of them stay.
  void keep_ties_by_index() {
    std::size_t ties = count_;
    for (std::size_t j = 0; j < size_; ++j) ties -= scores_[j] > threshold_ ? 1 : 0;
    std::size_t kept = 0;
    for (std::size_t j = 0; j < size_; ++j) {
      const bool tie = scores_[j] == threshold_ && ties > 0;
      if (tie) --ties;
      if (!tie && !(scores_[j] > threshold_)) continue;
      scores_[kept] = scores_[j];
      indices_[kept] = indices_[j];
      ++kept;
    }
    size_ = kept;
  }

  std::size_t count_ = 0;
  std::size_t full_ = 0;  // with more than this the next keys may not fit, or the threshold lags too much
  std::size_t size_ = 0;
  T threshold_ = -std::numeric_limits<T>::infinity();
  bool dense_ = true;
  hwy::AlignedFreeUniquePtr<T[]> scores_;
  hwy::AlignedFreeUniquePtr<Index[]> indices_;
};

}  // namespace subquad::ann::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SUBQUAD_ANN_CANDIDATES_INL_HPP_
