// Distance order: is the distance of two vectors of doubles at most t? Decided exactly, for three metrics.
#pragma once

#include <subquad/exact/rational.hpp>
#include <subquad/problems/attention.hpp>
#include <subquad/verifiers/anna.hpp>

#include <cstdint>
#include <vector>

namespace subquad::verifiers {

/// Where a distance lies between two thresholds.
enum class DistanceClass {
  near,    ///< <= r
  middle,  ///< > r and <= c r
  far      ///< > c r
};

/// Compares distances of rows of q and k with r and c r. Double arithmetic with a proved bound of its error decides
/// where it can, rational arithmetic where it cannot (SQ.DISTANCE, docs/proofs/distance_order.md).
///
/// Euclidean: |x - y|^2 against t^2. Angular: 2 - 2 cos against t^2, in rationals as an inequality of <x, y>^2 and
/// |x|^2 |y|^2 without a root. Hamming: a count of coordinates.
class DistanceOrder {
 public:
  /// q, k: finite, equal widths, no zero row for the angular metric; r >= 0; c >= 1, all checked by the caller.
  DistanceOrder(const Eigen::Ref<const problems::MatrixD>& q, const Eigen::Ref<const problems::MatrixD>& k,
                AnnaMetric metric, double radius, double ratio);

  /// Thread-safe. Adds 1 to `exact_count` if rationals were needed.
  DistanceClass classify(Eigen::Index query, Eigen::Index key, std::uint64_t& exact_count) const;

 private:
  /// t >= 0, its square exactly, and doubles around that.
  struct Threshold {
    explicit Threshold(const exact::Rational& t);
    exact::Rational square;
    double below;  // <= t^2
    double above;  // >= t^2
  };
  /// An enclosure of a squared distance.
  struct Enclosure {
    double low;
    double high;
  };

  Enclosure euclidean(const double* x, const double* y) const;
  Enclosure angular(Eigen::Index query, Eigen::Index key) const;
  bool exactly_within(Eigen::Index query, Eigen::Index key, const Threshold& threshold) const;

  Eigen::Ref<const problems::MatrixD> q_;
  Eigen::Ref<const problems::MatrixD> k_;
  AnnaMetric metric_;
  Threshold near_;
  Threshold far_;
  Eigen::Index near_count_ = 0;  // Hamming: floor(r) and floor(c r), at most d
  Eigen::Index far_count_ = 0;
  double relative_ = 0.0;
  double absolute_ = 0.0;
  // Angular: rows scaled by powers of two so that the largest entry is in [1/2, 1), and their squared lengths.
  problems::MatrixD scaled_q_, scaled_k_;
  std::vector<double> squares_q_, squares_k_;
};

}  // namespace subquad::verifiers
