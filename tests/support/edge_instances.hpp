// Edge instances: small random instances for tests, biased to the forms that reductions get wrong.
#pragma once

#include <subquad/core/bit_matrix.hpp>
#include <subquad/core/random.hpp>
#include <subquad/sat/cnf.hpp>

#include <cstdint>
#include <vector>

namespace subquad::test {

/// A formula with at most `max_variables` variables and `max_clauses` clauses: mixed widths, now and then an empty
/// clause, a repeated literal, a tautology, a repeated clause, variables that occur nowhere.
inline sat::Cnf random_formula(Random& random, std::uint64_t max_variables, std::uint64_t max_clauses) {
  const std::uint64_t n = random.below(max_variables + 1);
  const std::uint64_t m = random.below(max_clauses + 1);
  sat::Cnf formula(n);
  const std::uint64_t widest = 1 + random.below(4);
  for (std::uint64_t c = 0; c < m; ++c) {
    if (formula.num_clauses() > 0 && random.below(10) == 0) {
      const auto earlier = formula.clause(random.below(formula.num_clauses()));
      formula.add_clause(std::vector<sat::Literal>(earlier.begin(), earlier.end()));
      continue;
    }
    std::vector<sat::Literal> clause;
    const std::uint64_t width = n == 0 || random.below(40) == 0 ? 0 : 1 + random.below(widest);
    for (std::uint64_t k = 0; k < width; ++k)
      clause.emplace_back(static_cast<std::uint32_t>(random.below(n)), random.below(2) == 1);
    if (!clause.empty() && random.below(12) == 0) clause.push_back(~clause.front());  // a tautology
    if (!clause.empty() && random.below(12) == 0) clause.push_back(clause.back());    // a repeated literal
    formula.add_clause(clause);
  }
  return formula;
}

/// True iff `model` satisfies the formula, straight from the definition.
inline bool satisfies(const sat::Cnf& formula, const sat::Model& model) {
  for (std::uint64_t c = 0; c < formula.num_clauses(); ++c) {
    bool satisfied = false;
    for (const sat::Literal literal : formula.clause(c)) satisfied |= model[literal.variable()] != literal.negative();
    if (!satisfied) return false;
  }
  return true;
}

/// All models, by trying every assignment; variable v is bit v of the counter.
inline std::vector<sat::Model> all_models(const sat::Cnf& formula) {
  std::vector<sat::Model> models;
  const std::uint64_t n = formula.num_variables();
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << n; ++bits) {
    sat::Model model(n);
    for (std::uint64_t v = 0; v < n; ++v) model[v] = ((bits >> v) & 1U) != 0;
    if (satisfies(formula, model)) models.push_back(model);
  }
  return models;
}

/// A rows x cols matrix whose entries are 1 with probability `density`; now and then a row of zeros, of ones, or the
/// row before it again.
inline BitMatrix random_bits(Random& random, std::uint64_t rows, std::uint64_t cols, double density) {
  BitMatrix matrix(rows, cols);
  for (std::uint64_t r = 0; r < rows; ++r) {
    const std::uint64_t form = random.below(12);
    for (std::uint64_t c = 0; c < cols; ++c) {
      bool bit = random.bernoulli(density);
      if (form == 0) bit = false;
      if (form == 1) bit = true;
      if (form == 2 && r > 0) bit = matrix.get(r - 1, c);
      matrix.set(r, c, bit);
    }
  }
  return matrix;
}

}  // namespace subquad::test
