// Attention row: one row of the exact output in interval arithmetic, the slow and final word of the attention verifier.
#pragma once

#include <subquad/exact/interval.hpp>
#include <subquad/problems/attention.hpp>
#include <subquad/problems/attention_mask.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace subquad::verifiers {

/// Encloses the entries (row, c), c in columns, of softmax(scale * q k^T) v over the keys that the row's query sees, at
/// the given precision. The instance must
/// be valid with at least one key. O(n_k (d + columns.size())) interval operations. Proof:
/// docs/proofs/attention_output.md
std::vector<exact::Interval> attention_row(const problems::Attention::Instance& instance, std::uint64_t row,
                                           std::span<const std::uint64_t> columns, int precision_bits,
                                           const problems::AttentionMask& mask = {});

}  // namespace subquad::verifiers
