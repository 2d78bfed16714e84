// Gradients of exact attention by recomputation: O(n d) memory, never an n x n matrix.
//
// With P the softmax rows, O = P V and G = dphi/dO (Dao et al. 2022, Algorithm 4):
//   dV = P^T G,   dS_ij = P_ij (<G_i, V_j> - <G_i, O_i>),   dQ = scale dS K,   dK = scale dS^T Q
#pragma once

#include <subquad/core/execution.hpp>
#include <subquad/problems/attention.hpp>
#include <subquad/problems/attention_mask.hpp>

namespace subquad::attention {

/// dphi/dQ (n x d), dphi/dK (n_k x d), dphi/dV (n_k x d_v).
template <class Matrix>
struct AttentionGradients {
  Matrix q, k, v;
};

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

}  // namespace subquad::attention
