#include "expect_error.hpp"
#include "small_formulas.hpp"

#include <subquad/core/random.hpp>
#include <subquad/sat/cnf.hpp>

#include <sstream>

namespace subquad::sat {
namespace {

using test::assignment_number;
using test::count_models;
using test::expect_error;
using test::satisfies;
using test::small_formula;

static_assert(Problem<CnfSat>);

Cnf example() {  // (x1 or not x2) and (x2 or x3) and not x1: one model, 001 (x3 only)
  Cnf formula(3);
  formula.add_clause({1, -2});
  formula.add_clause({2, 3});
  formula.add_clause({-1});
  return formula;
}

TEST(Literal, CodesFollowDimacs) {
  EXPECT_EQ(Literal::from_dimacs(1).code(), 0U);
  EXPECT_EQ(Literal::from_dimacs(-1).code(), 1U);
  EXPECT_EQ(Literal::from_dimacs(-7), Literal(6, true));
  EXPECT_EQ((~Literal(6, true)).to_dimacs(), 7);
  const auto last = static_cast<std::int64_t>(kMaxVariables);
  for (const std::int64_t value : {last, -last}) EXPECT_EQ(Literal::from_dimacs(value).to_dimacs(), value);
}

TEST(Cnf, KeepsClausesAsGiven) {
  Cnf formula(3);
  formula.add_clause({3, -1, 3});
  formula.add_clause(std::initializer_list<int>{});
  formula.add_clause({1, -1});
  EXPECT_EQ(formula.num_clauses(), 3U);
  EXPECT_EQ(formula.num_literals(), 5U);
  EXPECT_EQ(formula.max_width(), 3U);
  EXPECT_EQ(formula.clause(0)[0].to_dimacs(), 3);
  EXPECT_EQ(formula.clause(0)[2].to_dimacs(), 3);
  EXPECT_TRUE(formula.clause(1).empty());
  EXPECT_EQ(formula.clause(2).size(), 2U);
  EXPECT_EQ(Cnf().max_width(), 0U);
  EXPECT_EQ(Cnf(), Cnf(0));
}

TEST(Cnf, AClauseOfTheFormulaItselfCanBeAdded) {
  Cnf formula(4);
  formula.add_clause({1, -2, 3, -4});
  for (int i = 0; i < 100; ++i) formula.add_clause(formula.clause(0));
  for (std::uint64_t c = 0; c < 101; ++c) {
    ASSERT_EQ(formula.clause(c).size(), 4U);
    EXPECT_EQ(formula.clause(c)[3].to_dimacs(), -4);
  }
}

TEST(Cnf, RefusesWhatIsOutOfRangeAndStaysAsItWas) {
  expect_error(ErrorKind::parameter, "1073741824 variables, at most 1073741823", [] { Cnf(kMaxVariables + 1); });
  EXPECT_EQ(Cnf(kMaxVariables).num_variables(), kMaxVariables);
  Cnf formula = example();
  const Cnf before = formula;
  expect_error(ErrorKind::parameter, "literal 4", [&] { formula.add_clause({1, 4}); });
  expect_error(ErrorKind::parameter, "literal -4", [&] { formula.add_clause({-4}); });
  expect_error(ErrorKind::parameter, "0 is not a literal", [&] { formula.add_clause({1, 0}); });
  expect_error(ErrorKind::parameter, "literal -2147483648",
               [&] { formula.add_clause({std::numeric_limits<int>::min()}); });
  const Literal beyond[] = {Literal(0, false), Literal(3, true)};
  expect_error(ErrorKind::parameter, "literal -4", [&] { formula.add_clause(beyond); });
  expect_error(ErrorKind::parameter, "clause 3 of a formula with 3", [&] { formula.clause(3); });
  EXPECT_EQ(formula, before);
}

TEST(CnfSat, Sizes) {
  const Sizes sizes = CnfSat::size(example());
  EXPECT_EQ(size_field(sizes, "num_variables"), 3);
  EXPECT_EQ(size_field(sizes, "num_clauses"), 3);
  EXPECT_EQ(size_field(sizes, "max_width"), 2);
  std::vector<std::string> names;
  for (const auto& field : sizes) names.push_back(field.first);
  EXPECT_EQ(names, CnfSat::size_fields());
}

TEST(CnfSat, DigestSeesTheFormulaAndNothingElse) {
  const Digest digest = CnfSat::digest(example());
  Cnf commented = example();
  commented.kept_comments.push_back("c ind 1 0");
  EXPECT_EQ(CnfSat::digest(commented), digest);

  Cnf more_variables(4);
  Cnf other_order(3);
  Cnf other_cut(3);
  for (const auto& clause : {std::vector{1, -2}, std::vector{2, 3}, std::vector{-1}}) {
    std::vector<Literal> literals;
    for (const int value : clause) literals.push_back(Literal::from_dimacs(value));
    more_variables.add_clause(literals);
    other_order.add_clause(std::vector<Literal>(literals.rbegin(), literals.rend()));
  }
  other_cut.add_clause({1, -2, 2});
  other_cut.add_clause({3});
  other_cut.add_clause({-1});
  for (const Cnf& other : {more_variables, other_order, other_cut}) EXPECT_NE(CnfSat::digest(other), digest);
}

TEST(CnfSat, BruteForceFindsTheOnlyModel) {
  const CnfSat::Answer answer = CnfSat::solve_brute_force(example());
  ASSERT_TRUE(answer.model);
  EXPECT_EQ(*answer.model, (Model{false, false, true}));
}

RC_GTEST_PROP(CnfSat, BruteForceFindsTheFirstModelByDefinition, ()) {
  const Cnf formula = *small_formula(9, 30);
  const CnfSat::Answer answer = CnfSat::solve_brute_force(formula, Execution{.threads = 1});
  std::optional<std::uint64_t> first;
  for (std::uint64_t a = 0; a < std::uint64_t{1} << formula.num_variables() && !first; ++a) {
    if (satisfies(formula, a)) first = a;
  }
  RC_ASSERT(answer.model.has_value() == first.has_value());
  if (first) {
    RC_ASSERT(answer.model->size() == formula.num_variables());
    RC_ASSERT(assignment_number(*answer.model) == *first);
  }
  RC_ASSERT(CnfSat::check(formula, answer).verdict == Verdict::certified);
}

TEST(CnfSat, BruteForceDoesNotDependOnThreads) {
  // The only model is the last assignment but one, so that every range is looked at.
  Cnf formula(20);
  formula.add_clause({-1});
  for (int v = 2; v <= 20; ++v) formula.add_clause({v});
  for (const int threads : {1, 2, 5}) {
    const CnfSat::Answer answer = CnfSat::solve_brute_force(formula, Execution{.threads = threads});
    ASSERT_TRUE(answer.model);
    EXPECT_EQ(assignment_number(*answer.model), (std::uint64_t{1} << 20) - 2);
  }
}

TEST(CnfSat, BruteForceHasLimits) {
  expect_error(ErrorKind::resource, "2^31", [] { CnfSat::solve_brute_force(Cnf(31)); });
  EXPECT_EQ(CnfSat::solve_brute_force(Cnf(30)).model, Model(30));
  const std::atomic<bool> stop{true};
  expect_error(ErrorKind::interrupted,
               [&] { CnfSat::solve_brute_force(example(), Execution{.threads = 1, .stop = &stop}); });
}

TEST(CnfSat, CheckOfUnsatisfiable) {
  Cnf contradiction(1);
  contradiction.add_clause({1});
  contradiction.add_clause({-1});
  EXPECT_EQ(CnfSat::check(contradiction, {}).verdict, Verdict::certified);
  EXPECT_EQ(CnfSat::check(example(), {}).verdict, Verdict::refuted);
  EXPECT_EQ(CnfSat::check(Cnf(0), {}).verdict, Verdict::refuted);
  Cnf large(21);
  large.add_clause({1});
  EXPECT_EQ(CnfSat::check(large, {}).verdict, Verdict::undecided);
  large.add_clause(std::initializer_list<int>{});
  EXPECT_EQ(CnfSat::check(large, {}).verdict, Verdict::certified);
}

TEST(CnfSat, CheckRefutesWrongModels) {
  const Model model{false, false, true};
  EXPECT_EQ(CnfSat::check(example(), {model}).verdict, Verdict::certified);
  for (std::size_t v = 0; v < model.size(); ++v) {  // it is the only model
    Model flipped = model;
    flipped[v] = !flipped[v];
    EXPECT_EQ(CnfSat::check(example(), {flipped}).verdict, Verdict::refuted);
  }
  EXPECT_EQ(CnfSat::check(example(), {Model{false, false}}).verdict, Verdict::refuted);
  EXPECT_EQ(CnfSat::check(example(), {Model{false, false, true, true}}).verdict, Verdict::refuted);
  EXPECT_EQ(CnfSat::check(example(), {Model{}}).verdict, Verdict::refuted);
}

TEST(CnfSat, DegenerateForms) {
  EXPECT_EQ(CnfSat::solve_brute_force(Cnf(0)).model, Model{});
  Cnf empty_clause(0);
  empty_clause.add_clause(std::initializer_list<int>{});
  EXPECT_FALSE(CnfSat::solve_brute_force(empty_clause).model);
  Cnf one(1);
  EXPECT_EQ(count_models(one), 2U);
  one.add_clause({1, -1});
  EXPECT_EQ(count_models(one), 2U);
  one.add_clause({1, 1});
  EXPECT_EQ(CnfSat::solve_brute_force(one).model, Model{true});
}

}  // namespace
}  // namespace subquad::sat
