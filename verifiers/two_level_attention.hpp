// Two-level attention verifier: exact integer audit of outputs whose queries and keys are bit vectors in disguise.
//
// Instances built from bit vectors have logits that take few values: each is an affine function of an integer statistic
// (an inner product or a Hamming distance). The statistic's histogram, a row of n_k popcounts, then determines the
// exact output, so every row can be audited at the price of a bit scan, with no floating-point dot product at all.
//
// Claim SQ.TWOLEVEL  (ours; proof: docs/proofs/two_level_attention.md)
//   for    finite Q, K, V, scale that two_level_structure recognises (it reads the matrices; no reduction is trusted)
//   then   u_i = (S v_r + sum_s m_s w_s v_s) / (S + sum_s m_s w_s), S = sum_h count_h e^{nu |h - h0|}, enclosed in MPFI
//   check  tests/verifiers/two_level_attention_test.cpp    control: a key dropped from the histogram
#pragma once

#include <subquad/verifiers/attention_output.hpp>

#include <optional>

namespace subquad::verifiers {

/// Decides |output(i,j) - Att(i,j)| <= tolerance like verify_attention_output, if the instance is two-level.
///
/// Two-level: up to columns that are constant, all entries of Q are in {x0, x1} and those of all but few keys (the
/// regular ones: those with the commonest row of V) in {z0, z1}, with x0 = 0 or x0 = -x1; the other, special keys are
/// constant on these columns and have at most 64 different rows. The instances that subquad's reductions make from OV
/// and GapANN have this form.
///
/// Returns  nothing if the instance is not of this form; else the report (entries_by_double counts entries decided from
///          the histogram, entries_by_mpfr those that needed the row's full evaluation at higher precision)
/// Ranges, errors, threads  as verify_attention_output
/// Cost     O(n d + n_k d) to recognise, then O(rows n_k d/64) popcounts and O(rows d) MPFI operations;
///          (n + n_k) d/8 bytes
std::optional<AttentionOutputReport> verify_two_level_attention_output(const problems::Attention::Instance& instance,
                                                                       const problems::MatrixD& output,
                                                                       double tolerance,
                                                                       const AttentionOutputOptions& options = {},
                                                                       const Execution& execution = {});

}  // namespace subquad::verifiers
