#include <subquad/ann/hash_tables.hpp>
#include <subquad/core/error.hpp>

#include <algorithm>
#include <bit>

namespace subquad::ann {
namespace {

/// Mixes a tuple into 64 bits: a multiplication and a shift a code (constants of splitmix64). Collisions cost time
/// only.
std::uint64_t mix(const std::int64_t* tuple, Eigen::Index length) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u;
  for (Eigen::Index c = 0; c < length; ++c) {
    hash ^= static_cast<std::uint64_t>(tuple[c]);
    hash *= 0xbf58476d1ce4e5b9u;
    hash ^= hash >> 31;
  }
  hash *= 0x94d049bb133111ebu;
  return hash ^ (hash >> 29);
}

}  // namespace

HashTable::HashTable(const CodeMatrix& codes) {
  const auto n = static_cast<std::uint64_t>(codes.rows());
  require(n < 0xffffffffu, ErrorKind::parameter, "hash table: {} points, expected fewer than 2^32 - 1", n);
  slots_.assign(std::bit_ceil(std::max<std::uint64_t>(2 * n, 2)), 0);
  bucket_of_.resize(n);
  tuples_.resize(codes.rows(), codes.cols());  // at most; cut below
  std::uint32_t count = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::int64_t* tuple = codes.data() + static_cast<Eigen::Index>(i) * codes.cols();
    const std::size_t slot = slot_of(tuple);
    if (slots_[slot] == 0) {
      tuples_.row(count) = codes.row(static_cast<Eigen::Index>(i));
      slots_[slot] = ++count;
    }
    bucket_of_[i] = slots_[slot] - 1;
  }
  tuples_.conservativeResize(count, Eigen::NoChange);
  begins_.assign(count + std::size_t{1}, 0);
  for (const std::uint32_t bucket : bucket_of_) ++begins_[bucket + std::size_t{1}];
  for (std::size_t b = 1; b < begins_.size(); ++b) begins_[b] += begins_[b - 1];
  points_.resize(n);
  std::vector<std::uint32_t> next(begins_.begin(), begins_.end() - 1);
  for (std::uint64_t i = 0; i < n; ++i) points_[next[bucket_of_[i]]++] = static_cast<std::uint32_t>(i);
}

/// The slot of this tuple, or the empty slot where it would go. At most half of the slots are taken.
std::size_t HashTable::slot_of(const std::int64_t* tuple) const {
  const Eigen::Index length = tuples_.cols();
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = static_cast<std::size_t>(mix(tuple, length)) & mask;
  while (slots_[slot] != 0) {
    const std::int64_t* found = tuples_.data() + static_cast<Eigen::Index>(slots_[slot] - 1) * length;
    if (std::equal(tuple, tuple + length, found)) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

std::int64_t HashTable::find(const std::int64_t* tuple) const {
  return static_cast<std::int64_t>(slots_[slot_of(tuple)]) - 1;
}

std::span<const std::uint32_t> HashTable::points(std::uint64_t bucket) const {
  return {points_.data() + begins_[bucket], points_.data() + begins_[bucket + 1]};
}

std::uint64_t HashTable::bytes() const {
  return static_cast<std::uint64_t>(tuples_.size()) * sizeof(std::int64_t) +
         (slots_.size() + bucket_of_.size() + points_.size() + begins_.size()) * sizeof(std::uint32_t);
}

}  // namespace subquad::ann
