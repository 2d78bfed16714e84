// One tile of low-rank attention: what the dispatcher hands to the vector code. Plain aligned pointers (private).
#pragma once

#include <cstddef>
#include <cstdint>

namespace subquad::attention {

/// T is float or double. Tokens run along vectors: every row of `tokens` numbers is contiguous and aligned.
template <class T>
struct LowRankTile {
  const std::uint32_t* parent;    ///< features: index of the monomial of one degree less
  const std::uint32_t* variable;  ///< features: the variable that it is multiplied by
  std::size_t features;           ///< r
  std::size_t tokens;             ///< a multiple of two vectors
  std::size_t columns;            ///< d_v + 1
  const T* variables;             ///< d x tokens: the tile of Q or K, transposed and scaled
  T* monomials;                   ///< features x tokens, scratch
};

/// sums += monomials [V | 1] over the tile's keys. `values`: columns x tokens, zero where a token is absent.
template <class T>
struct LowRankKeyTile {
  LowRankTile<T> tile;
  const T* values;
  double* sums;  ///< features x columns
};

/// result = monomials^T weighted over features, in blocks of feature_block that are added in double.
template <class T>
struct LowRankQueryTile {
  LowRankTile<T> tile;
  const T* weighted;  ///< features x columns
  std::size_t feature_block;
  T* block_sums;   ///< columns x tokens, scratch
  double* result;  ///< columns x tokens
};

}  // namespace subquad::attention
