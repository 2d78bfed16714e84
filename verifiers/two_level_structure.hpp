// Recognises attention instances whose queries and keys are bit vectors in disguise. Private to verifiers.
#pragma once

#include <subquad/core/bit_matrix.hpp>
#include <subquad/problems/attention.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace subquad::verifiers {

/// What varies in the logits of the regular keys.
enum class Statistic {
  inner_product,    ///< <a_i, b_j>: x0 = 0
  hamming_distance  ///< |a_i xor b_j|: x0 = -x1
};

/// A key outside the two-level pattern, with the number of keys equal to it. Its logit depends on |a_i| only.
struct SpecialKey {
  std::uint64_t key = 0;           ///< index of one representative
  std::uint64_t multiplicity = 0;  ///< how many keys have the same row of K and of V
  double level = 0.0;              ///< its common entry on the bit columns
};

/// Q(i, c) = a_i[c] ? x1 : x0 and K(j, c) = b_j[c] ? z1 : z0 on the bit columns, for regular keys j.
struct TwoLevelStructure {
  std::vector<Eigen::Index> bit_columns;
  std::vector<Eigen::Index> constant_columns;  ///< constant over Q and over the regular keys
  BitMatrix a;                                 ///< n x bit_columns
  BitMatrix b;                                 ///< regular keys x bit_columns
  double x0 = 0.0, x1 = 0.0, z0 = 0.0, z1 = 0.0;
  Statistic statistic = Statistic::inner_product;
  /// Index of one regular key: its entries on constant columns and its row of V serve all.
  std::uint64_t regular_key = 0;
  std::vector<SpecialKey> special;
};

/// Reads the structure off the matrices, entry by entry; nothing if there is none. Needs n >= 1, n_k >= 1.
std::optional<TwoLevelStructure> two_level_structure(const problems::Attention::Instance& instance);

}  // namespace subquad::verifiers
