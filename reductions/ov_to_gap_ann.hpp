// OV -> GapANN: three bits a coordinate turn inner products into Hamming distances.
//
// Claim OV.HAM  (ours; docs/reductions/ov_to_gap_ann.md)
//   for    a_i, b_j in {0,1}^d, d >= 0
//   builds points of 3d bits, f(0) = 001, f(1) = 010 on the a side, g(0) = 011, g(1) = 101 on the b side;
//          r_yes = d, r_no = d + 2
//   then   dist(f(a_i), g(b_j)) = d + 2 <a_i, b_j>; so row i is near  <=>  a_i has an orthogonal partner,
//          and no row is outside the promise
//   kind   exact sizes; optimal in length and in gap ratio among all such codes (hamming_gadgets.hpp)
//   check  tests/battery    control: one gadget bit flipped
// Notation  balanced: d is rounded up to even by a (0,0) coordinate and odd coordinates use the complemented code; then
//           every point has exactly half of its bits set: same distances, no doubling
// Cost      O((num_a + num_b) d / 8) table look-ups
#pragma once

#include <subquad/problems/gap_ann.hpp>
#include <subquad/problems/orthogonal_vectors.hpp>
#include <subquad/reductions/reduction.hpp>

#include <vector>

namespace subquad::reductions {

/// OV -> GapANN, many-one.
class OvToGapAnn {
 public:
  using Source = problems::OrthogonalVectors;
  using Target = problems::GapAnn;

  struct Parameters {
    bool balanced = false;  ///< every point gets weight exactly half its dimension

    static std::vector<ParameterSpec> specs();
    /// Throws Error(parameter) for an unknown name or an unreadable value.
    static Parameters parse(const ParameterValues& values);
    friend bool operator==(const Parameters&, const Parameters&) = default;
  };

  OvToGapAnn() = default;
  explicit OvToGapAnn(Parameters parameters) : parameters_(parameters) {}

  static ReductionInfo info();
  /// All exact: num_queries = num_a, num_keys = num_b, dim = 3 d', r_yes = d', r_no = d' + 2 with d' = d, or d rounded
  /// up to even if balanced.
  std::vector<SizeBound> size_bounds() const;

  /// Queries are the f images of a, keys the g images of b. Independent of the number of threads.
  /// Throws Error(parameter) if the sides differ in dim, Error(resource) if 3d does not fit into 63 bits.
  problems::GapAnn::Instance reduce(const problems::OrthogonalVectors::Instance& instance,
                                    const Execution& execution = {}) const;

  /// Takes the first row flagged near and finds its smallest orthogonal partner in one scan, O(num_b d/64); no flag:
  /// "none". Throws OracleRefuted with the row if it has no partner, Error(input) if the answer has not one value a
  /// query. Rows that are not flagged are not examined.
  problems::OrthogonalVectors::Answer lift(const problems::OrthogonalVectors::Instance& instance,
                                           const problems::GapAnn::Instance& target,
                                           const problems::GapAnn::Answer& answer) const;

 private:
  Parameters parameters_;
};

}  // namespace subquad::reductions
