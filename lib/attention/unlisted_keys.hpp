// Unlisted keys: the keys 0..n-1 without a few, numbered in ascending order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace subquad::attention {

/// The complement of k distinct keys. O(k log k) to build, O(log k) a lookup, O(k) memory whatever n is.
class UnlistedKeys {
 public:
  explicit UnlistedKeys(std::span<const std::uint32_t> listed) : sorted_(listed.begin(), listed.end()) {
    std::sort(sorted_.begin(), sorted_.end());
  }

  /// The listed keys, ascending.
  const std::vector<std::uint32_t>& listed() const { return sorted_; }

  /// The unlisted key of this rank, 0 <= rank < n - k.
  std::uint32_t at(std::uint64_t rank) const {
    // Of the sorted listed keys, those with key - position <= rank lie before it.
    std::size_t low = 0;
    std::size_t high = sorted_.size();
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (sorted_[middle] - middle <= rank) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return static_cast<std::uint32_t>(rank + low);
  }

 private:
  std::vector<std::uint32_t> sorted_;
};

}  // namespace subquad::attention
