// CNF-SAT -> OV: satisfying assignments are orthogonal pairs (split and list).
//
// Claim W05  (Williams 2005; the map as stated here: docs/reductions/cnf_to_ov.md)
//   for    a formula F with n variables and clauses c_0 .. c_{m-1} (any, also empty ones), 0 <= L <= n
//   builds A: 2^L x m and B: 2^(n-L) x m; row idx of A belongs to the assignment idx of variables 0 .. L-1 (bit j is
//          the value of variable j), row idx of B to that of variables L .. n-1; entry c is 1 iff this half satisfies
//          no literal of c
//   then   <a_i, b_j> = 0  <=>  the assignment (i, j) satisfies F: #models = #orthogonal pairs
//   kind   exact sizes; dim is exact unless clauses are dropped
//   check  tests/battery    control: one bit of one clause mask dropped
// Notation  L left variables; balanced: L = ceil(n/2)
// Cost      (2^(L+1) + 2^(n-L+1) - 4) ceil(m/64) and-nots, (2^L + 2^(n-L)) ceil(m/64) words
// Notes     Repeated literals change nothing. A tautology's coordinate is 0 on a side that holds its variable, so
//           keeping it is harmless and keeps dim exact; dropping it (and repeated clauses) is an option.
#pragma once

#include <subquad/problems/orthogonal_vectors.hpp>
#include <subquad/reductions/assignment_vectors.hpp>
#include <subquad/reductions/reduction.hpp>
#include <subquad/sat/cnf.hpp>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace subquad::reductions {

/// CNF-SAT -> OV, many-one and parsimonious.
class CnfToOv {
 public:
  using Source = sat::CnfSat;
  using Target = problems::OrthogonalVectors;

  struct Parameters {
    /// Number of variables on the left; nothing: ceil(n/2).
    std::optional<std::uint64_t> left_variables;
    ClauseSelection clauses;

    static std::vector<ParameterSpec> specs();
    /// Throws Error(parameter) for an unknown name or an unreadable value.
    static Parameters parse(const ParameterValues& values);
    friend bool operator==(const Parameters&, const Parameters&) = default;
  };

  CnfToOv() = default;
  explicit CnfToOv(Parameters parameters) : parameters_(parameters) {}

  static ReductionInfo info();
  /// num_a, num_b exact; dim = num_clauses exact, or an upper bound if clauses may be dropped.
  std::vector<SizeBound> size_bounds() const;

  /// Builds both sides by prefix doubling. Independent of the number of threads.
  /// Throws Error(parameter) if left_variables exceeds n, Error(resource) if the vectors cannot be numbered or do not
  /// fit into the machine's memory (before anything is allocated).
  problems::OrthogonalVectors::Instance reduce(const sat::Cnf& formula, const Execution& execution = {}) const;

  /// The model whose bits are the two indices of the pair; "unsatisfiable" if there is none. O(dim + n).
  /// Throws OracleRefuted (row = index in A) if the pair does not exist or is not orthogonal; Error(parameter) if
  /// `target` cannot have come from `formula`. The answer "none" is passed on unverified: only the oracle has seen
  /// every pair.
  sat::CnfSat::Answer lift(const sat::Cnf& formula, const problems::OrthogonalVectors::Instance& target,
                           const problems::OrthogonalVectors::Answer& answer) const;

  /// The vectors of one side without building them: streamed, or one at a time.
  AssignmentVectors left(const sat::Cnf& formula) const;
  AssignmentVectors right(const sat::Cnf& formula) const;

  /// The indices (i, j) of the pair that a model is mapped to. The model has n values, else Error(parameter).
  std::pair<std::uint64_t, std::uint64_t> push_forward(const sat::Cnf& formula, const sat::Model& model) const;

 private:
  std::uint64_t left_count(const sat::Cnf& formula) const;

  Parameters parameters_;
};

}  // namespace subquad::reductions
