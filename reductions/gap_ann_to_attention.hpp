// GapANN -> attention: rows with a near key get an output above a threshold, far rows one below it.
//
// Claim SQ.GAP, mode refined (ours; proof: docs/proofs/gap_ann_to_attention.md)
//   for    n queries, n_k keys in {0,1}^d, thresholds -1 <= r_yes < r_no, 0 < eps_a < 1/2
//   builds Q: n x (d+e) rows s(2a_i - 1, 1_e); K: (n_k+1) x (d+e) rows s(2b_j - 1, 0_e) and one key (0_d, c_1 .. c_e);
//          V: rows 1 and 0; scale 1/(d+e) as a double; all entries float32 numbers,
//          |entries| <= B <= max(1, 1.001 sqrt((d+e) ln(rho n_k)/(2 (r_no - r_yes))))
//   then   near row  =>  u_i > 1/2 + eps_a;  far row  =>  u_i < 1/2 - eps_a
//   kind   the numbers stored are proved to do so, each time, by interval arithmetic; attained (tightness input)
//
// Claim AS23.L4.7, mode paper (Alman & Song 2023, Lemma 4.7, with its constants; every inequality in docs/proofs/...)
//   builds Q: 2n x 4d, K: 2n' x 4d with n' = max(n_k, 2), V: 2n' x 1, entries 0 and s >= sqrt(beta),
//          beta = 40 D ln n'/(t eps) for D = 2d, t = 2 r_yes + 1, (1+eps) t = 2 r_no; allowed error eps_a = n'^(-C_a)
//   then   near row  =>  u_i >= 3 t~ - eps_a >= 2 t~;  far row  =>  u_i <= 6 t~ n'^-9 + eps_a < 2 t~
//   kind   exact sizes; t~ and eps_a are far below the smallest double, so answers are read in the log domain
// Notation  u_i output of row i; rho = ((1+2 eps_a)/(1-2 eps_a))^2
// Notes     Thresholds are first brought into 0 <= r_yes < r_no <= d+1 without changing any row that the
//           promise decides; this needs one coordinate more if d = 0 or r_no = 0 (so that d above is then d+1).
#pragma once

#include <subquad/problems/attention.hpp>
#include <subquad/problems/gap_ann.hpp>
#include <subquad/reductions/reduction.hpp>
#include <subquad/reductions/tolerance.hpp>

#include <vector>

namespace subquad::reductions {

/// Gap approximate nearest neighbours to attention. Many-one; solve() also offers the paper's case of small t.
class GapAnnToAttention {
 public:
  using Source = problems::GapAnn;
  using Target = problems::Attention;

  enum class Mode {
    refined,  ///< one threshold key, constant error: for every kernel
    paper     ///< AS23's construction and constants: for oracles that work in the log domain
  };

  struct Parameters {
    Mode mode = Mode::refined;
    Tolerance tolerance;             ///< refined: eps_a in (0, 1/2), default 0.1; not used by paper, which fixes eps_a
    double small_t_constant = 0.25;  ///< paper: solve() enumerates when t < c ln n'; c >= 0, finite. The paper only
                                     ///< asks for a small constant; 0.25 is ours
    /// mode: refined|paper; tolerance: a decimal, read exactly; small_t_constant: a real number.
    static std::vector<ParameterSpec> specs();
    /// Throws Error(parameter) for an unknown name, a value outside its range, and a value given that its mode ignores.
    static Parameters parse(const ParameterValues& values);
    friend bool operator==(const Parameters&, const Parameters&) = default;
  };

  /// solve() refuses to enumerate more points than this, over all queries (about a minute).
  static constexpr std::uint64_t kMaxBallPoints = std::uint64_t{1} << 28;

  GapAnnToAttention() = default;
  /// Throws Error(parameter) if small_t_constant is negative or not finite.
  explicit GapAnnToAttention(Parameters parameters);

  static ReductionInfo info();
  /// All exact but refined's dim, an upper bound: the extra coordinates depend on ln n too.
  std::vector<SizeBound> size_bounds() const;

  /// Builds the attention instance of claim SQ.GAP or AS23.L4.7. In mode paper also where t is small.
  ///
  /// Cost    O((n + n_k)(d + e)) time and doubles; paper: 8 (n + n') d doubles
  /// Errors  Error(parameter) if the source is malformed (dimensions differ, thresholds not -1 <= r_yes < r_no);
  ///         Error(resource) if the matrices do not fit into the address space; Error(interrupted) on request
  Target::Instance reduce(const Source::Instance& source, const Execution& execution = {}) const;

  /// Mode refined: returns for every row whether the answer says near: output(i, 0) > 1/2.
  ///
  /// Errors  OracleRefuted with the row for a value that no kernel within its tolerance returns (NaN, infinite, outside
  ///         [-1/2, 3/2]); Error(parameter) for an output of the wrong shape
  static std::vector<bool> row_flags(const Target::Instance& target, const Target::Answer& answer);

  /// Reads near/far for every row.
  ///
  /// refined  row_flags()
  /// paper    compares the enclosures answer.log_column with ln(2 t~). An enclosure around the threshold leaves a row
  ///          outside the promise at far (any answer is right) and is otherwise Error(undecided); which one it is costs
  ///          O(n_k d/64) for such a row
  /// Errors   those of row_flags; paper: Error(unsupported) if the answer has no log_column, OracleRefuted for
  ///          an enclosure that is empty or NaN; Error(parameter) if target is not of the size that source gives or
  ///          answer not of target's
  Source::Answer lift(const Source::Instance& source, const Target::Instance& target,
                      const Target::Answer& answer) const;

  /// Solves GapANN with an attention oracle. In mode paper with t = 2 r_yes + 1 < small_t_constant ln n' no oracle is
  /// called: all points within r_yes of each query are looked up in a hash table of the keys.
  ///
  /// Errors  those of reduce and lift; Error(resource), with the number of points, beyond kMaxBallPoints
  Source::Answer solve(const Source::Instance& source, const Oracle<Target>& oracle,
                       const Execution& execution = {}) const;

 private:
  Parameters parameters_;
};

}  // namespace subquad::reductions
