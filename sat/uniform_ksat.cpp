#include "random_clause.hpp"

#include <subquad/core/random.hpp>
#include <subquad/sat/uniform_ksat.hpp>

namespace subquad::sat {

Cnf uniform_ksat(const UniformKSat& parameters, std::uint64_t seed) {
  check_k_sat_parameters("uniform k-SAT", parameters.num_variables, parameters.clause_width);
  Random random = Random(seed).split("uniform_ksat");
  Cnf formula(parameters.num_variables);
  std::vector<Literal> clause;
  for (std::uint64_t c = 0; c < parameters.num_clauses; ++c) {
    clause.clear();
    for (const std::uint32_t variable : draw_variables(parameters.num_variables, parameters.clause_width, random))
      clause.emplace_back(variable, random.below(2) != 0);
    formula.add_clause(clause);
  }
  return formula;
}

}  // namespace subquad::sat
