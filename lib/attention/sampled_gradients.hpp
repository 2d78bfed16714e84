// Gradients of attention by sampling (H25 Section 3; dK, which the paper leaves open, ours).
#pragma once

#include <subquad/attention/sampled_attention.hpp>

namespace subquad::attention {

/// How a column of the upstream gradient becomes start distributions of the walks.
enum class WalkSign {
  split,  ///< y = y+ - y-, two walks
  shift   ///< y - min(y) >= 0 and the constant part by a uniform walk (H25's code)
};

/// ceil(ln(4 n d_v/delta)/(2 epsilon^2)): walks a sign and column for which every entry of dV is within epsilon
/// |G_.j|_1 with probability >= 1 - delta (H25.DV).
std::uint64_t walk_samples(std::uint64_t num_keys, std::uint64_t value_dim, double epsilon, double delta);

struct SampledGradientOptions {
  std::uint64_t walks = 0;  ///< dV: a sign and column
  WalkSign sign = WalkSign::split;
  std::uint64_t samples = 0;  ///< dQ, dK: a row (up-weighted tail: l)
  bool upweighted = false;    ///< dQ from listed keys + up-weighted tail, not from samples
  double gap = 0.0;
  std::uint64_t seed = 1;
};

/// dV = P^T G by one-step walks. Returns n_k x d_v.
problems::MatrixD sampled_value_gradient(const problems::Attention::Instance& instance,
                                         const problems::MatrixD& upstream, const ann::Neighbors& neighbors,
                                         const SampledGradientOptions& options, const Execution& execution = {});
/// dQ_i = scale Cov_{l ~ P_i}(<G_i, V_l>, K_l). Returns n x d.
problems::MatrixD sampled_query_gradient(const problems::Attention::Instance& instance,
                                         const problems::MatrixD& upstream, const ann::Neighbors& neighbors,
                                         const SampledGradientOptions& options, const Execution& execution = {});
/// dK_l = scale sum_i P_il (<G_i, V_l> - <G_i, O_i>) Q_i; O_i from an independent half of the samples: unbiased
/// (H25.DK). Returns n_k x d.
problems::MatrixD sampled_key_gradient(const problems::Attention::Instance& instance, const problems::MatrixD& upstream,
                                       const ann::Neighbors& neighbors, const SampledGradientOptions& options,
                                       const Execution& execution = {});

}  // namespace subquad::attention
