// One softmax row as the estimators see it: the listed keys with their logits, and the logits of others on demand.
#pragma once

#include <subquad/ann/neighbors.hpp>
#include <subquad/attention/lazy_gumbel.hpp>
#include <subquad/core/random.hpp>
#include <subquad/problems/attention.hpp>

#include <cstdint>
#include <vector>

namespace subquad::attention {

/// Throws Error(parameter) for an invalid instance, a scale < 0, neighbours of another shape or by distance, masked or
/// empty rows, or a gap < 0.
void check_sampling(const problems::Attention::Instance& instance, const ann::Neighbors& neighbors, double gap);

/// Every row lists every key: nothing is left to sample.
bool lists_all_keys(const problems::Attention::Instance& instance, const ann::Neighbors& neighbors);

/// A key with an unnormalised weight.
struct WeightedKey {
  std::uint32_t key;
  double weight;
};

/// Refers to the instance, which must outlive it. Throws Error(parameter) for a key out of range or listed twice, and
/// for a logit that overflows.
class SampledRow {
 public:
  SampledRow(const problems::Attention::Instance& instance, const ann::Neighbors& neighbors, std::uint64_t row);

  const problems::Attention::Instance& instance() const { return instance_; }
  std::uint64_t listed() const { return keys_.size(); }
  double logit(std::uint32_t key) const;
  /// gap: of an approximate search, on top of what the rounding of an exact one leaves open.
  LazyGumbelSampler sampler(double gap) const;
  /// The listed keys with weights e^z, and `samples` uniform others (with replacement), each with weight e^z (n -
  /// k)/samples, all divided by the largest e^z among them (H25 Algorithm 2).
  std::vector<WeightedKey> upweighted(std::uint64_t samples, Random& random) const;

 private:
  const problems::Attention::Instance& instance_;
  Eigen::Index row_;
  std::vector<std::uint32_t> keys_;
  std::vector<double> logits_;
  double rounding_gap_ = 0.0;  // how far a key that an exact search passed over may be above the worst listed one
};

}  // namespace subquad::attention
