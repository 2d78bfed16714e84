// Random subsets and permutations, portable across standard libraries (private header).
#pragma once

#include <subquad/core/random.hpp>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace subquad::problems {

/// Returns a uniform subset of {0, .., size-1} of `count` elements, ascending. count <= size (Error(parameter)).
/// O(count log count) time, `count` draws.
std::vector<std::uint64_t> random_subset(std::uint64_t size, std::uint64_t count, Random& random);

/// Sets the bits `choice` out of the coordinates `positions` of a row.
inline void set_bits(std::span<std::uint64_t> row, const std::vector<std::uint64_t>& positions,
                     const std::vector<std::uint64_t>& choice) {
  for (const std::uint64_t c : choice) row[positions[c] / 64] |= std::uint64_t{1} << (positions[c] % 64);
}

/// Returns 0, 1, .., size-1.
std::vector<std::uint64_t> identity(std::uint64_t size);

/// Permutes uniformly (Fisher-Yates); std::shuffle gives different orders with different standard libraries.
template <class T>
void shuffle(std::vector<T>& values, Random& random) {
  for (std::uint64_t k = values.size(); k > 1; --k) std::swap(values[k - 1], values[random.below(k)]);
}

}  // namespace subquad::problems
