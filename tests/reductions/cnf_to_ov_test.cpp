#include "bit_matrices.hpp"
#include "edge_instances.hpp"
#include "expect_error.hpp"

#include <subquad/core/error.hpp>
#include <subquad/reductions/cnf_to_ov.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace subquad::reductions {
namespace {

using problems::OrthogonalVectors;
using Pair = std::pair<std::uint64_t, std::uint64_t>;

std::set<Pair> orthogonal_pairs(const OrthogonalVectors::Instance& instance) {
  std::set<Pair> pairs;
  for (std::uint64_t i = 0; i < instance.a.rows(); ++i)
    for (std::uint64_t j = 0; j < instance.b.rows(); ++j)
      if (inner_product(instance.a.row(i), instance.b.row(j)) == 0) pairs.insert({i, j});
  return pairs;
}

CnfToOv split_at(std::uint64_t left) {
  CnfToOv::Parameters parameters;
  parameters.left_variables = left;
  return CnfToOv(parameters);
}

TEST(CnfToOv, WorkedYesExample) {
  sat::Cnf formula(3);
  formula.add_clause({1, 2});
  formula.add_clause({-1, 3});
  formula.add_clause({-2, -3});
  const CnfToOv reduction;
  const auto target = reduction.reduce(formula);
  EXPECT_EQ(target.a, test::bits(3, {"100", "010", "001", "011"}));
  EXPECT_EQ(target.b, test::bits(3, {"110", "101"}));
  EXPECT_EQ(orthogonal_pairs(target), (std::set<Pair>{{1, 1}, {2, 0}}));  // 010.101 and 001.110
  EXPECT_EQ(reduction.lift(formula, target, {Pair{1, 1}}).model, (sat::Model{true, false, true}));
  EXPECT_EQ(reduction.lift(formula, target, {Pair{2, 0}}).model, (sat::Model{false, true, false}));
}

TEST(CnfToOv, WorkedNoExample) {
  sat::Cnf formula(2);
  formula.add_clause({1, 2});
  formula.add_clause({1, -2});
  formula.add_clause({-1});
  const CnfToOv reduction;
  const auto target = reduction.reduce(formula);
  EXPECT_EQ(target.a, test::bits(3, {"110", "001"}));
  EXPECT_EQ(target.b, test::bits(3, {"101", "011"}));
  EXPECT_TRUE(orthogonal_pairs(target).empty());
  EXPECT_FALSE(reduction.lift(formula, target, {}).model);
}

RC_GTEST_PROP(CnfToOv, ModelsAreOrthogonalPairsForEverySplit, (std::uint64_t seed)) {
  Random random(seed);
  const sat::Cnf formula = test::random_formula(random, 7, 10);
  const auto models = test::all_models(formula);
  for (std::uint64_t left = 0; left <= formula.num_variables() + 1; ++left) {
    const bool balanced = left > formula.num_variables();
    CnfToOv::Parameters parameters;
    if (!balanced) parameters.left_variables = left;
    parameters.clauses.drop_tautologies = random.below(2) == 1;
    parameters.clauses.drop_duplicates = random.below(2) == 1;
    const CnfToOv reduction(parameters);
    const auto target = reduction.reduce(formula);
    std::set<Pair> expected;
    for (const sat::Model& model : models) expected.insert(reduction.push_forward(formula, model));
    const auto pairs = orthogonal_pairs(target);
    RC_ASSERT(pairs.size() == models.size());
    RC_ASSERT(pairs == expected);
    for (const Pair& pair : pairs) RC_ASSERT(test::satisfies(formula, *reduction.lift(formula, target, {pair}).model));
    RC_ASSERT(violations(reduction.size_bounds(), sat::CnfSat::size(formula), OrthogonalVectors::size(target)).empty());
  }
}

RC_GTEST_PROP(CnfToOv, StreamedSidesAreTheBuiltOnes, (std::uint64_t seed)) {
  Random random(seed);
  const sat::Cnf formula = test::random_formula(random, 9, 80);
  const CnfToOv reduction = split_at(random.below(formula.num_variables() + 1));
  const auto target = reduction.reduce(formula);
  const auto streamed = [](const AssignmentVectors& side) {
    BitMatrix rows(side.num_vectors(), side.dim());
    side.for_each_vector([&](std::uint64_t index, std::span<const std::uint64_t> words) {
      std::copy(words.begin(), words.end(), rows.row(index).begin());
    });
    return rows;
  };
  RC_ASSERT(streamed(reduction.left(formula)) == target.a);
  RC_ASSERT(streamed(reduction.right(formula)) == target.b);
}

TEST(CnfToOv, Edges) {
  const CnfToOv reduction;
  const sat::Cnf nothing(0);
  const auto trivial = reduction.reduce(nothing);
  EXPECT_EQ(trivial.a, BitMatrix(1, 0));
  EXPECT_EQ(trivial.b, BitMatrix(1, 0));
  EXPECT_EQ(reduction.lift(nothing, trivial, {Pair{0, 0}}).model, sat::Model{});

  sat::Cnf empty_clause(3);
  empty_clause.add_clause({});
  EXPECT_TRUE(orthogonal_pairs(reduction.reduce(empty_clause)).empty());

  const sat::Cnf no_clause(3);
  EXPECT_EQ(orthogonal_pairs(reduction.reduce(no_clause)).size(), 8U);

  sat::Cnf one_variable(1);
  one_variable.add_clause({-1});
  const auto target = reduction.reduce(one_variable);
  EXPECT_EQ(target.a.rows(), 2U);  // balanced: ceil(1/2) on the left
  EXPECT_EQ(target.b.rows(), 1U);
  EXPECT_EQ(orthogonal_pairs(target), std::set<Pair>({{0, 0}}));
}

TEST(CnfToOv, SizeBoundsAreEvaluableForFormulasThatCannotBeBuilt) {
  const Sizes fifty = {{"num_variables", 50}, {"num_clauses", 218}, {"max_width", 3}};
  const auto bounds = CnfToOv().size_bounds();
  EXPECT_EQ(bounds[0].expression.evaluate(fifty), Count(1) << 25);
  EXPECT_EQ(bounds[0].expression.to_string(), "2^ceil(num_variables/2)");
  EXPECT_EQ(split_at(20).size_bounds()[1].expression.to_string(), "2^max(num_variables - 20, 0)");
  EXPECT_EQ(split_at(20).size_bounds()[0].expression.to_string(), "2^20");
  CnfToOv::Parameters dropping;
  dropping.clauses.drop_duplicates = true;
  EXPECT_EQ(CnfToOv(dropping).size_bounds()[2].kind, BoundKind::upper_bound);
  EXPECT_EQ(bounds[2].kind, BoundKind::exact);
}

TEST(CnfToOv, FalseAnswersAreRefuted) {
  sat::Cnf formula(2);
  formula.add_clause({1, 2});
  const CnfToOv reduction;
  const auto target = reduction.reduce(formula);
  const auto refuted_row = [&](Pair pair) {
    try {
      reduction.lift(formula, target, {pair});
    } catch (const OracleRefuted& refuted) {
      EXPECT_EQ(refuted.kind(), ErrorKind::refuted);
      return static_cast<std::int64_t>(refuted.row());
    }
    return std::int64_t{-1};
  };
  EXPECT_EQ(refuted_row({0, 0}), 0);  // the all-false assignment
  EXPECT_EQ(refuted_row({2, 0}), 2);  // no such row
  EXPECT_EQ(refuted_row({0, 7}), 0);
  EXPECT_EQ(refuted_row({1, 0}), -1);
}

TEST(CnfToOv, Refusals) {
  const sat::Cnf formula(3);
  test::expect_error(ErrorKind::parameter, [&] { split_at(4).reduce(formula); });
  test::expect_error(ErrorKind::parameter, [&] { CnfToOv().lift(formula, {BitMatrix(3, 0), BitMatrix(2, 0)}, {}); });
  test::expect_error(ErrorKind::parameter, [&] { CnfToOv().push_forward(formula, sat::Model(2)); });
  sat::Cnf huge(200);
  huge.add_clause({1});
  test::expect_error(ErrorKind::resource, [&] { CnfToOv().reduce(huge); });
}

// The control of claim W05: a mask bit that is lost (the clause forgets one literal) must change some answer.
TEST(CnfToOv, ALostMaskBitIsNoticed) {
  sat::Cnf formula(2);
  formula.add_clause({1, 2});
  formula.add_clause({-1});
  sat::Cnf damaged(2);
  damaged.add_clause({1});  // literal 2 lost
  damaged.add_clause({-1});
  const CnfToOv reduction;
  EXPECT_EQ(orthogonal_pairs(reduction.reduce(formula)).size(), 1U);
  EXPECT_TRUE(orthogonal_pairs(reduction.reduce(damaged)).empty());
}

}  // namespace
}  // namespace subquad::reductions
