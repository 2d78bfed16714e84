#include <subquad/verifiers/sat_model.hpp>

#include <fmt/format.h>

namespace subquad::verifiers {

Report verify_model(const sat::Cnf& formula, const sat::Model& model) {
  if (model.size() != formula.num_variables()) {
    return {Verdict::refuted, fmt::format("the model has {} values, expected one for each of {} variables",
                                          model.size(), formula.num_variables())};
  }
  for (std::uint64_t c = 0; c < formula.num_clauses(); ++c) {
    bool satisfied = false;
    for (const sat::Literal literal : formula.clause(c)) satisfied |= model[literal.variable()] != literal.negative();
    if (!satisfied) return {Verdict::refuted, fmt::format("clause {} is not satisfied", c + 1)};
  }
  return {Verdict::certified, fmt::format("all {} clauses are satisfied", formula.num_clauses())};
}

}  // namespace subquad::verifiers
