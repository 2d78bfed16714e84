// Attention masks: which keys a query sees.
#pragma once

#include <algorithm>
#include <cstdint>

namespace subquad::problems {

/// Every key, or the causal mask: query i sees the keys j <= i + offset.
///
/// offset = 0 is the lower triangle (what PyTorch's is_causal means); offset = n_k - n aligns the last query with the
/// last key (decoding with a cache). Every query sees key 0, so no softmax is over nothing.
struct AttentionMask {
  bool causal = false;
  std::uint64_t offset = 0;

  static AttentionMask none() { return {}; }
  static AttentionMask lower_triangle(std::uint64_t offset = 0) { return {true, offset}; }

  /// The number of keys that query i sees: they are 0 .. visible - 1. At least 1 if num_keys >= 1.
  std::uint64_t visible(std::uint64_t query, std::uint64_t num_keys) const {
    if (!causal || offset >= num_keys) return num_keys;
    return query >= num_keys - offset ? num_keys : query + offset + 1;
  }

  friend bool operator==(const AttentionMask&, const AttentionMask&) = default;
};

}  // namespace subquad::problems
