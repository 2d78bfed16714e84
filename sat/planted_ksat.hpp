// Planted k-SAT: random formulas with a known model.
//
// A model is drawn first; each clause is then uniform among the clauses with k distinct variables that it satisfies.
// Such formulas lean towards the model, and local search finds it more easily than their density suggests. Hiding the
// complement as well (every clause has a true and a false literal under the model) removes that lean to first order.
//
// Reference  Achlioptas, Jia, Moore: Hiding satisfying assignments: two are better than one (JAIR 2005)
#pragma once

#include <subquad/sat/cnf.hpp>

#include <cstdint>

namespace subquad::sat {

/// Parameters of planted k-SAT.
struct PlantedKSat {
  std::uint64_t num_variables = 0;  ///< n, k <= n <= kMaxVariables
  std::uint64_t clause_width = 3;   ///< k >= 1, and k >= 2 if the complement is hidden too
  std::uint64_t num_clauses = 0;    ///< m >= 0
  bool hide_complement = false;     ///< the complement of the planted model is a model too
};

/// A formula with a model of it.
struct PlantedFormula {
  Cnf formula;
  Model model;
};

/// Draws a formula and the model it was built around.
///
/// Randomness  `seed`; the model depends on the seed and n only
/// Cost        O(m k^2) time at worst, O(m k) in practice
/// Errors      Error(parameter) unless 1 <= k <= n <= kMaxVariables, and for k = 1 with hide_complement
PlantedFormula planted_ksat(const PlantedKSat& parameters, std::uint64_t seed);

}  // namespace subquad::sat
