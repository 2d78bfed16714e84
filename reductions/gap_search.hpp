// Gap search: from decisions with a gap ("some key within k", "every key at K or beyond") to nearly nearest keys.
//
// Claim ANN.DEC  (folklore since Indyk and Motwani 1998; integer form ours: docs/reductions/ann_to_gap_ann.md)
//   for    rows with nearest distances dmin in 0..D over num_keys keys, an oracle that says yes if dmin <= k, no if
//          dmin >= K, and anything in between, also contradicting itself from call to call
//   gives  per row a value with value <= dmin, and a key at distance <= floor((1+eps) value)
//   calls  per row at most ceil(log2 #thresholds) for the value and ceil(log2 num_keys) for the key; every call has
//          K > (1+e) k, unless K = D + 1, with (1+e)^steps <= 1 + eps
//   check  tests/reductions/gap_search_test.cpp with adversarial oracles    control: threshold not relaxed after a yes
// Notes     Integers only. No monotonicity is assumed: the search keeps one invariant a row, and every answer keeps it.
#pragma once

#include <subquad/core/count.hpp>
#include <subquad/core/execution.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace subquad::reductions {

/// A rational factor 1 + e = 1 + p / 2^32 and exact floors of its powers.
class GapFactor {
 public:
  /// The largest such factor with (1+e)^steps <= 1 + eps_num/eps_den. e = 0 (exact search) if eps is too small for
  /// more. Throws Error(parameter) if eps_den = 0 or steps is not in 1..4096.
  GapFactor(std::uint64_t eps_num, std::uint64_t eps_den, std::uint64_t steps);

  /// floor(k (1+e)^power), or 2^64 - 1 if that is larger. power <= steps, else Error(parameter).
  std::uint64_t scaled(std::uint64_t k, std::uint64_t power) const;
  /// p of e = p / 2^32.
  const Count& numerator() const noexcept { return numerator_; }

 private:
  Count numerator_;
  std::vector<Count> powers_;  // (2^32 + p)^j, j = 0 .. steps
};

/// The thresholds k_0 < k_1 < .. < k_last = D that a value search may ask for.
class Thresholds {
 public:
  /// All integers 0..D.
  static Thresholds integers(std::uint64_t dim);
  /// 0, 1, .. with k_{s+1} = max(k_s + 1, floor((1+e) k_s)), cut at D. About D' + log(D/D')/e of them, D' = 1/e.
  static Thresholds grid(std::uint64_t dim, const GapFactor& factor);

  std::uint64_t size() const noexcept { return listed_.empty() ? dim_ + 1 : listed_.size(); }
  std::uint64_t at(std::uint64_t s) const { return listed_.empty() ? s : listed_[s]; }

 private:
  std::uint64_t dim_ = 0;
  std::vector<std::uint64_t> listed_;  // empty: all integers
};

/// Keys first .. last - 1.
struct KeyRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t size() const noexcept { return last - first; }
  friend auto operator<=>(const KeyRange&, const KeyRange&) = default;
};

/// One call: for each of `rows`, true if a key of `keys` is within `near`, false if all are at `far` or beyond,
/// anything in between. 0 <= near < far <= D + 1. Must return one value a row.
using GapDecision = std::function<std::vector<bool>(const std::vector<std::uint64_t>& rows, KeyRange keys,
                                                    std::uint64_t near, std::uint64_t far)>;

/// What a search works on.
struct GapSearch {
  std::uint64_t num_rows = 0;
  std::uint64_t num_keys = 0;  ///< >= 1 unless num_rows = 0
  std::uint64_t dim = 0;       ///< D: no distance is larger
  GapFactor factor;
  GapDecision decide;
};

/// A row after its value search: value <= dmin <= min(D, floor((1+e) base)), base a threshold, value one above the
/// threshold before it. With integer thresholds value = base.
struct RowValue {
  std::uint64_t value = 0;
  std::uint64_t base = 0;
};

/// Binary search over the thresholds; rows with the same midpoint share a call. At most ceil(log2 #thresholds) calls a
/// row and at most #thresholds calls in all. Throws Error(input) if the oracle returns a wrong number of values.
std::vector<RowValue> search_values(const GapSearch& search, const Thresholds& thresholds, const Execution& execution);

/// Halves the keys; after each yes the threshold is relaxed to what that yes is worth. Row i's key is then within
/// floor((1+e)^(1 + ceil(log2 num_keys)) base_i). At most ceil(log2 num_keys) calls a row; rows with the same half and
/// the same thresholds share a call. Throws Error(input) if the oracle returns a wrong number of values.
std::vector<std::uint64_t> search_keys(const GapSearch& search, const std::vector<RowValue>& values,
                                       const Execution& execution);

}  // namespace subquad::reductions
