// CNF-SAT -> p-OV: satisfying assignments are orthogonal p-tuples.
//
// Claim W05.P  (Williams 2005, split into p parts; docs/reductions/cnf_to_p_ov.md)
//   for    a formula F with n variables and clauses c_0 .. c_{m-1}, p >= 1 (also p > n)
//   builds p matrices; part q has the vectors of its own run of consecutive variables (assignment_vectors.hpp), the
//          first n mod p runs have ceil(n/p) variables, the others floor(n/p)
//   then   the AND of one vector a part is 0  <=>  the joined assignment satisfies F: #models = #orthogonal tuples
//   kind   exact sizes; dim is exact unless clauses are dropped
//   check  tests/battery    control: one bit of one clause mask dropped
// Notation  p parts, h variables in a part
// Cost      sum over parts of (2^(h+1) - 2) ceil(m/64) and-nots
// Notes     p = 1: a zero vector is a model. p > n: the last parts have no variable and one all-ones vector each.
#pragma once

#include <subquad/problems/orthogonal_tuples.hpp>
#include <subquad/reductions/assignment_vectors.hpp>
#include <subquad/reductions/reduction.hpp>
#include <subquad/sat/cnf.hpp>

#include <cstdint>
#include <vector>

namespace subquad::reductions {

/// CNF-SAT -> p-OV, many-one and parsimonious.
class CnfToPOv {
 public:
  using Source = sat::CnfSat;
  using Target = problems::OrthogonalTuples;

  /// Most parts that are accepted: each is a matrix of its own.
  static constexpr std::uint64_t kMostParts = 1'000'000;

  struct Parameters {
    std::uint64_t parts = 3;  ///< p, 1 <= p <= kMostParts
    ClauseSelection clauses;

    static std::vector<ParameterSpec> specs();
    /// Throws Error(parameter) for an unknown name or an unreadable value.
    static Parameters parse(const ParameterValues& values);
    friend bool operator==(const Parameters&, const Parameters&) = default;
  };

  CnfToPOv() = default;
  /// Throws Error(parameter) unless 1 <= parts <= kMostParts.
  explicit CnfToPOv(Parameters parameters);

  static ReductionInfo info();
  /// num_parts = p, max_part = 2^ceil(n/p), num_tuples = 2^n exact; dim = num_clauses exact, or an upper bound if
  /// clauses may be dropped.
  std::vector<SizeBound> size_bounds() const;

  /// Builds the parts by prefix doubling. Independent of the number of threads. Throws Error(resource) if a part's
  /// vectors cannot be numbered or do not fit into the machine's memory.
  problems::OrthogonalTuples::Instance reduce(const sat::Cnf& formula, const Execution& execution = {}) const;

  /// The model whose bits are the indices of the tuple; "unsatisfiable" if there is none. O(p dim + n).
  /// Throws OracleRefuted (row = index in the first part) if the tuple does not exist or is not orthogonal;
  /// Error(parameter) if `target` cannot have come from `formula`. The answer "none" is passed on unverified.
  sat::CnfSat::Answer lift(const sat::Cnf& formula, const problems::OrthogonalTuples::Instance& target,
                           const problems::OrthogonalTuples::Answer& answer) const;

  /// Number of variables of part q, 0 <= q < p.
  std::uint64_t part_variables(const sat::Cnf& formula, std::uint64_t q) const;

 private:
  Parameters parameters_;
};

}  // namespace subquad::reductions
