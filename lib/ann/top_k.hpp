// Exact top-k search: a blocked matrix product with a streaming selection, never an n x n_k matrix.
#pragma once

#include <subquad/ann/neighbors.hpp>
#include <subquad/core/execution.hpp>

namespace subquad::ann {

/// What to search for.
struct TopKOptions {
  Similarity similarity = Similarity::inner_product;
  problems::AttentionMask mask;
};

/// Returns the k best keys of each query among the *computed* scores: sums of products in the arithmetic (for
/// Similarity::euclidean |q - k|^2 = |q|^2 - 2<q, k> + |k|^2, so that near-ties at large norms are decided by rounding,
/// as `score_error` says).
///
/// Shapes    q: n x d, k: n_k x d, row-major; 1 <= count <= n_k < 2^32 - 1
/// Ranges    finite entries
/// Accuracy  result.score_error, proved (ANN.TOPK)
/// Threads   over blocks of queries; the result does not depend on their number (it may differ between SIMD targets in
///           the last bits of scores)
/// Cost      O(n n_k d) time; O(count + d) numbers a query and thread block beyond the result, and 16 MiB of packed
///           keys
/// Errors    Error(parameter) for count = 0, count > n_k, mismatched shapes, NaN or infinite entries with their place,
///           and scores that could overflow the arithmetic; Error(interrupted) on request
Neighbors exact_top_k(const Eigen::Ref<const problems::MatrixF>& q, const Eigen::Ref<const problems::MatrixF>& k,
                      std::uint64_t count, const TopKOptions& options = {}, const Execution& execution = {});
Neighbors exact_top_k(const Eigen::Ref<const problems::MatrixD>& q, const Eigen::Ref<const problems::MatrixD>& k,
                      std::uint64_t count, const TopKOptions& options = {}, const Execution& execution = {});
/// Float32 arithmetic on doubles, each entry rounded once; score_error includes that rounding.
Neighbors exact_top_k_in_float32(const Eigen::Ref<const problems::MatrixD>& q,
                                 const Eigen::Ref<const problems::MatrixD>& k, std::uint64_t count,
                                 const TopKOptions& options = {}, const Execution& execution = {});

}  // namespace subquad::ann
