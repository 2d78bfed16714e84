// CNF formulas and the satisfiability problem.
//
// Notes  Clauses are kept exactly as given (order, repetitions, tautologies, empty clauses): reductions state sizes in
//        terms of the formula as it stands, and DRAT/LRAT proofs number its clauses.
#pragma once

#include <subquad/core/problem.hpp>

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace subquad::sat {

/// A literal: variable v (0-based) or its negation, coded 2v or 2v+1. DIMACS writes v+1 or -(v+1).
class Literal {
 public:
  constexpr Literal() = default;
  constexpr Literal(std::uint32_t variable, bool negative) : code_(2 * variable + (negative ? 1U : 0U)) {}
  /// From a non-zero DIMACS integer with |value| <= kMaxVariables.
  static constexpr Literal from_dimacs(std::int64_t value) {
    return value > 0 ? Literal(static_cast<std::uint32_t>(value - 1), false)
                     : Literal(static_cast<std::uint32_t>(-value - 1), true);
  }
  constexpr std::uint32_t variable() const noexcept { return code_ / 2; }
  constexpr bool negative() const noexcept { return code_ % 2 != 0; }
  constexpr std::uint32_t code() const noexcept { return code_; }
  constexpr std::int64_t to_dimacs() const noexcept {
    const auto v = static_cast<std::int64_t>(variable()) + 1;
    return negative() ? -v : v;
  }
  constexpr Literal operator~() const noexcept { return Literal(variable(), !negative()); }
  friend constexpr auto operator<=>(const Literal&, const Literal&) = default;

 private:
  std::uint32_t code_ = 0;
};

/// Largest number of variables: literals must fit the 31 bits that solvers use.
inline constexpr std::uint64_t kMaxVariables = 0x3fffffff;

/// A formula in conjunctive normal form. Regular type; clauses stand in one flat array.
class Cnf {
 public:
  Cnf() = default;
  /// A formula without clauses. Throws Error(parameter) if num_variables > kMaxVariables.
  explicit Cnf(std::uint64_t num_variables);

  std::uint32_t num_variables() const noexcept { return num_variables_; }
  std::uint64_t num_clauses() const noexcept { return ends_.size(); }
  std::uint64_t num_literals() const noexcept { return literals_.size(); }
  /// Clause c, 0 <= c < num_clauses(); may be empty. Invalidated by add_clause. Throws Error(parameter) out of range.
  std::span<const Literal> clause(std::uint64_t c) const;
  /// Largest clause width; 0 if there is no clause.
  std::uint64_t max_width() const noexcept;
  /// Appends a clause (which may be a view into this formula). Throws Error(parameter), changing nothing, if a variable
  /// is not below num_variables(). O(width) amortised.
  void add_clause(std::span<const Literal> clause);
  /// The same from DIMACS integers, for hand-written formulas: add_clause({1, -2}). Throws Error(parameter) for 0 too.
  void add_clause(std::initializer_list<int> dimacs);

  /// Comment lines that carry meaning for other tools, verbatim, in file order: `c varname` (names of variables), `c
  /// ind`, `c p show` (projection set), `c p weight`, `c t` (weights and type of a counting problem).
  std::vector<std::string> kept_comments;

  friend bool operator==(const Cnf&, const Cnf&) = default;

 private:
  std::uint32_t num_variables_ = 0;
  std::vector<Literal> literals_;
  std::vector<std::uint64_t> ends_;  // clause c = literals_[ends_[c-1], ends_[c])
};

/// An assignment: model[v] is the value of variable v.
using Model = std::vector<bool>;

/// Satisfiability of a CNF, as a problem (id "cnf"). Sizes: num_variables, num_clauses, max_width.
struct CnfSat {
  static constexpr std::string_view kId = "cnf";
  static constexpr std::string_view kTitle = "satisfiability of a CNF formula";
  static constexpr std::string_view kExtension = ".cnf";

  using Instance = Cnf;
  /// A model if the formula is satisfiable (one value a variable), nothing if not.
  struct Answer {
    std::optional<Model> model;
    friend bool operator==(const Answer&, const Answer&) = default;
  };

  static std::vector<std::string> size_fields();
  static Sizes size(const Instance& instance);
  static Digest digest(const Instance& instance);
  /// Tries all 2^num_variables assignments, 64 at a time, and returns the first model when assignments are counted with
  /// variable 0 as the lowest bit. O(2^num_variables num_clauses / 64) word operations, threads; the answer does not
  /// depend on their number. Throws Error(resource) above 30 variables, Error(interrupted) on a stop request.
  static Answer solve_brute_force(const Instance& instance, const Execution& execution = {});
  /// A model is checked in linear time. "Unsatisfiable" is certified by an empty clause, checked by brute force up to
  /// 20 variables, and undecided otherwise.
  static Report check(const Instance& instance, const Answer& answer);
  /// DIMACS, lenient; liberties are dropped silently here (read_dimacs reports them).
  static Instance read_instance(std::istream& in, const std::string& name);
  static void write_instance(std::ostream& out, const Instance& instance, const Provenance& provenance);
  /// SAT-competition output: `s SATISFIABLE`, `v 1 -2 0`; `c instance DIGEST` names the formula. Values may stand in
  /// any order on any number of `v` lines; together they must give every variable from 1 to the largest named exactly
  /// one value (whether that is the formula's number of variables is the verifier's business) and end with 0. Throws
  /// Error(input) otherwise, and for `s UNKNOWN`. Time and memory O(size of the file).
  static AnswerFile<Answer> read_answer(std::istream& in, const std::string& name);
  /// Writes that format. Throws Error(parameter) if the model's length is not the formula's number of variables.
  static void write_answer(std::ostream& out, const Instance& instance, const Answer& answer,
                           const Provenance& provenance);
};

}  // namespace subquad::sat
