// Attention by sampling: mean of samples, median of means (H25.T2.1), up-weighted tail (H25.T2.5), with explicit sample
// sizes.
#pragma once

#include <subquad/ann/neighbors.hpp>
#include <subquad/core/count.hpp>
#include <subquad/core/execution.hpp>
#include <subquad/core/random.hpp>
#include <subquad/problems/attention.hpp>

#include <cstdint>
#include <optional>

namespace subquad::attention {

/// Samples that give |estimate - O_ij| <= epsilon with probability >= 1 - delta for one entry: ceil(2 B_V^2
/// ln(2/delta)/ epsilon^2) (Hoeffding 1963). value_bound >= 0, epsilon > 0, delta in (0, 1), else Error(parameter).
std::uint64_t hoeffding_samples(double value_bound, double epsilon, double delta);

/// Groups (odd, ceil(8 ln(1/delta)) or one more) and group size ceil(4 variance/epsilon^2) of the median of means (H25
/// Theorem 2.1, additive form).
struct MedianOfMeansPlan {
  std::uint64_t groups = 0;
  std::uint64_t group_size = 0;
};
MedianOfMeansPlan median_of_means_plan(double variance_bound, double epsilon, double delta);
/// Multiplicative form, for 0 <= V <= B_V: group size ceil(4 B_V/(epsilon^2 O_ij)), from a lower bound of O_ij that the
/// caller must know (the paper leaves it implicit). lower_bound > 0.
MedianOfMeansPlan median_of_means_relative_plan(double value_bound, double lower_bound, double epsilon, double delta);

/// The least l for which k^2 l >= 2 e^{2 gap} B_V^2 (n - k)^2 ln(2/delta)/epsilon^2 (SQ.TAIL, ours: about 4.7 times
/// fewer than Theorem 2.5 asks for); 0 if k = n. gap >= 0: no unlisted logit is above the worst listed one + gap.
Count upweighted_tail_samples(std::uint64_t num_keys, std::uint64_t k, double value_bound, double epsilon, double delta,
                              double gap = 0.0);
/// The paper's: k^2 l >= 8 B_V^2 (n - k)^2 ln(4/delta)/epsilon^2, for an exact search (H25 Theorem 2.5); 0 if k = n.
Count upweighted_tail_samples_of_paper(std::uint64_t num_keys, std::uint64_t k, double value_bound, double epsilon,
                                       double delta);

/// How a row is estimated; page: docs/kernels/sampled_attention.md.
enum class Estimator { mean, median_of_means, upweighted_tail };

/// What to draw.
struct SampledOptions {
  Estimator estimator = Estimator::upweighted_tail;
  std::uint64_t samples = 0;  ///< mean: N; up-weighted tail: l; median of means: group size
  std::uint64_t groups = 1;   ///< median of means
  double gap = 0.0;           ///< of the neighbours, for the two that sample
  std::uint64_t seed = 1;     ///< row i uses Random(seed).split("row").split(i): rows do not depend on each other
};

/// The estimate and its cost.
struct SampledResult {
  problems::MatrixD output;  ///< n x d_v
  std::uint64_t logits = 0;  ///< logits computed beyond the listed ones, over all rows
};

/// Estimates every row. One set of samples a row serves all columns.
///
/// Errors  Error(parameter): shapes, samples = 0 (unless nothing is unlisted), groups = 0, a masked search;
///         Error(interrupted)
/// Threads over rows; the result does not depend on their number
SampledResult sampled_attention(const problems::Attention::Instance& instance, const ann::Neighbors& neighbors,
                                const SampledOptions& options, const Execution& execution = {});

}  // namespace subquad::attention
