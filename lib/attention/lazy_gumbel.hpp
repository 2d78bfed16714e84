// Lazy Gumbel sampling: exact softmax samples from the k best keys and a few others (H25 Algorithm 1; MLE17).
#pragma once

#include <subquad/attention/unlisted_keys.hpp>
#include <subquad/core/random.hpp>

#include <boost/random/discrete_distribution.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace subquad::attention {

/// How the maximum over the listed keys is drawn.
enum class GumbelHead {
  each_key,  ///< one Gumbel variable a listed key, as the paper says: O(k) a sample
  /// their maximum at once: ln(sum e^z) + Gumbel, and its place by an alias table: O(1) a sample, the same law
  maximum,
  /// no Gumbel variable at all: rejection under the bound that the paper's algorithm rests on; the same law, O(1) a
  /// round, far fewer logits
  rejection
};

/// One sample and what it cost.
struct GumbelSample {
  std::uint32_t key = 0;
  std::uint64_t tail_draws = 0;  ///< m: unlisted keys whose logits were looked at
};

/// Sampler of one softmax row, P(j) = e^{z_j}/sum e^z over n keys, k of them listed.
///
/// Law      exactly P if every unlisted key has z <= (worst listed logit) + gap (up to the rounding of doubles)
/// Cost     of a draw: O(1) (or O(k): GumbelHead) and O(log k) and one logit for each of the m tail draws;
///          E[m] <= (n - k) e^gap/k (H25.GUM); rejection: E[m] <= (n - k) e^{L + gap}/sum e^z over *all* keys, L the
///          worst listed logit, which is at most 1 on a flat row, and within the same bound
/// Threads  draw() is const: one sampler may serve several threads, each with its own Random
class LazyGumbelSampler {
 public:
  using Logit = std::function<double(std::uint32_t key)>;

  /// keys, logits: the listed keys, distinct and below num_keys, in any order, and their logits (finite or -inf:
  /// masked; not all -inf); `logit(j)`: the logit of any key, finite or -inf, of a listed one the same number. num_keys
  /// >= k >= 1; gap >= 0, finite. Throws Error(parameter) otherwise, NaN included. O(k log k).
  LazyGumbelSampler(std::span<const std::uint32_t> keys, std::span<const double> logits, std::uint64_t num_keys,
                    Logit logit, double gap = 0.0, GumbelHead head = GumbelHead::rejection);

  /// Draws one key. Throws Error(parameter) if an unlisted key's logit is NaN or +inf.
  GumbelSample draw(Random& random) const;

 private:
  double draw_head(Random& random, std::optional<std::uint32_t>& key) const;
  double relative_logit(std::uint32_t key) const;
  std::optional<std::uint32_t> draw_by_rejection(Random& random, std::uint64_t& tail_draws) const;

  std::vector<std::uint32_t> keys_;
  std::vector<double> logits_;  // all logits are kept relative to the largest listed one
  UnlistedKeys unlisted_;
  std::uint64_t num_keys_;
  Logit logit_;
  GumbelHead head_;
  double largest_;     // of the listed logits
  double tail_bound_;  // no unlisted logit is above
  double smallest_;    // of the listed logits
  double base_share_;  // of the bound of all keys in the weight of a round's proposals
  double log_sum_;     // ln of the listed weights' sum
  boost::random::discrete_distribution<std::uint32_t, double> place_;
};

}  // namespace subquad::attention
