// Candidates of one query: a buffer that keeps at least the k best of what was put in, and a threshold that only grows.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace subquad::ann {

/// A scored key as one number whose descending order is: better score first, then smaller index.
struct PackedCandidate32 {
  using Scalar = float;
  std::uint64_t bits;

  static PackedCandidate32 pack(float score, std::uint32_t index) {
    // The order of floats as the order of unsigned integers; -0 + 0 = +0, so that both zeros are one score.
    const auto raw = std::bit_cast<std::uint32_t>(score + 0.0f);
    const std::uint32_t ordered = (raw & 0x80000000u) != 0 ? ~raw : raw | 0x80000000u;
    return {(static_cast<std::uint64_t>(ordered) << 32) | static_cast<std::uint32_t>(~index)};
  }
  float score() const {
    const auto ordered = static_cast<std::uint32_t>(bits >> 32);
    return std::bit_cast<float>((ordered & 0x80000000u) != 0 ? ordered & 0x7fffffffu : ~ordered);
  }
  std::uint32_t index() const { return ~static_cast<std::uint32_t>(bits); }
  friend bool operator<(const PackedCandidate32& x, const PackedCandidate32& y) { return x.bits > y.bits; }
};

/// The same for doubles, as a pair.
struct Candidate64 {
  using Scalar = double;
  double value;
  std::uint32_t key;

  static Candidate64 pack(double score, std::uint32_t index) { return {score, index}; }
  double score() const { return value; }
  std::uint32_t index() const { return key; }
  friend bool operator<(const Candidate64& x, const Candidate64& y) {
    return x.value > y.value || (x.value == y.value && x.key < y.key);
  }
};

template <class T>
struct CandidateOf;
template <>
struct CandidateOf<float> {
  using Type = PackedCandidate32;
};
template <>
struct CandidateOf<double> {
  using Type = Candidate64;
};

/// Room for so many candidates: a search compacts each time that `capacity - count` survivors have come.
inline std::size_t candidate_capacity(std::size_t count) {
  return count + std::clamp<std::size_t>(2 * count, 256, std::size_t{1} << 16);
}

/// Candidates of one query, filled by vector code through scores(), indices() and size.
template <class T>
class Candidates {
 public:
  using Candidate = typename CandidateOf<T>::Type;

  /// `slack`: vector stores may write so many numbers behind the last one.
  void reset(std::size_t count, std::size_t slack) {
    count_ = count;
    capacity_ = candidate_capacity(count);
    scores_.resize(capacity_ + slack);
    indices_.resize(capacity_ + slack);
    size = 0;
    threshold = -std::numeric_limits<T>::infinity();
  }

  T* scores() { return scores_.data(); }
  std::uint32_t* indices() { return indices_.data(); }
  bool full(std::size_t more) const { return size + more > capacity_; }

  /// Keeps the `count` best. From then on only scores above the worst of them can matter: keys come in ascending order,
  /// so an equal score has a larger index and loses.
  void compact(std::vector<Candidate>& scratch) {
    if (size < count_) return;
    gather(scratch);
    const auto last = scratch.begin() + static_cast<std::ptrdiff_t>(count_ - 1);
    std::nth_element(scratch.begin(), last, scratch.end());
    threshold = last->score();
    for (std::size_t a = 0; a < count_; ++a) {
      scores_[a] = scratch[a].score();
      indices_[a] = scratch[a].index();
    }
    size = count_;
  }

  /// Writes what is left, best first. At most count_ entries.
  std::size_t finish(std::vector<Candidate>& scratch, std::uint32_t* index, double* score) {
    compact(scratch);
    gather(scratch);
    std::sort(scratch.begin(), scratch.end());
    for (std::size_t a = 0; a < scratch.size(); ++a) {
      index[a] = scratch[a].index();
      score[a] = static_cast<double>(scratch[a].score());
    }
    return scratch.size();
  }

  std::size_t size = 0;
  T threshold = -std::numeric_limits<T>::infinity();

 private:
  void gather(std::vector<Candidate>& scratch) const {
    scratch.resize(size);
    for (std::size_t a = 0; a < size; ++a) scratch[a] = Candidate::pack(scores_[a], indices_[a]);
  }

  std::size_t count_ = 0;
  std::size_t capacity_ = 0;
  std::vector<T> scores_;
  std::vector<std::uint32_t> indices_;
};

}  // namespace subquad::ann
