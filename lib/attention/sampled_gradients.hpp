// Gradients of attention by sampling (H25 Section 3; dK, which the paper leaves open, is ours).
//
// With P the softmax rows, O = P V, G = dphi/dO (the upstream gradient, n x d_v) and g_il = <G_i, V_l>:
//   dV = P^T G      dQ_i = scale Cov_{l ~ P_i}(g_il, K_l)      dK_l = scale sum_i P_il (g_il - <G_i, O_i>) Q_i
#pragma once

#include <subquad/ann/neighbors.hpp>
#include <subquad/core/execution.hpp>
#include <subquad/problems/attention.hpp>

#include <cstdint>

namespace subquad::attention {

/// How a column of the upstream gradient becomes start distributions of walks.
enum class WalkSign {
  split,  ///< y = y+ - y-: one set of walks from each part
  shift   ///< y = (y - min y) + min y: one set from the first part, one from the uniform distribution (H25's code)
};

/// ceil(ln(4 n_k d_v/delta)/(2 epsilon^2)): walks for each sign and column with which, probability >= 1 - delta, every
/// entry of dV is within epsilon |G_.j|_1 (WalkSign::split; Hoeffding and a union bound, H25.DV). epsilon > 0, delta in
/// (0, 1), else Error(parameter).
std::uint64_t walk_samples(std::uint64_t num_keys, std::uint64_t value_dim, double epsilon, double delta);

/// scale b_g b_k (3t + t^2) with t = sqrt(2 ln(6/delta)/samples): with probability >= 1 - delta one entry of dQ from so
/// many samples is within this, where |g_il| <= b_g, |K| <= b_k (Hoeffding for E[gK], E[g] and E[K]; H25.DQ).
double query_gradient_error_bound(std::uint64_t samples, double scale, double g_bound, double key_bound, double delta);

/// What to draw.
struct SampledGradientOptions {
  std::uint64_t walks = 0;  ///< dV: for each sign and column, >= 1
  WalkSign sign = WalkSign::split;
  std::uint64_t samples = 0;  ///< dQ, dK: for each row, >= 1; up-weighted: l, the unlisted keys of a row
  /// Not samples of P_i but the listed keys with their weights, and `samples` uniform others weighted up (H25 Algorithm
  /// 2 for dQ; the same for dV and dK is ours). Biased through the quotient, with far less variance where the listed
  /// keys have mass.
  bool upweighted = false;
  double gap = 0.0;  ///< of the neighbours: no unlisted logit is above the worst listed one + gap
  std::uint64_t seed = 1;
};

/// Estimates dV (n_k x d_v) by one-step walks: start at row i with probability |y_i|/|y|_1, step to key l with P_il.
/// Or, up-weighted, by the estimated rows of P.
///
/// Accuracy  walks: unbiased; walk_samples
/// Threads   over rows; the result does not depend on their number
/// Cost      2 walks d_v draws; 2 n_k d_v counters
/// Errors    Error(parameter): shapes, an upstream that is not finite, walks = 0; masked or empty neighbours;
///           Error(interrupted)
problems::MatrixD sampled_value_gradient(const problems::Attention::Instance& instance,
                                         const problems::MatrixD& upstream, const ann::Neighbors& neighbors,
                                         const SampledGradientOptions& options, const Execution& execution = {});

/// Estimates dQ (n x d): three expectations of each row from one set of samples, or from listed keys and up-weighted
/// tail.
///
/// Accuracy  query_gradient_error_bound; biased by a factor 1 - 1/samples (the covariance of the sample itself)
/// Errors    as above, samples = 0
problems::MatrixD sampled_query_gradient(const problems::Attention::Instance& instance,
                                         const problems::MatrixD& upstream, const ann::Neighbors& neighbors,
                                         const SampledGradientOptions& options, const Execution& execution = {});

/// Estimates dK (n_k x d): `samples` keys of each row carry the gradient, and `samples` others estimate O_i.
///
/// Accuracy  unbiased, because the two sets are independent (H25.DK); with one set it would be biased by 1 - 1/samples.
///           Up-weighted: one set for both
/// Cost      2 n samples draws; 16 bytes a sample of 4096 rows
/// Errors    as above, samples = 0
problems::MatrixD sampled_key_gradient(const problems::Attention::Instance& instance, const problems::MatrixD& upstream,
                                       const ann::Neighbors& neighbors, const SampledGradientOptions& options,
                                       const Execution& execution = {});

}  // namespace subquad::attention
