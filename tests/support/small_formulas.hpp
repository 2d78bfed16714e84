// Small formulas for tests: a rapidcheck generator that leans to degenerate forms, and models counted by definition.
#pragma once

#include <subquad/sat/cnf.hpp>

#include <rapidcheck.h>

#include <cstdint>
#include <vector>

namespace subquad::test {

/// Formulas with 0..max_variables variables and up to max_clauses clauses of width 0..4: empty clauses, repeated
/// literals, tautologies, repeated clauses and unused variables all occur.
inline rc::Gen<sat::Cnf> small_formula(std::uint32_t max_variables, std::uint32_t max_clauses) {
  return rc::gen::mapcat(rc::gen::inRange<std::uint32_t>(0, max_variables + 1), [=](std::uint32_t n) {
    const auto literal = rc::gen::map(rc::gen::inRange<std::uint32_t>(0, 2 * n),
                                      [](std::uint32_t code) { return sat::Literal(code / 2, code % 2 != 0); });
    // Width 0 is rare: an empty clause settles the formula.
    const auto width = n == 0 ? rc::gen::just(std::size_t{0})
                              : rc::gen::weightedElement<std::size_t>({{1, 0}, {6, 1}, {20, 2}, {30, 3}, {6, 4}});
    const auto clause = rc::gen::mapcat(
        width, [=](std::size_t w) { return rc::gen::container<std::vector<sat::Literal>>(w, literal); });
    const auto clauses = rc::gen::mapcat(rc::gen::inRange<std::size_t>(0, max_clauses + 1), [=](std::size_t m) {
      return rc::gen::container<std::vector<std::vector<sat::Literal>>>(m, clause);
    });
    return rc::gen::map(clauses, [=](const std::vector<std::vector<sat::Literal>>& list) {
      sat::Cnf formula(n);
      for (const auto& each : list) formula.add_clause(each);
      return formula;
    });
  });
}

/// Whether the assignment whose bit v is the value of variable v satisfies every clause: the definition, literally.
inline bool satisfies(const sat::Cnf& formula, std::uint64_t assignment) {
  for (std::uint64_t c = 0; c < formula.num_clauses(); ++c) {
    bool some = false;
    for (const sat::Literal literal : formula.clause(c))
      some = some || (((assignment >> literal.variable()) & 1U) != 0) != literal.negative();
    if (!some) return false;
  }
  return true;
}

/// Number of models, by trying all 2^num_variables assignments; for at most about 22 variables.
inline std::uint64_t count_models(const sat::Cnf& formula) {
  std::uint64_t count = 0;
  for (std::uint64_t assignment = 0; assignment < std::uint64_t{1} << formula.num_variables(); ++assignment)
    count += satisfies(formula, assignment) ? 1 : 0;
  return count;
}

/// The number of an assignment, as above.
inline std::uint64_t assignment_number(const sat::Model& model) {
  std::uint64_t number = 0;
  for (std::size_t v = 0; v < model.size(); ++v) number |= std::uint64_t{model[v]} << v;
  return number;
}

}  // namespace subquad::test
