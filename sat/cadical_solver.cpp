#include <subquad/core/error.hpp>
#include <subquad/sat/cadical_solver.hpp>

#include <cadical.hpp>

#include <algorithm>
#include <vector>

namespace subquad::sat {

namespace {

/// Lets CaDiCaL see a stop request.
class StopTerminator final : public CaDiCaL::Terminator {
 public:
  explicit StopTerminator(const Execution& execution) : stop_(execution.stop) {}
  bool terminate() override { return stop_ != nullptr && stop_->load(std::memory_order_relaxed); }

 private:
  const std::atomic<bool>* stop_;
};

/// Returns the variables that occur, ascending.
std::vector<std::uint32_t> occurring_variables(const Cnf& formula) {
  std::vector<std::uint32_t> variables;
  variables.reserve(formula.num_literals());
  for (std::uint64_t c = 0; c < formula.num_clauses(); ++c) {
    for (const Literal literal : formula.clause(c)) variables.push_back(literal.variable());
  }
  std::sort(variables.begin(), variables.end());
  variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
  return variables;
}

}  // namespace

CnfSat::Answer solve_with_cadical(const Cnf& formula, const Execution& execution) {
  execution.check_stop();
  // CaDiCaL allocates for every variable up to the largest, so it is given the occurring ones, renumbered without gaps.
  const std::vector<std::uint32_t> variables = occurring_variables(formula);
  StopTerminator terminator(execution);
  CaDiCaL::Solver solver;
  solver.set("quiet", 1);
  solver.connect_terminator(&terminator);
  for (std::uint64_t c = 0; c < formula.num_clauses(); ++c) {
    for (const Literal literal : formula.clause(c)) {
      const auto place = std::lower_bound(variables.begin(), variables.end(), literal.variable());
      const auto number = static_cast<int>(place - variables.begin()) + 1;
      solver.add(literal.negative() ? -number : number);
    }
    solver.add(0);
  }
  const int status = solver.solve();
  solver.disconnect_terminator();

  CnfSat::Answer answer;
  if (status == 10) {
    answer.model.emplace(formula.num_variables());
    for (std::size_t i = 0; i < variables.size(); ++i)
      (*answer.model)[variables[i]] = solver.val(static_cast<int>(i) + 1) > 0;
  } else if (status != 20) {
    execution.check_stop();
    fail(ErrorKind::internal, "CaDiCaL stopped without an answer (status {})", status);
  }
  return answer;
}

std::string cadical_version() {
  return CaDiCaL::Solver::version();
}

}  // namespace subquad::sat
