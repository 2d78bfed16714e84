#include "expect_error.hpp"
#include "small_formulas.hpp"

#include <subquad/sat/cadical_solver.hpp>
#include <subquad/sat/pigeonhole.hpp>
#include <subquad/sat/uniform_ksat.hpp>

#include <atomic>
#include <chrono>
#include <thread>

namespace subquad::sat {
namespace {

using test::expect_error;
using test::satisfies;
using test::small_formula;

RC_GTEST_PROP(CadicalSolver, AgreesWithBruteForce, ()) {
  const Cnf formula = *small_formula(10, 45);
  const CnfSat::Answer answer = solve_with_cadical(formula);
  RC_ASSERT(answer.model.has_value() == CnfSat::solve_brute_force(formula).model.has_value());
  if (answer.model) {
    RC_ASSERT(answer.model->size() == formula.num_variables());
    RC_ASSERT(satisfies(formula, test::assignment_number(*answer.model)));
  }
  RC_ASSERT(solve_with_cadical(formula) == answer);
}

TEST(CadicalSolver, DegenerateForms) {
  EXPECT_EQ(solve_with_cadical(Cnf(0)).model, Model{});
  EXPECT_EQ(solve_with_cadical(Cnf(3)).model, Model(3));
  Cnf empty_clause(2);
  empty_clause.add_clause(std::initializer_list<int>{});
  EXPECT_EQ(solve_with_cadical(empty_clause).model, std::nullopt);
}

TEST(CadicalSolver, ManyUnusedVariablesCostNoSolverMemory) {
  Cnf formula(50'000'000);
  formula.add_clause({-49'999'999, 7});
  formula.add_clause({49'999'999});
  const CnfSat::Answer answer = solve_with_cadical(formula);
  ASSERT_TRUE(answer.model);
  EXPECT_TRUE((*answer.model)[6]);
  EXPECT_TRUE((*answer.model)[49'999'998]);
  EXPECT_FALSE((*answer.model)[0]);
}

TEST(CadicalSolver, StopsOnRequest) {
  const Cnf hard = pigeonhole({.pigeons = 14, .holes = 13});  // far beyond what resolution does in a test's time
  std::atomic<bool> stop{true};
  expect_error(ErrorKind::interrupted, [&] { solve_with_cadical(hard, Execution{.threads = 1, .stop = &stop}); });
  stop = false;
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop = true;
  });
  expect_error(ErrorKind::interrupted, [&] { solve_with_cadical(hard, Execution{.threads = 1, .stop = &stop}); });
  later.join();
}

TEST(CadicalSolver, HasAVersion) {
  EXPECT_FALSE(cadical_version().empty());
}

}  // namespace
}  // namespace subquad::sat
