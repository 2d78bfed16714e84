// Adaptive top-k attention: for each query as many keys as the tolerance needs, at most all; the kernel `knn`.
#pragma once

#include <subquad/ann/neighbors.hpp>
#include <subquad/core/execution.hpp>
#include <subquad/problems/attention.hpp>

#include <cstdint>
#include <vector>

namespace subquad::attention {

/// The output, within the tolerance for certain, and how many keys that took.
struct AdaptiveTopKResult {
  problems::MatrixD output;         ///< n x d_v
  Eigen::VectorXd error_bound;      ///< proved, <= tolerance
  std::vector<std::uint64_t> keys;  ///< n: the keys that each row was made of
};

/// Starts with k = max(16, ceil(sqrt n_k)) keys a query and multiplies k by 4 for the queries whose certificate
/// (SQ.KNN) is above the tolerance. How far it has to go is what a hard instance is about: k = n_k on the instances of
/// the lower bounds.
///
/// Accuracy  every entry within error_bound[i] <= tolerance of exact attention; the search is in `arithmetic`
/// Cost      O(n n_k d) for each round of searches, O(log n_k) rounds; rows that need all keys cost O(n_k (d + d_v))
///           each
/// Errors    Error(parameter): as problems::validate, scale < 0, tolerance <= 0 or NaN; Error(undecided) if the
///           rounding of doubles alone may exceed the tolerance: the message has row, bound and tolerance;
///           Error(interrupted)
AdaptiveTopKResult adaptive_top_k_attention(const problems::Attention::Instance& instance, double tolerance,
                                            ann::Arithmetic arithmetic = ann::Arithmetic::float32,
                                            const Execution& execution = {});

}  // namespace subquad::attention
