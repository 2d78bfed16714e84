// Hash tables of tuples: groups of points with equal codes, the whole tuple compared (no fingerprint collisions).
#pragma once

#include <subquad/ann/hash_family.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace subquad::ann {

/// A table over the rows of a code matrix.
class HashTable {
 public:
  explicit HashTable(const CodeMatrix& codes);

  /// The bucket of a tuple (`length` codes), or -1.
  std::int64_t find(const std::int64_t* tuple) const;
  std::uint64_t buckets() const;
  /// The points of a bucket, ascending.
  std::span<const std::uint32_t> bucket(std::uint64_t index) const;
  std::uint64_t bytes() const;

 private:
  CodeMatrix codes_;  // the distinct tuples, one a bucket
  std::vector<std::uint32_t> points_;
  std::vector<std::uint64_t> begins_;  // buckets + 1
  std::vector<std::uint32_t> slots_;   // open addressing on a mixed hash of the tuple
};

}  // namespace subquad::ann
