// Hamming scan: the nearest key of every query, by all distances (private header).
#pragma once

#include <subquad/core/bit_matrix.hpp>
#include <subquad/core/execution.hpp>

#include <cstdint>
#include <limits>
#include <vector>

namespace subquad::problems {

/// The nearest key seen for one query. Without keys: distance kNoKey.
struct NearestKey {
  static constexpr std::uint64_t kNoKey = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t distance = kNoKey;
  std::uint64_t key = 0;
};

/// Returns for each query a nearest key, the smallest index on ties. Equal dimensions (unchecked).
///
/// A query is left alone once a key within `good_enough` is known, so that its entry is then merely such a key and its
/// distance (which one: independent of the number of threads). good_enough = -1 asks for true nearest keys throughout.
/// O(rows(queries) rows(keys) words), threads. Throws Error(interrupted).
std::vector<NearestKey> nearest_keys(const BitMatrix& queries, const BitMatrix& keys, std::int64_t good_enough,
                                     const Execution& execution);

}  // namespace subquad::problems
