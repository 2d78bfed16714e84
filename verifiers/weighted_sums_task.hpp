// One unit of work of the weighted sums: what the dispatcher hands to the vector code. Plain aligned pointers.
#pragma once

#include <cstddef>

namespace subquad::verifiers {

/// Rows of the register tile: numbers of queries are padded to a multiple.
inline constexpr std::size_t kQueryTile = 4;
/// Weights below 2^kSmallestExponent times the largest become 0, so that no product here is ever subnormal but by v.
inline constexpr double kSmallestExponent = -1000;
/// Stands for the logit of a padding key, and of a key that a query does not see: far below every real one (2^40), and
/// still split exactly.
inline constexpr double kAbsentLogit = -0x1p50;

struct WeightedSumsTask {
  const double* query;   ///< queries x dim
  const double* keys;    ///< panels of dim x panel_keys, one after another
  const double* values;  ///< columns x padded_keys: ones, then the columns of v, then perhaps zeros
  double* logits;        ///< queries x block_keys, scratch
  double* shift;         ///< queries: running ceiling of the largest logit; -inf at the start
  double* sums;          ///< queries x columns; 0 at the start
  std::size_t queries;   ///< a multiple of kQueryTile
  std::size_t dim;
  const std::size_t* visible;  ///< queries: the first so many keys count for a query, at least one, without padding
  std::size_t seen_keys;       ///< the largest of these
  std::size_t padded_keys;     ///< a multiple of panel_keys
  std::size_t block_keys;      ///< a multiple of panel_keys
  std::size_t columns;         ///< even
};

}  // namespace subquad::verifiers
