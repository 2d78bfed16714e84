#include "edge_instances.hpp"

#include <subquad/core/error.hpp>
#include <subquad/reductions/assignment_vectors.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

namespace subquad::reductions {
namespace {

using Clauses = std::vector<std::uint64_t>;

/// (x1 or x2) and (not x1 or x3) and (not x2 or not x3), the example of docs/reductions/cnf_to_ov.md.
sat::Cnf example() {
  sat::Cnf formula(3);
  formula.add_clause({1, 2});
  formula.add_clause({-1, 3});
  formula.add_clause({-2, -3});
  return formula;
}

Clauses all(const sat::Cnf& formula) {
  return select_clauses(formula, {});
}

/// Entry c of the vector of `index`, straight from the definition.
bool entry(const sat::Cnf& formula, std::uint32_t first, std::uint64_t count, std::uint64_t index,
           std::uint64_t clause) {
  for (const sat::Literal literal : formula.clause(clause)) {
    if (literal.variable() < first || literal.variable() >= first + count) continue;
    const bool value = ((index >> (literal.variable() - first)) & 1U) != 0;
    if (value != literal.negative()) return false;
  }
  return true;
}

TEST(AssignmentVectors, WorkedExample) {
  const sat::Cnf formula = example();
  const BitMatrix left = AssignmentVectors(formula, 0, 2, all(formula)).build({}).rows;
  // index: x1 is bit 0, x2 is bit 1
  EXPECT_EQ(left.row_string(0), "100");  // x1 = x2 = 0: satisfies not-x1 and not-x2
  EXPECT_EQ(left.row_string(1), "010");  // x1 = 1
  EXPECT_EQ(left.row_string(2), "001");  // x2 = 1
  EXPECT_EQ(left.row_string(3), "011");
  const BitMatrix right = AssignmentVectors(formula, 2, 1, all(formula)).build({}).rows;
  EXPECT_EQ(right.row_string(0), "110");  // x3 = 0 satisfies not-x3
  EXPECT_EQ(right.row_string(1), "101");  // x3 = 1
}

TEST(AssignmentVectors, OperationCountOfPrefixDoublingAndStreamingIsExact) {
  sat::Cnf formula(16);
  for (int v = 1; v <= 16; ++v) formula.add_clause({v, -((v % 16) + 1)});
  const AssignmentVectors vectors(formula, 0, 16, all(formula));
  EXPECT_EQ(vectors.words_per_vector(), 1U);
  EXPECT_EQ(vectors.build({}).and_nots, 131070U);  // 2^17 - 2
  EXPECT_EQ(vectors.for_each_vector([](std::uint64_t, std::span<const std::uint64_t>) {}), 131070U);
  for (int v = 1; v <= 16; ++v)
    for (int copy = 0; copy < 7; ++copy) formula.add_clause({v});
  const AssignmentVectors wide(formula, 3, 9, all(formula));  // 128 clauses: two words
  EXPECT_EQ(wide.words_per_vector(), 2U);
  EXPECT_EQ(wide.build({}).and_nots, ((1U << 10) - 2) * 2);
  EXPECT_EQ(wide.for_each_vector([](std::uint64_t, std::span<const std::uint64_t>) {}), ((1U << 10) - 2) * 2);
}

RC_GTEST_PROP(AssignmentVectors, ThreeGeneratorsAndTheDefinitionAgree, (std::uint64_t seed)) {
  Random random(seed);
  const bool wide = random.below(3) == 0;
  const sat::Cnf formula = test::random_formula(random, 8, wide ? 140 : 10);
  const auto n = formula.num_variables();
  const auto first = static_cast<std::uint32_t>(random.below(n + 1));
  const std::uint64_t count = random.below(n - first + 1);
  ClauseSelection selection;
  selection.drop_tautologies = random.below(2) == 1;
  selection.drop_duplicates = random.below(2) == 1;
  const Clauses kept = select_clauses(formula, selection);
  const AssignmentVectors vectors(formula, first, count, kept);
  const BitMatrix built = vectors.build({}).rows;
  RC_ASSERT(built.rows() == std::uint64_t{1} << count);
  RC_ASSERT(built.cols() == kept.size());
  std::uint64_t next = 0;
  std::vector<std::uint64_t> single(vectors.words_per_vector());
  vectors.for_each_vector([&](std::uint64_t index, std::span<const std::uint64_t> words) {
    RC_ASSERT(index == next++);
    const auto row = built.row(index);
    RC_ASSERT(std::equal(words.begin(), words.end(), row.begin(), row.end()));  // padding included
    vectors.vector(index, single);
    RC_ASSERT(std::equal(words.begin(), words.end(), single.begin(), single.end()));
    for (std::uint64_t c = 0; c < kept.size(); ++c)
      RC_ASSERT(built.get(index, c) == entry(formula, first, count, index, kept[c]));
  });
  RC_ASSERT(next == built.rows());
  if (built.cols() > 0) RC_ASSERT((built.row(0).back() & ~built.last_word_mask()) == 0U);
}

TEST(AssignmentVectors, IndependentOfTheNumberOfThreads) {
  Random random(7);
  sat::Cnf formula(14);
  for (int c = 0; c < 70; ++c)
    formula.add_clause(std::vector<sat::Literal>{{static_cast<std::uint32_t>(random.below(14)), random.below(2) == 1},
                                                 {static_cast<std::uint32_t>(random.below(14)), random.below(2) == 1}});
  const AssignmentVectors vectors(formula, 0, 14, all(formula));
  Execution one;
  one.threads = 1;
  Execution three;
  three.threads = 3;
  EXPECT_EQ(vectors.build(one).rows, vectors.build(three).rows);
}

TEST(AssignmentVectors, SelectClauses) {
  sat::Cnf formula(3);
  formula.add_clause({1, -1, 2});  // 0: tautology
  formula.add_clause({2, 3});      // 1
  formula.add_clause({3, 2, 2});   // 2: clause 1 as a set
  formula.add_clause({});          // 3
  formula.add_clause({});          // 4: the empty clause again
  formula.add_clause({2, 1, -1});  // 5: clause 0 as a set
  EXPECT_EQ(select_clauses(formula, {}), (Clauses{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(select_clauses(formula, {true, false}), (Clauses{1, 2, 3, 4}));
  EXPECT_EQ(select_clauses(formula, {false, true}), (Clauses{0, 1, 3}));
  EXPECT_EQ(select_clauses(formula, {true, true}), (Clauses{1, 3}));
}

TEST(AssignmentVectors, Edges) {
  const sat::Cnf nothing(0);
  const AssignmentVectors none(nothing, 0, 0, {});
  EXPECT_EQ(none.num_vectors(), 1U);
  EXPECT_EQ(none.build({}).rows, BitMatrix(1, 0));
  sat::Cnf empty_clause(0);
  empty_clause.add_clause({});
  EXPECT_EQ(AssignmentVectors(empty_clause, 0, 0, all(empty_clause)).build({}).rows.row_string(0), "1");
  const sat::Cnf unused(40);
  EXPECT_EQ(AssignmentVectors(unused, 0, 40, {}).build({}).rows.rows(),
            std::uint64_t{1} << 40);  // no coordinate, no work
}

TEST(AssignmentVectors, ImpossibleSizesAreRefusedBeforeAnyAllocation) {
  sat::Cnf formula(sat::kMaxVariables);
  formula.add_clause({1, 2});
  const auto refusal = [&](std::uint64_t count) {
    try {
      AssignmentVectors(formula, 0, count, all(formula)).build({});
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::internal;
  };
  EXPECT_EQ(refusal(64), ErrorKind::resource);
  EXPECT_EQ(refusal(sat::kMaxVariables), ErrorKind::resource);
  EXPECT_EQ(refusal(sat::kMaxVariables + 1), ErrorKind::parameter);
  EXPECT_EQ(refusal(60), ErrorKind::resource);  // can be numbered, cannot be stored
}

}  // namespace
}  // namespace subquad::reductions
