// Threshold key: one extra key whose weight separates "some key weighs much" from "all keys weigh little".
//
// Claim SQ.KEY (ours; proof: docs/proofs/ov_to_attention.md)
//   for    n >= 1 keys with logits X x_j (x_j integers), integers far_units < near_units, 0 < eps_a < 1/2,
//          values 1 on the n keys and 0 on one more key of logit w; u = sum_j e^(X x_j) / (sum_j e^(X x_j) + e^w)
//   builds X = scale s^2 and w = scale s (sum of the extra key's entries), all entries exactly float32 numbers
//   then   some x_j >= near_units  =>  u > 1/2 + eps_a;   all x_j <= far_units  =>  u < 1/2 - eps_a
//   entries <= s <= 1.001 max(2^-20, sqrt(d~ L / (near_units - far_units)))
//   kind   the inequalities are proved by interval arithmetic for the very numbers stored, each time
// Notation  h = ln((1 + 2 eps_a)/(1 - 2 eps_a)) = (ln rho)/2, L = ln n + 2h = ln(rho n), d~ = dim + num_extra
// Notes     The ideal numbers are irrational. s is the ideal value rounded up to 12 significant bits, which widens
//           the gap a little, and the extra key is chosen inside the room that this gives. 12 bits make s^2 a float32
//           number too, so that a float32 kernel forms the products of the logits without rounding.
#pragma once

#include <subquad/exact/interval.hpp>
#include <subquad/problems/attention.hpp>
#include <subquad/reductions/tolerance.hpp>

#include <cstdint>
#include <vector>

namespace subquad::reductions {

/// What the threshold key has to separate.
struct LogitGap {
  std::int64_t near_units = 0;  ///< a near row has a key with x_j >= near_units
  std::int64_t far_units = -1;  ///< a far row has x_j <= far_units for all keys; < near_units
  std::uint64_t num_keys = 0;   ///< n; with n = 0 every row is far, and ln n is taken as 0
  std::uint64_t dim = 0;        ///< coordinates of the instance without those of the extra key
};

/// The numbers of an instance with a threshold key. The extra key is zero on the first dim coordinates; on the other
/// num_extra ones the first num_raised entries are raised_entry and the rest are entry. Queries are unit there, keys 0.
struct ThresholdKey {
  double scale = 1.0;  ///< the double nearest to 1/(dim + num_extra), used as an exact number
  float unit = 1.0F;   ///< s: the size of the non-zero entries of queries and keys; at most 12 significant bits
  std::uint64_t num_extra = 1;   ///< e >= 1
  std::uint64_t num_raised = 0;  ///< < num_extra
  float entry = 0.0F;            ///< |entry| <= unit
  float raised_entry = 0.0F;     ///< the next float32 above entry, or entry; |raised_entry| <= unit
  double entry_bound = 1.0;      ///< max(1, unit): B, with the 1 of the values

  /// Encloses X = scale s^2.
  exact::Interval logit_unit(int precision_bits = exact::Interval::kDefaultPrecisionBits) const;
  /// Encloses w, the logit of the extra key.
  exact::Interval extra_logit(int precision_bits = exact::Interval::kDefaultPrecisionBits) const;

  friend bool operator==(const ThresholdKey&, const ThresholdKey&) = default;
};

/// Chooses the numbers and proves the claim SQ.KEY for them.
///
/// num_extra is the least integer e >= 1 that is proved to be at least |y|,
/// y = (near + far)/2 + (near - far) ln n/(2L): then the extra key's entries are no larger than the others.
/// Hence e <= max(1, ceil(|near + far|/2), near_units).
///
/// Errors  Error(parameter) unless far_units < near_units; Error(resource) for num_keys or dim of 2^62 and more
ThresholdKey choose_threshold_key(const LogitGap& gap, const Tolerance& tolerance);

/// Returns for every row whether output(i, 0) > 1/2.
///
/// Errors  OracleRefuted with the row for a value that is NaN, infinite, or not in [-1/2, 3/2]: true values are in
///         [0, 1] and eps_a < 1/2. Error(parameter) if the output has not one row a query and one column a value
///         column, or if there is no value column.
std::vector<bool> rows_above_half(const problems::Attention::Instance& target,
                                  const problems::Attention::Answer& answer);

/// Writes the queries' extra coordinates, the extra key (the last row of k) and the values into q, k, v, which have
/// their final shapes (n x (dim + e), (n_k + 1) x (dim + e), (n_k + 1) x 1) and are zero there.
void place_threshold_key(const ThresholdKey& key, problems::Attention::Instance& instance);

}  // namespace subquad::reductions
