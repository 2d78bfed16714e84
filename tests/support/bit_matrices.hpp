// Bit matrices for tests: from rows of digits, and random ones biased to the edges.
#pragma once

#include <subquad/core/bit_matrix.hpp>
#include <subquad/core/random.hpp>

#include <rapidcheck.h>

#include <cstdint>
#include <string>
#include <vector>

namespace subquad::test {

/// bits(4, {"0110", "1000"}): the dimension is named, so that there may be no row.
inline BitMatrix bits(std::uint64_t cols, const std::vector<std::string>& rows) {
  BitMatrix matrix(rows.size(), cols);
  for (std::uint64_t r = 0; r < rows.size(); ++r)
    for (std::uint64_t c = 0; c < cols; ++c) matrix.set(r, c, rows[r].at(c) == '1');
  return matrix;
}

/// Dimensions around the word size, and small ones.
inline rc::Gen<std::uint64_t> any_dim() {
  return rc::gen::element<std::uint64_t>(0, 1, 2, 3, 5, 8, 63, 64, 65, 127, 128, 130, 193, 256, 300);
}

/// A matrix whose density is 0, 1 or something between; rows repeat now and then.
inline BitMatrix any_matrix(std::uint64_t rows, std::uint64_t cols) {
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  const double density = *rc::gen::element(0.0, 0.05, 0.2, 0.5, 0.9, 1.0);
  BitMatrix matrix(rows, cols);
  for (std::uint64_t r = 0; r < rows; ++r) {
    const std::uint64_t copied = r > 0 && random.bernoulli(0.2) ? random.below(r) : r;
    for (std::uint64_t c = 0; c < cols; ++c)
      matrix.set(r, c, copied < r ? matrix.get(copied, c) : random.bernoulli(density));
  }
  return matrix;
}

}  // namespace subquad::test
