// Assignment vectors: the 0/1 vectors that one part of a split formula contributes to k-SAT -> OV and k-SAT -> p-OV.
//
// Notation  A part is h consecutive variables. Index idx in [0, 2^h) is an assignment: bit j is the value of variable
//           first + j. Kept clauses c_0 .. c_{m-1} give the coordinates:
//             vector[idx][c] = 1  iff  no literal of clause c on a variable of the part is satisfied by idx.
//           P_j, N_j: masks of the kept clauses that contain the part's j-th variable positively, negatively.
//           W = ceil(m/64) words.
// Cost      All vectors by prefix doubling: (2^(h+1) - 2) W and-nots in place, 2^h W words. Streamed in index order
//           with a stack of h+1 partial vectors: the same count, (h+1) W words. One vector: h W and-nots.
// Notes     Why no Gray code: neighbours differ in one variable, but a clause may lose its last satisfied literal, so
//           counters per clause would be needed. The stack of partial ANDs needs none.
#pragma once

#include <subquad/core/bit_matrix.hpp>
#include <subquad/core/count.hpp>
#include <subquad/core/execution.hpp>
#include <subquad/sat/cnf.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace subquad::reductions {

/// Which clauses become coordinates.
struct ClauseSelection {
  bool drop_tautologies = false;  ///< clauses with x and not-x: satisfied by everything, their coordinate is always 0
  bool drop_duplicates = false;   ///< clauses equal as sets of literals to an earlier one

  friend bool operator==(const ClauseSelection&, const ClauseSelection&) = default;
};

/// Returns the indices of the kept clauses, ascending. The empty clause is kept (once, with drop_duplicates).
std::vector<std::uint64_t> select_clauses(const sat::Cnf& formula, const ClauseSelection& selection);

/// The vectors of one part. Regular; holds the masks only, never the vectors.
class AssignmentVectors {
 public:
  /// The part of variables [first, first + count), with a coordinate for every clause of `kept`.
  /// Throws Error(parameter) if the range leaves the formula or a clause index is out of range, and Error(resource) if
  /// 2^count indices do not fit into 64 bits; nothing is allocated before.
  AssignmentVectors(const sat::Cnf& formula, std::uint32_t first, std::uint64_t count,
                    std::span<const std::uint64_t> kept);

  std::uint64_t num_variables() const noexcept { return count_; }
  /// 2^num_variables().
  std::uint64_t num_vectors() const noexcept { return std::uint64_t{1} << count_; }
  std::uint64_t dim() const noexcept { return dim_; }
  std::uint64_t words_per_vector() const noexcept { return masks_.words_per_row(); }
  /// Bytes that build() allocates for the rows.
  Count size_bytes() const { return Count(num_vectors()) * words_per_vector() * sizeof(std::uint64_t); }

  /// Writes the vector of assignment `index` (below num_vectors()) into `out` (words_per_vector() words).
  void vector(std::uint64_t index, std::span<std::uint64_t> out) const;

  /// Calls visit(index, words) for every index in ascending order; `words` is valid during the call. Returns the number
  /// of word and-nots done: exactly (2^(h+1) - 2) W.
  std::uint64_t for_each_vector(
      const std::function<void(std::uint64_t index, std::span<const std::uint64_t> words)>& visit) const;

  /// A matrix with all vectors as rows, by prefix doubling, and the number of word and-nots it took. Independent of the
  /// number of threads. Throws Error(resource) if the machine does not have the memory for it (require_memory).
  struct Built {
    BitMatrix rows;
    std::uint64_t and_nots = 0;
  };
  Built build(const Execution& execution) const;

 private:
  std::span<const std::uint64_t> positive(std::uint64_t j) const { return masks_.row(2 * j); }
  std::span<const std::uint64_t> negative(std::uint64_t j) const { return masks_.row(2 * j + 1); }

  std::uint64_t count_ = 0;  // h
  std::uint64_t dim_ = 0;    // m
  BitMatrix masks_;          // (2h) x m: rows P_0, N_0, P_1, N_1, ...
};

/// Throws Error(resource), with the numbers, if building all these parts needs more memory than the machine has free.
/// To be asked before the first of several parts is built.
void require_memory(std::span<const AssignmentVectors> parts);

}  // namespace subquad::reductions
