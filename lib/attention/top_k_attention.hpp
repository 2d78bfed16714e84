// Top-k attention with a certificate: softmax over the k best keys, and what that can cost, row by row.
#pragma once

#include <subquad/ann/neighbors.hpp>
#include <subquad/core/execution.hpp>
#include <subquad/problems/attention.hpp>

#include <Eigen/Core>
#include <optional>

namespace subquad::attention {

/// The output and its certificates.
struct TopKResult {
  problems::MatrixD output;  ///< n x d_v
  /// tau_i: proved upper bound of the softmax mass outside the listed keys (SQ.KNN), rounding included. 0 if all are
  /// listed.
  Eigen::VectorXd tail_mass;
  /// Proved: row i differs from exact attention by at most this in every entry: tau_i times the largest spread of a
  /// value column over the visible keys, plus rounding. +inf where the search promises nothing and no gap was given.
  Eigen::VectorXd error_bound;
};

/// Softmax attention restricted to the listed keys (what H25's experiments run), for scale >= 0.
///
/// Certificate  tau_i = (m e^L)/(sum over listed e^z + m e^L), m visible keys not listed, L an upper bound of their
///              logits: from an exact search the worst listed logit plus its rounding; from an approximate one, with
///              `gap` c, the worst listed logit + c. `neighbors.mask` is the mask of the attention.
/// Accuracy     logits of the listed keys are computed again in double; error_bound includes that rounding
/// Cost         O(n k (d + d_v)) time, O(k) memory a thread
/// Errors       Error(parameter) for mismatched shapes, scale < 0 or not finite, gap < 0, rows without any key;
///              Error(interrupted)
TopKResult top_k_attention(const problems::Attention::Instance& instance, const ann::Neighbors& neighbors,
                           std::optional<double> gap = std::nullopt, const Execution& execution = {});

}  // namespace subquad::attention
