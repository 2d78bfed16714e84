#include "bit_matrices.hpp"
#include "edge_instances.hpp"
#include "expect_error.hpp"

#include <subquad/core/error.hpp>
#include <subquad/reductions/cnf_to_ov.hpp>
#include <subquad/reductions/cnf_to_p_ov.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace subquad::reductions {
namespace {

using problems::OrthogonalTuples;
using Tuple = std::vector<std::uint64_t>;

CnfToPOv with_parts(std::uint64_t parts) {
  CnfToPOv::Parameters parameters;
  parameters.parts = parts;
  return CnfToPOv(parameters);
}

/// All orthogonal tuples, by odometer, straight from the definition.
std::set<Tuple> orthogonal_tuples(const OrthogonalTuples::Instance& instance) {
  std::set<Tuple> found;
  const std::size_t p = instance.parts.size();
  for (const BitMatrix& part : instance.parts)
    if (part.rows() == 0) return found;
  Tuple tuple(p, 0);
  for (;;) {
    bool orthogonal = true;
    for (std::uint64_t c = 0; c < instance.parts[0].cols(); ++c) {
      bool all = true;
      for (std::size_t q = 0; q < p; ++q) all = all && instance.parts[q].get(tuple[q], c);
      orthogonal = orthogonal && !all;
    }
    if (orthogonal) found.insert(tuple);
    std::size_t q = 0;
    while (q < p && ++tuple[q] == instance.parts[q].rows()) tuple[q++] = 0;
    if (q == p) return found;
  }
}

TEST(CnfToPOv, WorkedExample) {
  sat::Cnf formula(3);
  formula.add_clause({1, 2});
  formula.add_clause({-1, 3});
  formula.add_clause({-2, -3});
  const CnfToPOv reduction = with_parts(3);
  const auto target = reduction.reduce(formula);
  ASSERT_EQ(target.parts.size(), 3U);
  EXPECT_EQ(target.parts[0], test::bits(3, {"101", "011"}));
  EXPECT_EQ(target.parts[1], test::bits(3, {"110", "011"}));
  EXPECT_EQ(target.parts[2], test::bits(3, {"110", "101"}));
  EXPECT_EQ(orthogonal_tuples(target), (std::set<Tuple>{{1, 0, 1}, {0, 1, 0}}));
  EXPECT_EQ(reduction.lift(formula, target, {Tuple{1, 0, 1}}).model, (sat::Model{true, false, true}));
}

RC_GTEST_PROP(CnfToPOv, ModelsAreOrthogonalTuples, (std::uint64_t seed)) {
  Random random(seed);
  const sat::Cnf formula = test::random_formula(random, 7, 9);
  const auto models = test::all_models(formula);
  for (const std::uint64_t parts : {1, 2, 3, 4, 9}) {
    const CnfToPOv reduction = with_parts(parts);
    const auto target = reduction.reduce(formula);
    std::set<sat::Model> lifted;
    for (const Tuple& tuple : orthogonal_tuples(target)) {
      const auto model = reduction.lift(formula, target, {tuple}).model;
      RC_ASSERT(model.has_value());
      RC_ASSERT(lifted.insert(*model).second);
    }
    RC_ASSERT(lifted == std::set<sat::Model>(models.begin(), models.end()));
    RC_ASSERT(violations(reduction.size_bounds(), sat::CnfSat::size(formula), OrthogonalTuples::size(target)).empty());
  }
}

RC_GTEST_PROP(CnfToPOv, TwoPartsAreTheBalancedPair, (std::uint64_t seed)) {
  Random random(seed);
  const sat::Cnf formula = test::random_formula(random, 9, 70);
  const auto tuples = with_parts(2).reduce(formula);
  const auto pair = CnfToOv().reduce(formula);
  RC_ASSERT(tuples.parts[0] == pair.a);
  RC_ASSERT(tuples.parts[1] == pair.b);
}

TEST(CnfToPOv, Edges) {
  sat::Cnf formula(2);
  formula.add_clause({1});
  formula.add_clause({-2});
  // p = 1: the zero vector is the model x1 = 1, x2 = 0, which is index 1.
  const auto single = with_parts(1).reduce(formula);
  EXPECT_EQ(orthogonal_tuples(single), std::set<Tuple>{{1}});
  // More parts than variables: parts without variables hold one all-ones vector.
  const auto many = with_parts(5).reduce(formula);
  ASSERT_EQ(many.parts.size(), 5U);
  EXPECT_EQ(many.parts[4], test::bits(2, {"11"}));
  EXPECT_EQ(with_parts(5).part_variables(formula, 1), 1U);
  EXPECT_EQ(with_parts(5).part_variables(formula, 2), 0U);
  EXPECT_EQ(orthogonal_tuples(many), (std::set<Tuple>{{1, 0, 0, 0, 0}}));
  // No variable, an empty clause.
  sat::Cnf empty_clause(0);
  empty_clause.add_clause({});
  EXPECT_TRUE(orthogonal_tuples(with_parts(3).reduce(empty_clause)).empty());
  EXPECT_EQ(orthogonal_tuples(with_parts(3).reduce(sat::Cnf(0))).size(), 1U);
}

TEST(CnfToPOv, FalseAnswersAreRefuted) {
  sat::Cnf formula(3);
  formula.add_clause({1, 2, 3});
  const CnfToPOv reduction = with_parts(3);
  const auto target = reduction.reduce(formula);
  EXPECT_THROW(reduction.lift(formula, target, {Tuple{0, 0, 0}}), OracleRefuted);
  EXPECT_THROW(reduction.lift(formula, target, {Tuple{1, 0}}), OracleRefuted);
  EXPECT_THROW(reduction.lift(formula, target, {Tuple{1, 0, 2}}), OracleRefuted);
  EXPECT_THROW(reduction.lift(formula, target, {Tuple{}}), OracleRefuted);
  EXPECT_EQ(reduction.lift(formula, target, {Tuple{1, 0, 0}}).model, (sat::Model{true, false, false}));
}

TEST(CnfToPOv, Refusals) {
  test::expect_error(ErrorKind::parameter, [] { with_parts(0); });
  test::expect_error(ErrorKind::parameter, [] { with_parts(2).lift(sat::Cnf(2), {{BitMatrix(2, 0)}}, {}); });
  test::expect_error(ErrorKind::parameter, [] { with_parts(2).part_variables(sat::Cnf(2), 2); });
  sat::Cnf huge(300);
  huge.add_clause({1});
  test::expect_error(ErrorKind::resource, [&] { with_parts(3).reduce(huge); });
}

}  // namespace
}  // namespace subquad::reductions
