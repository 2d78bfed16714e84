// OV -> attention: row i has an orthogonal partner iff output row i exceeds 1/2.
//
// Claim SQ.OV (ours; proof: docs/proofs/ov_to_attention.md; compare AS23 Lemma 4.7)
//   for    n_k >= 0 keys, n >= 0 queries, m >= 0, 0 < eps_a < 1/2, a_i, b_j in {0,1}^m
//   builds Q: n x (m+1) rows s(a_i, 1); K: (n_k+1) x (m+1) rows -s(b_j, 0) and (0, c); V: (n_k+1) x 1 rows 1 and 0;
//          scale 1/(m+1) as a double; all entries float32 numbers,
//          |entries| <= B <= max(1, 1.001 sqrt((m+1) ln(rho n_k)))
//   then   row i has a partner  =>  u_i > 1/2 + eps_a;  otherwise  u_i < 1/2 - eps_a
//   kind   exact sizes; the numbers stored are proved to do so, each time, by interval arithmetic
// Notation  u_i output of row i; rho = ((1 + 2 eps_a)/(1 - 2 eps_a))^2; s, c from threshold_key.hpp
// Cost      O(n m + n_k m) time, n (m+1) + (n_k+1)(m+2) doubles
// Notes     One extra key suffices, because only the sum of the other keys' weights has to be compared with a constant.
//           n_k = 0: the extra key is alone and every row is 0. m = 0: every pair is orthogonal.
#pragma once

#include <subquad/problems/attention.hpp>
#include <subquad/problems/orthogonal_vectors.hpp>
#include <subquad/reductions/reduction.hpp>
#include <subquad/reductions/tolerance.hpp>

#include <vector>

namespace subquad::reductions {

/// Orthogonal vectors to attention with constant additive error. Many-one.
class OvToAttention {
 public:
  using Source = problems::OrthogonalVectors;
  using Target = problems::Attention;

  struct Parameters {
    Tolerance tolerance;  ///< eps_a, the additive error that the kernel may have; (0, 1/2), default 0.1

    /// tolerance: a decimal, read exactly.
    static std::vector<ParameterSpec> specs();
    /// Throws Error(parameter) for an unknown name or a tolerance outside (0, 1/2).
    static Parameters parse(const ParameterValues& values);
    friend bool operator==(const Parameters&, const Parameters&) = default;
  };

  OvToAttention() = default;
  explicit OvToAttention(Parameters parameters) : parameters_(std::move(parameters)) {}

  static ReductionInfo info();
  /// All exact: num_queries = num_a, num_keys = num_b + 1, dim = dim + 1, value_dim = 1.
  std::vector<SizeBound> size_bounds() const;

  /// Builds the attention instance of claim SQ.OV.
  ///
  /// Determinism  depends on source and parameters only
  /// Errors       Error(parameter) if the dimensions of the two sides differ; Error(resource) if the matrices do
  ///              not fit into the address space; Error(interrupted) on request
  Target::Instance reduce(const Source::Instance& source, const Execution& execution = {}) const;

  /// Returns for every row whether the answer claims an orthogonal partner: output(i, 0) > 1/2. Right for all rows if
  /// the output is within eps_a of attention.
  ///
  /// Errors  OracleRefuted with the row for a value that no kernel within its tolerance returns (NaN, infinite, outside
  ///         [-1/2, 3/2]); Error(parameter) for an output of the wrong shape
  static std::vector<bool> row_flags(const Target::Instance& target, const Target::Answer& answer);

  /// Finds the partner of the first flagged row by one scan of B. O(n + n_k m/64).
  ///
  /// Returns  the pair, or nothing if no row is flagged; other rows are believed here (verifiers scan them)
  /// Errors   OracleRefuted with the row if that row has no partner, and those of row_flags; Error(parameter) if the
  ///          target is not an instance made from source (its sizes differ)
  Source::Answer lift(const Source::Instance& source, const Target::Instance& target,
                      const Target::Answer& answer) const;

 private:
  Parameters parameters_;
};

}  // namespace subquad::reductions
