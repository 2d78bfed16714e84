// Lazy Gumbel sampling: exact softmax samples from the k best keys and a few others (H25 Algorithm 1; Mussmann, Levy &
// Ermon 2017).
#pragma once

#include <subquad/core/random.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace subquad::attention {

/// How the maximum over the listed keys is drawn.
enum class GumbelHead {
  each_key,  ///< one Gumbel variable a listed key, as the paper says: O(k) a sample
  maximum    ///< their maximum at once: ln(sum e^z) + Gumbel, its place by an alias table: O(1) a sample, the same law
};

/// One sample and what it cost.
struct GumbelSample {
  std::uint32_t key = 0;
  std::uint64_t tail_draws = 0;  ///< m: unlisted keys whose logits were looked at
};

/// Sampler of one softmax row P(j) = e^{z_j}/sum e^{z}.
///
/// Law   exactly P if every unlisted key has z <= (worst listed logit) + gap; E[m] <= (n - k) e^gap/k (H25.GUM)
class LazyGumbelSampler {
 public:
  /// keys, logits: the k listed keys and their logits (any order; finite or -inf, not all -inf); num_keys = n >= k >=
  /// 1; logit(j): the logit of an unlisted key. gap >= 0. Error(parameter) otherwise, and for NaN. O(k).
  LazyGumbelSampler(std::span<const std::uint32_t> keys, std::span<const double> logits, std::uint64_t num_keys,
                    std::function<double(std::uint32_t)> logit, double gap = 0.0,
                    GumbelHead head = GumbelHead::maximum);
  GumbelSample draw(Random& random) const;
};

}  // namespace subquad::attention
