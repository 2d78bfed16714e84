// Neighbours: for each query the k best keys, as searches return them and attention kernels take them.
#pragma once

#include <subquad/problems/attention.hpp>
#include <subquad/problems/attention_mask.hpp>

#include <cstdint>
#include <limits>
#include <string_view>

namespace subquad::ann {

/// What "best" means.
enum class Similarity {
  inner_product,  ///< largest <q, k>
  euclidean       ///< smallest |q - k|
};

/// The number type that scores are computed in.
enum class Arithmetic { float32, float64 };
std::string_view to_string(Arithmetic arithmetic) noexcept;

/// Keys by number: n x k.
using IndexMatrix = problems::RowMajorMatrix<std::uint32_t>;
/// Fills rows that have fewer than k keys.
inline constexpr std::uint32_t kNoKey = std::numeric_limits<std::uint32_t>::max();

/// The result of a search. Row i holds min(k, visible keys) keys, best first, equal scores by ascending index, then
/// kNoKey with score -inf.
struct Neighbors {
  Similarity similarity = Similarity::inner_product;
  problems::AttentionMask mask;
  IndexMatrix index;        ///< n x k
  problems::MatrixD score;  ///< n x k, descending: <q, k>, or -|q - k|^2, as computed
  /// Proved for exact searches: the computed score of any key differs from its true one by at most this, row by row (n
  /// entries). A key that is not listed therefore scores at most score(i, k-1) + score_error[i]. Empty for
  /// approximate searches, which promise nothing.
  Eigen::VectorXd score_error;
  bool exact = false;

  std::uint64_t rows() const { return static_cast<std::uint64_t>(index.rows()); }
  std::uint64_t k() const { return static_cast<std::uint64_t>(index.cols()); }
  /// The number of keys in row i.
  std::uint64_t count(std::uint64_t row) const;
};

/// The share of `truth`'s keys that `found` lists, over all rows with k keys: recall at k. Shapes must agree.
double recall(const Neighbors& found, const Neighbors& truth);

}  // namespace subquad::ann
