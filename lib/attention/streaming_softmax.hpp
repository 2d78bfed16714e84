// Exact attention by streaming softmax: O(n d) memory, never an n x n matrix.
//
// One pass over the keys in tiles keeps, per query, the running maximum logit, the running sum of weights and the
// running weighted sum of values, rescaled when the maximum grows
// (Milakov & Gimelshein 2018; Rabe & Staats 2021; Dao et al. 2022).
#pragma once

#include <subquad/core/execution.hpp>
#include <subquad/problems/attention.hpp>
#include <subquad/problems/attention_mask.hpp>

#include <Eigen/Core>
#include <span>

namespace subquad::attention {

/// Computes softmax(scale * q k^T) v by rows.
///
/// With a mask, query i's softmax runs over the keys that it sees, the first mask.visible(i, n_k).
///
/// Shapes    q: n x d, k: n_k x d, v: n_k x d_v, returns n x d_v; row-major; n_k >= 1 unless n = 0
/// Ranges    finite entries and scale (not checked here: see problems::validate). The output is then finite: if the
///           entries are so large that logits or sums could overflow the arithmetic, a scalar long double loop takes
///           over, some 30 times slower (Error(unsupported) where long double has no more range than double)
/// Accuracy  float32/float64 arithmetic, exp within a few ulp (estimate; verifiers/attention_output certifies outputs)
/// Threads   over blocks of queries; the result does not depend on their number, nor change from run to run (it may
///           differ between SIMD targets, whose vectors add in another order)
/// Cost      O(n n_k (d + d_v)) time, with a mask about the share of pairs that are seen (whole tiles are skipped);
///           memory beyond inputs and output: 16 MiB of packed keys and values (192 keys, if
///           those need more), 2 numbers a query, 64 (d + d_v + 256) numbers a thread
/// Errors    throws Error(parameter) for mismatched shapes or n_k = 0 with n > 0; Error(interrupted) on request
problems::MatrixF streaming_softmax(const Eigen::Ref<const problems::MatrixF>& q,
                                    const Eigen::Ref<const problems::MatrixF>& k,
                                    const Eigen::Ref<const problems::MatrixF>& v, float scale,
                                    const Execution& execution, const problems::AttentionMask& mask = {});
problems::MatrixD streaming_softmax(const Eigen::Ref<const problems::MatrixD>& q,
                                    const Eigen::Ref<const problems::MatrixD>& k,
                                    const Eigen::Ref<const problems::MatrixD>& v, double scale,
                                    const Execution& execution, const problems::AttentionMask& mask = {});

/// The same in float32 arithmetic on matrices of doubles: each entry is rounded to float32 once, while it is packed, so
/// that no rounded copy of a matrix is held (scale * q is rounded as one product). Entries beyond float32's range take
/// the long double loop on the unrounded doubles.
problems::MatrixD streaming_softmax_in_float32(const Eigen::Ref<const problems::MatrixD>& q,
                                               const Eigen::Ref<const problems::MatrixD>& k,
                                               const Eigen::Ref<const problems::MatrixD>& v, double scale,
                                               const Execution& execution, const problems::AttentionMask& mask = {});

/// The same three into a matrix of the caller's, n x d_v, which must not overlap the inputs: for callers that reuse
/// their memory. If an error is thrown, the output holds unspecified numbers.
///
/// If log_sum_exp is not empty, it receives ln sum_j e^(scale <q_i, k_j>) over the keys that query i sees, for the
/// backward pass: n numbers, else Error(parameter). Beyond the range of double it is an infinity.
void streaming_softmax_into(const Eigen::Ref<const problems::MatrixF>& q, const Eigen::Ref<const problems::MatrixF>& k,
                            const Eigen::Ref<const problems::MatrixF>& v, float scale, const Execution& execution,
                            Eigen::Ref<problems::MatrixF> output, const problems::AttentionMask& mask = {},
                            std::span<double> log_sum_exp = {});
void streaming_softmax_into(const Eigen::Ref<const problems::MatrixD>& q, const Eigen::Ref<const problems::MatrixD>& k,
                            const Eigen::Ref<const problems::MatrixD>& v, double scale, const Execution& execution,
                            Eigen::Ref<problems::MatrixD> output, const problems::AttentionMask& mask = {},
                            std::span<double> log_sum_exp = {});
void streaming_softmax_in_float32_into(const Eigen::Ref<const problems::MatrixD>& q,
                                       const Eigen::Ref<const problems::MatrixD>& k,
                                       const Eigen::Ref<const problems::MatrixD>& v, double scale,
                                       const Execution& execution, Eigen::Ref<problems::MatrixD> output,
                                       const problems::AttentionMask& mask = {}, std::span<double> log_sum_exp = {});

}  // namespace subquad::attention
