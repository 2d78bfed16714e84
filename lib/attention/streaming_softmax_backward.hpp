// Gradients of exact attention by recomputation: O(n d) memory, never an n x n matrix.
//
// Claim SQ.BACKWARD (proof: docs/proofs/attention_gradients.md). For phi a function of O = P V, P = softmax rows of
// scale Q K^T over the keys that each query sees, and G = dphi/dO:
//   dV = P^T G,   dS_ij = P_ij (<G_i, V_j> - <G_i, O_i>),   dQ = scale dS K,   dK = scale dS^T Q
// Tiles of P are computed again from the log-sum-exp of each row (Dao et al. 2022, Algorithm 4).
#pragma once

#include <subquad/core/execution.hpp>
#include <subquad/problems/attention.hpp>
#include <subquad/problems/attention_mask.hpp>

#include <Eigen/Core>
#include <span>

namespace subquad::attention {

/// dphi/dQ (n x d), dphi/dK (n_k x d), dphi/dV (n_k x d_v).
template <class Matrix>
struct AttentionGradients {
  Matrix q, k, v;
};

/// Computes the gradients of phi at softmax(scale q k^T) v, given upstream = dphi/dO.
///
/// Shapes    q: n x d, k: n_k x d, v: n_k x d_v, upstream: n x d_v; row-major; n_k >= 1 unless n = 0. A key that no
///           query sees, and every key if n = 0, has gradient 0
/// Ranges    finite entries and scale (not checked here). Never NaN then: if a product or sum could leave the range of
///           the arithmetic, a scalar long double loop takes over, some 50 times slower (Error(unsupported) where long
///           double has no more range than double), and a gradient beyond the range of the result is an infinity
/// Accuracy  float32/float64 arithmetic, exp within a few ulp. Estimate, per entry, u the unit roundoff: dQ_i within
///           c u |scale| sum_j P_ij |K_j| (sum_c |G_ic| (|V_jc| + |O_ic|)) (1 + |logits|), c about d + d_v + n_k/8 at
///           worst, a few in practice; dK and dV likewise. Rows of dS sum to 0 up to the same bound, not exactly. A
///           weight below 2^-125 (2^-1021) counts as 0
/// Threads   over tiles of 128 queries x 192 keys; the result does not depend on their number, nor change from run to
///           run (it may differ between SIMD targets)
/// Cost      2 n n_k (4 d + 3 d_v) operations: the forward kernel, then five products; with a mask about the share of
///           pairs that are seen. Memory beyond inputs and gradients: the output and its log-sum-exps (n (d_v + 1)
///           numbers), at most 32 MiB of packed blocks (one block of each side, if those need more), 64 blocks of
///           partial sums, 2 x 128 x 192 numbers a thread
/// Errors    throws Error(parameter) for mismatched shapes or n_k = 0 with n > 0; Error(interrupted) on request
AttentionGradients<problems::MatrixF> streaming_softmax_backward(const Eigen::Ref<const problems::MatrixF>& q,
                                                                 const Eigen::Ref<const problems::MatrixF>& k,
                                                                 const Eigen::Ref<const problems::MatrixF>& v,
                                                                 const Eigen::Ref<const problems::MatrixF>& upstream,
                                                                 float scale, const problems::AttentionMask& mask = {},
                                                                 const Execution& execution = {});
AttentionGradients<problems::MatrixD> streaming_softmax_backward(const Eigen::Ref<const problems::MatrixD>& q,
                                                                 const Eigen::Ref<const problems::MatrixD>& k,
                                                                 const Eigen::Ref<const problems::MatrixD>& v,
                                                                 const Eigen::Ref<const problems::MatrixD>& upstream,
                                                                 double scale, const problems::AttentionMask& mask = {},
                                                                 const Execution& execution = {});

/// The same from the results of streaming_softmax_into with the same q, k, v, scale and mask: output n x d_v, and its
/// log_sum_exp, n numbers. Saves the forward kernel: 2 n n_k (3 d + 2 d_v) operations, and gives the same bits as the
/// form above.
///
/// Errors    also Error(parameter) for saved results of another shape, or a log-sum-exp that is not finite although all
///           logits are in range. Other wrong saved results are not noticed: they give wrong, finite gradients
AttentionGradients<problems::MatrixF> streaming_softmax_backward(
    const Eigen::Ref<const problems::MatrixF>& q, const Eigen::Ref<const problems::MatrixF>& k,
    const Eigen::Ref<const problems::MatrixF>& v, const Eigen::Ref<const problems::MatrixF>& upstream,
    const Eigen::Ref<const problems::MatrixF>& output, std::span<const double> log_sum_exp, float scale,
    const problems::AttentionMask& mask = {}, const Execution& execution = {});
AttentionGradients<problems::MatrixD> streaming_softmax_backward(
    const Eigen::Ref<const problems::MatrixD>& q, const Eigen::Ref<const problems::MatrixD>& k,
    const Eigen::Ref<const problems::MatrixD>& v, const Eigen::Ref<const problems::MatrixD>& upstream,
    const Eigen::Ref<const problems::MatrixD>& output, std::span<const double> log_sum_exp, double scale,
    const problems::AttentionMask& mask = {}, const Execution& execution = {});

}  // namespace subquad::attention
