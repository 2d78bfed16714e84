// Orthogonal tuples (p-OV): is there one vector from each of p sets whose coordinatewise AND is zero?
#pragma once

#include <subquad/core/bit_matrix.hpp>
#include <subquad/core/problem.hpp>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace subquad::problems {

/// p-OV as a problem (id "p-ov"). Sizes: num_parts, max_part, num_tuples (product of the parts' sizes), dim.
struct OrthogonalTuples {
  static constexpr std::string_view kId = "p-ov";
  static constexpr std::string_view kTitle = "orthogonal tuples (p-OV)";
  static constexpr std::string_view kExtension = ".pov";

  /// parts.size() >= 1; all of equal dim; a part may be empty. p = 1 asks for a zero vector.
  struct Instance {
    std::vector<BitMatrix> parts;
    friend bool operator==(const Instance&, const Instance&) = default;
  };
  /// One index a part, or nothing.
  struct Answer {
    std::optional<std::vector<std::uint64_t>> witness;
    friend bool operator==(const Answer&, const Answer&) = default;
  };

  static std::vector<std::string> size_fields();
  static Sizes size(const Instance& instance);
  static Digest digest(const Instance& instance);
  /// Depth-first over the parts with the running AND; lexicographically smallest witness. O(num_tuples dim/64),
  /// threads over the first part. Throws Error(interrupted) on a stop request.
  static Answer solve_brute_force(const Instance& instance, const Execution& execution = {});
  static Report check(const Instance& instance, const Answer& answer);
  /// Text format: docs/formats.md. Throws Error(input) "name:line: what, expected what".
  static Instance read_instance(std::istream& in, const std::string& name);
  static void write_instance(std::ostream& out, const Instance& instance, const Provenance& provenance);
  static AnswerFile<Answer> read_answer(std::istream& in, const std::string& name);
  static void write_answer(std::ostream& out, const Instance& instance, const Answer& answer,
                           const Provenance& provenance);
};

/// Throws Error(parameter) if there is no part or two parts differ in dimension.
void validate(const OrthogonalTuples::Instance& instance);

/// Calls `visit(indices)` for every orthogonal tuple in lexicographic order until it returns false.
void for_each_orthogonal_tuple(const OrthogonalTuples::Instance& instance,
                               const std::function<bool(const std::vector<std::uint64_t>& indices)>& visit);

}  // namespace subquad::problems
