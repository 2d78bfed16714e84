// AS23 parameters: the numbers of Lemma 4.7 of Alman & Song (2023), GapANN -> attention, as exact and enclosed reals.
//
// Claim AS23.L4.7 (proof of every inequality with these constants: docs/proofs/gap_ann_to_attention.md)
// Notation  balanced dimension D = 2d, balanced distances are doubled; t = 2 r_yes + 1, (1+eps) t = 2 r_no,
//           t eps = 2 r_no - t; n = max(number of keys, 2); beta >= 40 D ln n/(t eps); tau = e^(beta/2);
//           t~ = e^((beta/4)(1 - t/D))/(6 n tau), hence ln(2 t~) = -(beta/4)(1 + t/D) - ln(3 n);
//           eps_a = n^(-C_a), C_a = 2 + (beta/ln n)(1 + t/D), hence ln eps_a = -2 ln n - beta (1 + t/D)
#pragma once

#include <subquad/exact/interval.hpp>

#include <cstdint>

namespace subquad::reductions {

/// The numbers of one instance.
struct As23Parameters {
  std::uint64_t num_keys = 2;      ///< n
  std::uint64_t balanced_dim = 2;  ///< D; queries and keys have 2 D coordinates
  std::int64_t balanced_t = 1;     ///< t
  double scale = 1.0;              ///< the double nearest to 1/(2 D), used as an exact number
  float unit = 1.0F;               ///< s, the non-zero entry: at most 12 significant bits
  exact::Interval beta;            ///< encloses beta = 2 scale s^2 D, the number that the instance stored has
  exact::Interval log_threshold;   ///< encloses ln(2 t~)
  double log_tolerance = 0.0;      ///< a double that is at most ln eps_a
};

/// Chooses the least s of 12 significant bits for which beta >= 40 D ln n/(t eps) is proved.
///
/// Ranges  dim >= 1 (before balancing), 0 <= r_yes < r_no <= dim + 1, any number of keys; else Error(parameter)
As23Parameters as23_parameters(std::uint64_t num_keys, std::uint64_t dim, std::int64_t r_yes, std::int64_t r_no);

}  // namespace subquad::reductions
