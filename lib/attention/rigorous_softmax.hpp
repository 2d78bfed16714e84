// Rigorous attention oracle: enclosures of ln u_i in MPFR interval arithmetic, for the parameters of AS23 Lemma 4.7.
#pragma once

#include <subquad/core/execution.hpp>
#include <subquad/problems/attention.hpp>

#include <vector>

namespace subquad::attention {

/// Encloses ln(u_i) for every row i of the first output column, u = softmax(scale * q k^T) v.
///
/// Shapes    as in problems::Attention; v: n_k x d_v with d_v >= 1 and non-negative first column
/// Returns   n enclosures, proved: intervals with directed rounding throughout; u_i = 0 gives log_low = log_high = -inf
/// Accuracy  width log_high - log_low <= about 2^(40-precision_bits) * (1 + |logits|), rounded outward to double
/// Ranges    precision_bits in [53, 100000], default 128
/// Cost      O(n n_k d) MPFR operations: for small instances
/// Errors    Error(parameter) for a negative value, d_v = 0, mismatched shapes, n_k = 0 with n > 0
std::vector<problems::Attention::LogEnclosure> log_softmax_enclosures(const problems::Attention::Instance& instance,
                                                                      int precision_bits = 128,
                                                                      const Execution& execution = {});

}  // namespace subquad::attention
