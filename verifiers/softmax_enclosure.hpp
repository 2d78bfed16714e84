// Softmax enclosure: enclosures of attention outputs from double arithmetic and a proved forward error bound.
//
// Theorem   SQ.ENCLOSURE (docs/proofs/attention_output.md): |u - u_computed| <= bound, for every instruction set.
// Requires  IEEE 754 doubles, round to nearest, subnormals kept (checked: require_ieee_arithmetic).
#pragma once

#include <subquad/problems/attention.hpp>
#include <subquad/problems/attention_mask.hpp>
#include <subquad/verifiers/attention_output.hpp>
#include <subquad/verifiers/weighted_sums.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace subquad::verifiers {

/// Factors of the parts of the error bound. All 1 is the theorem; tests weaken one part to see that they notice.
struct BoundFactors {
  double logit = 1.0;  ///< dot products and scale
  double exponential = 1.0;
  double sum = 1.0;        ///< sums and quotient
  double underflow = 1.0;  ///< weights and products that vanish
};

/// Throws Error(unsupported) unless the calling thread's double arithmetic is what the proof assumes.
void require_ieee_arithmetic();

/// Encloses rows of softmax(scale * q k^T) v. Immutable after construction, shared by threads.
class SoftmaxEnclosure {
 public:
  static constexpr std::size_t kRowBlock = WeightedSums::kQueryBlock;

  /// The instance must be valid (problems::validate), have at least one key, and outlive this object.
  /// With a mask, row i is softmax over the first mask.visible(i, n_k) keys.
  explicit SoftmaxEnclosure(const problems::Attention::Instance& instance, const BoundFactors& factors = {},
                            const problems::AttentionMask& mask = {});

  /// enclosures: rows.size() x d_v, row-major; at most kRowBlock rows. Every enclosure holds the exact value. Where the
  /// bound says nothing (overflow, astronomical logits) it is the range of the column of v, which always holds it.
  void enclose(std::span<const std::uint64_t> rows, EntryEnclosure* enclosures) const;

 private:
  struct Column {
    double lowest;
    double highest;
    double magnitude;  ///< largest absolute value
  };

  double relative_weight_error(double query_norm_bound) const;
  EntryEnclosure entry(const Column& column, double weight_error, double numerator, double denominator) const;

  const problems::Attention::Instance& instance_;
  BoundFactors factors_;
  problems::AttentionMask mask_;
  std::vector<Column> columns_;
  double logit_scale_;  ///< fl(scale * log2 e): base-2 logits
  double largest_key_norm_bound_;
  WeightedSums sums_;
};

}  // namespace subquad::verifiers
