// (1+eps)-ANN -> GapANN: binary search over thresholds, then halving of the keys (a Turing reduction).
//
// Claim ANN.DEC  (folklore since Indyk and Motwani 1998; integer form ours: docs/reductions/ann_to_gap_ann.md)
//   for    D coordinates, n_k >= 1 keys, eps = eps_num / eps_den >= 0, and any GapANN oracle that is right inside its
//          promise (and arbitrary outside)
//   gives  for every query a value <= dmin and a key at distance <= floor((1+eps) value)
//   calls  every query is asked at most ceil(log2 #thresholds) + ceil(log2 n_k) times; queries with the same midpoint
//          share a call. #thresholds = D + 1, or about 1/eps' + log(eps' D)/eps' with the grid
//   kind   upper bounds, for the instance of every call: dim exact, r_yes <= D - 1, r_no <= D + 1
//   check  tests/battery    control: threshold not relaxed after a yes
// Notation  eps' = gap of the calls: (1+eps')^s <= 1 + eps, s = 1 + ceil(log2 n_k) steps (one more with the grid)
#pragma once

#include <subquad/problems/approximate_nearest_neighbor.hpp>
#include <subquad/problems/gap_ann.hpp>
#include <subquad/reductions/reduction.hpp>

#include <vector>

namespace subquad::reductions {

/// (1+eps)-ANN -> GapANN, Turing.
class AnnToGapAnn {
 public:
  using Source = problems::ApproximateNearestNeighbor;
  using Target = problems::GapAnn;

  struct Parameters {
    bool grid = false;  ///< a geometric grid of thresholds instead of all integers: fewer calls, a smaller gap each

    static std::vector<ParameterSpec> specs();
    /// Throws Error(parameter) for an unknown name or an unreadable value.
    static Parameters parse(const ParameterValues& values);
    friend bool operator==(const Parameters&, const Parameters&) = default;
  };

  AnnToGapAnn() = default;
  explicit AnnToGapAnn(Parameters parameters) : parameters_(parameters) {}

  static ReductionInfo info();
  /// Of the instance of every call.
  std::vector<SizeBound> size_bounds() const;

  /// Throws Error(parameter) for an invalid instance, Error(input) if the oracle returns a wrong number of rows, and
  /// OracleRefuted with the row if the key that its answers lead to is nearer than the value or farther than
  /// floor((1+eps) value): a correct oracle never leads there. Reduction's own work: O((n + n_k) D/64) a round.
  problems::ApproximateNearestNeighbor::Answer solve(const problems::ApproximateNearestNeighbor::Instance& instance,
                                                     const Oracle<problems::GapAnn>& oracle,
                                                     const Execution& execution = {}) const;

 private:
  Parameters parameters_;
};

}  // namespace subquad::reductions
