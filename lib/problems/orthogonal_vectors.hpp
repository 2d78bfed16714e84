// Orthogonal vectors (OV): is there a pair a in A, b in B with <a,b> = 0?
//
// Notes  Bichromatic; d = 0 makes every pair orthogonal; an empty side makes the answer no.
#pragma once

#include <subquad/core/bit_matrix.hpp>
#include <subquad/core/problem.hpp>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>

namespace subquad::problems {

/// OV as a problem (id "ov"). Sizes: num_a, num_b, dim.
struct OrthogonalVectors {
  static constexpr std::string_view kId = "ov";
  static constexpr std::string_view kTitle = "orthogonal vectors";
  static constexpr std::string_view kExtension = ".ov";

  /// a: num_a x dim, b: num_b x dim over {0,1}; equal dim.
  struct Instance {
    BitMatrix a;
    BitMatrix b;
    friend bool operator==(const Instance&, const Instance&) = default;
  };
  /// Indices (0-based) of an orthogonal pair, or nothing if there is none.
  struct Answer {
    std::optional<std::pair<std::uint64_t, std::uint64_t>> witness;
    friend bool operator==(const Answer&, const Answer&) = default;
  };

  static std::vector<std::string> size_fields();
  static Sizes size(const Instance& instance);
  static Digest digest(const Instance& instance);
  /// All pairs, lexicographically smallest witness. O(num_a num_b dim/64), threads, early exit at the first witness.
  /// Throws Error(parameter) if the dimensions differ, Error(interrupted) on a stop request.
  static Answer solve_brute_force(const Instance& instance, const Execution& execution = {});
  /// A witness is checked in O(dim); "none" by all pairs.
  static Report check(const Instance& instance, const Answer& answer);
  /// Text format: docs/formats.md. Throws Error(input) "name:line: what, expected what".
  static Instance read_instance(std::istream& in, const std::string& name);
  static void write_instance(std::ostream& out, const Instance& instance, const Provenance& provenance);
  static AnswerFile<Answer> read_answer(std::istream& in, const std::string& name);
  static void write_answer(std::ostream& out, const Instance& instance, const Answer& answer,
                           const Provenance& provenance);
};

/// Throws Error(parameter) if A and B differ in dimension.
void validate(const OrthogonalVectors::Instance& instance);

/// Calls `visit(i, j)` for every orthogonal pair in lexicographic order until it returns false.
void for_each_orthogonal_pair(const OrthogonalVectors::Instance& instance,
                              const std::function<bool(std::uint64_t i, std::uint64_t j)>& visit);

/// Returns the smallest j with <a_i, b_j> = 0, if any. O(num_b dim/64). Throws Error(parameter) if i is out of range.
std::optional<std::uint64_t> find_orthogonal_partner(const OrthogonalVectors::Instance& instance, std::uint64_t i);

/// Returns the exact number of orthogonal pairs. O(num_a num_b dim/64), threads.
std::uint64_t count_orthogonal_pairs(const OrthogonalVectors::Instance& instance, const Execution& execution = {});

}  // namespace subquad::problems
