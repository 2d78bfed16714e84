#include "random_clause.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/sat/planted_ksat.hpp>

namespace subquad::sat {

PlantedFormula planted_ksat(const PlantedKSat& parameters, std::uint64_t seed) {
  check_k_sat_parameters("planted k-SAT", parameters.num_variables, parameters.clause_width);
  require(!parameters.hide_complement || parameters.clause_width >= 2, ErrorKind::parameter,
          "planted k-SAT: a clause of width 1 cannot hold under a model and its complement, expected width 2 or more");
  const Random root = Random(seed).split("planted_ksat");
  Random random_model = root.split("model");
  Random random = root.split("clauses");
  PlantedFormula result{Cnf(parameters.num_variables), Model(parameters.num_variables)};
  for (std::uint64_t v = 0; v < parameters.num_variables; ++v) result.model[v] = random_model.below(2) != 0;

  std::vector<Literal> clause;
  for (std::uint64_t c = 0; c < parameters.num_clauses; ++c) {
    const std::vector<std::uint32_t> variables =
        draw_variables(parameters.num_variables, parameters.clause_width, random);
    // Signs are drawn again until they are allowed: uniform among the allowed ones, with fewer than two draws expected.
    bool some_true = false;
    bool some_false = false;
    do {
      clause.clear();
      some_true = some_false = false;
      for (const std::uint32_t variable : variables) {
        clause.emplace_back(variable, random.below(2) != 0);
        (result.model[variable] != clause.back().negative() ? some_true : some_false) = true;
      }
    } while (!some_true || (parameters.hide_complement && !some_false));
    result.formula.add_clause(clause);
  }
  return result;
}

}  // namespace subquad::sat
