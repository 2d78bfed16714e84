#include "small_formulas.hpp"

#include <subquad/sat/pigeonhole.hpp>
#include <subquad/sat/planted_ksat.hpp>
#include <subquad/verifiers/sat_model.hpp>

namespace subquad::verifiers {
namespace {

using sat::Cnf;
using sat::Model;

// (x1 or not x2) and (x2 or x3) and not x1: the only model is x3 alone.
Cnf example() {
  Cnf formula(3);
  formula.add_clause({1, -2});
  formula.add_clause({2, 3});
  formula.add_clause({-1});
  return formula;
}

TEST(SatModel, AHandCheckedModel) {
  EXPECT_EQ(verify_model(example(), {false, false, true}), (Report{Verdict::certified, "all 3 clauses are satisfied"}));
}

TEST(SatModel, NamesTheFirstClauseThatFails) {
  EXPECT_EQ(verify_model(example(), {false, true, true}), (Report{Verdict::refuted, "clause 1 is not satisfied"}));
  EXPECT_EQ(verify_model(example(), {false, false, false}), (Report{Verdict::refuted, "clause 2 is not satisfied"}));
  EXPECT_EQ(verify_model(example(), {true, false, true}), (Report{Verdict::refuted, "clause 3 is not satisfied"}));
  EXPECT_EQ(verify_model(example(), {true, false, false}), (Report{Verdict::refuted, "clause 2 is not satisfied"}));
}

RC_GTEST_PROP(SatModel, AgreesWithTheDefinitionOnEveryAssignment, ()) {
  const Cnf formula = *test::small_formula(7, 12);
  for (std::uint64_t a = 0; a < std::uint64_t{1} << formula.num_variables(); ++a) {
    Model model(formula.num_variables());
    for (std::size_t v = 0; v < model.size(); ++v) model[v] = ((a >> v) & 1U) != 0;
    const Verdict verdict = verify_model(formula, model).verdict;
    RC_ASSERT(verdict == (test::satisfies(formula, a) ? Verdict::certified : Verdict::refuted));
  }
}

TEST(SatModel, DegenerateFormulas) {
  EXPECT_EQ(verify_model(Cnf(0), {}).verdict, Verdict::certified);
  EXPECT_EQ(verify_model(Cnf(2), {true, false}).verdict, Verdict::certified);
  Cnf formula(1);
  formula.add_clause({1, -1});
  formula.add_clause({-1, -1, -1});
  EXPECT_EQ(verify_model(formula, {false}).verdict, Verdict::certified);
  EXPECT_EQ(verify_model(formula, {true}), (Report{Verdict::refuted, "clause 2 is not satisfied"}));
  formula.add_clause(std::initializer_list<int>{});
  EXPECT_EQ(verify_model(formula, {false}), (Report{Verdict::refuted, "clause 3 is not satisfied"}));
}

// The catalogue of wrong models; each must be refuted with its reason.
TEST(SatModel, WrongModelsAreRefuted) {
  constexpr std::uint64_t kVariables = 40;
  const sat::PlantedFormula planted =
      sat::planted_ksat({.num_variables = kVariables, .clause_width = 3, .num_clauses = 400}, 3);
  ASSERT_EQ(verify_model(planted.formula, planted.model).verdict, Verdict::certified);

  Model shorter = planted.model;
  shorter.pop_back();
  EXPECT_EQ(verify_model(planted.formula, shorter).reason,
            "the model has 39 values, expected one for each of 40 variables");
  EXPECT_EQ(verify_model(planted.formula, shorter).verdict, Verdict::refuted);
  Model longer = planted.model;
  longer.push_back(false);
  EXPECT_EQ(verify_model(planted.formula, longer).reason,
            "the model has 41 values, expected one for each of 40 variables");
  EXPECT_EQ(verify_model(planted.formula, longer).verdict, Verdict::refuted);
  EXPECT_EQ(verify_model(planted.formula, {}).verdict, Verdict::refuted);

  // At ten clauses a variable each bit is pinned (each stands alone in some clause), so one flipped bit fails.
  for (std::size_t v = 0; v < kVariables; ++v) {
    Model flipped = planted.model;
    flipped[v] = !flipped[v];
    EXPECT_EQ(verify_model(planted.formula, flipped).verdict, Verdict::refuted) << "bit " << v;
  }
  Model complement = planted.model;
  complement.flip();
  EXPECT_EQ(verify_model(planted.formula, complement).verdict, Verdict::refuted);
  Model shifted(planted.model.begin() + 1, planted.model.end());  // read from the wrong place
  shifted.push_back(planted.model.front());
  EXPECT_EQ(verify_model(planted.formula, shifted).verdict, Verdict::refuted);
  EXPECT_EQ(verify_model(planted.formula, Model(kVariables, false)).verdict, Verdict::refuted);
  EXPECT_EQ(verify_model(planted.formula, Model(kVariables, true)).verdict, Verdict::refuted);

  // The right model of another formula of the same size.
  const sat::PlantedFormula other =
      sat::planted_ksat({.num_variables = kVariables, .clause_width = 3, .num_clauses = 400}, 4);
  EXPECT_EQ(verify_model(other.formula, other.model).verdict, Verdict::certified);
  EXPECT_EQ(verify_model(planted.formula, other.model).verdict, Verdict::refuted);
}

TEST(SatModel, NothingIsAModelOfAnUnsatisfiableFormula) {
  const Cnf formula = sat::pigeonhole({.pigeons = 4, .holes = 3});
  for (std::uint64_t a = 0; a < std::uint64_t{1} << 12; ++a) {
    Model model(12);
    for (std::size_t v = 0; v < model.size(); ++v) model[v] = ((a >> v) & 1U) != 0;
    ASSERT_EQ(verify_model(formula, model).verdict, Verdict::refuted);
  }
}

}  // namespace
}  // namespace subquad::verifiers
