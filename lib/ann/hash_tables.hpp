// Hash tables of tuples: groups of points with equal codes. Whole tuples are compared, so there are no false matches.
#pragma once

#include <subquad/ann/hash_family.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace subquad::ann {

/// The buckets of a code matrix, numbered by their first point; open addressing on a mixed hash of the tuple.
///
/// Cost  O(n z) expected time for n tuples of length z; at most n z codes, and 20 to 28 bytes a point beyond them
class HashTable {
 public:
  /// Groups the rows. Fewer than 2^32 - 1 rows, else Error(parameter).
  explicit HashTable(const CodeMatrix& codes);

  static constexpr std::int64_t kNoBucket = -1;
  /// The bucket of a tuple of the table's length, or kNoBucket.
  std::int64_t find(const std::int64_t* tuple) const;
  std::uint64_t buckets() const { return static_cast<std::uint64_t>(tuples_.rows()); }
  /// The points of a bucket, ascending. bucket < buckets().
  std::span<const std::uint32_t> points(std::uint64_t bucket) const;
  /// The bucket of each row, in order.
  const std::vector<std::uint32_t>& bucket_of() const { return bucket_of_; }
  std::uint64_t bytes() const;

 private:
  std::size_t slot_of(const std::int64_t* tuple) const;

  CodeMatrix tuples_;                 // one a bucket
  std::vector<std::uint32_t> slots_;  // bucket + 1, or 0; a power of two
  std::vector<std::uint32_t> bucket_of_;
  std::vector<std::uint32_t> points_;  // by bucket
  std::vector<std::uint32_t> begins_;  // buckets + 1
};

}  // namespace subquad::ann
