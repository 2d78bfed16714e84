#include "expect_error.hpp"
#include "small_formulas.hpp"

#include <subquad/core/random.hpp>
#include <subquad/sat/cadical_solver.hpp>
#include <subquad/sat/tseitin_parity.hpp>

#include <numeric>

namespace subquad::sat {
namespace {

using test::count_models;
using test::expect_error;

TEST(TseitinParity, ATriangleByHand) {
  // Edges e1 = 01, e2 = 12, e3 = 20; vertex 0 has charge 1: e1 + e3 = 1, e1 + e2 = 0, e2 + e3 = 0. Odd, so no model.
  const Cnf formula = tseitin_parity(cycle_graph(3), {true, false, false});
  Cnf expected(3);
  expected.add_clause({1, 3});
  expected.add_clause({-1, -3});
  expected.add_clause({-1, 2});
  expected.add_clause({1, -2});
  expected.add_clause({-2, 3});
  expected.add_clause({2, -3});
  expected.kept_comments = {"c varname 1 e(0,1)", "c varname 2 e(1,2)", "c varname 3 e(2,0)"};
  EXPECT_EQ(formula, expected);
  EXPECT_EQ(count_models(formula), 0U);
  EXPECT_EQ(count_models(tseitin_parity(cycle_graph(3), {true, true, false})), 2U);
}

/// Models by the theory: 2^(edges - vertices + components) if every component's charge is even, else none.
std::uint64_t expected_models(const Graph& graph, const std::vector<bool>& charge) {
  const auto component = components(graph);
  std::uint32_t count = 0;
  std::vector<bool> total(graph.num_vertices);
  for (std::uint32_t v = 0; v < graph.num_vertices; ++v) {
    count = std::max(count, component[v] + 1);
    total[component[v]] = total[component[v]] != charge[v];
  }
  if (std::find(total.begin(), total.end(), true) != total.end()) return 0;
  return std::uint64_t{1} << (graph.edges.size() + count - graph.num_vertices);
}

RC_GTEST_PROP(TseitinParity, CountsModelsAsTheTheorySays, (std::uint64_t seed)) {
  Random random(seed);
  Graph graph{static_cast<std::uint32_t>(random.below(6) + 1), {}};
  const std::uint64_t num_edges = graph.num_vertices == 1 ? 0 : random.below(9);
  for (std::uint64_t e = 0; e < num_edges; ++e) {  // parallel edges and isolated vertices occur
    const auto u = static_cast<std::uint32_t>(random.below(graph.num_vertices));
    const auto step = static_cast<std::uint32_t>(random.below(graph.num_vertices - 1) + 1);
    graph.edges.push_back({u, (u + step) % graph.num_vertices});
  }
  std::vector<bool> charge(graph.num_vertices);
  for (std::uint32_t v = 0; v < graph.num_vertices; ++v) charge[v] = random.below(2) != 0;
  const auto width = static_cast<std::uint32_t>(random.below(4) + 3);
  const Cnf formula = tseitin_parity(graph, charge, width);
  RC_PRE(formula.num_variables() <= 16U);
  RC_ASSERT(formula.max_width() <= width);
  RC_ASSERT(count_models(formula) == expected_models(graph, charge));
  const CnfSat::Answer answer = solve_with_cadical(formula);
  RC_ASSERT(answer.model.has_value() == (expected_models(graph, charge) > 0));
}

TEST(TseitinParity, ChunksKeepTheNumberOfModels) {
  const Graph star{8, {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 6}, {0, 7}}};
  std::vector<bool> charge(8);
  charge[0] = charge[3] = true;
  for (std::uint32_t width = 3; width <= 8; ++width) {
    const Cnf formula = tseitin_parity(star, charge, width);
    EXPECT_LE(formula.max_width(), width);
    EXPECT_EQ(count_models(formula), 1U) << width;
  }
  EXPECT_EQ(tseitin_parity(star, charge, 3).num_variables(), 7U + 4U);  // 7 terms, each chunk saves one: 4 chunks
  EXPECT_EQ(tseitin_parity(star, charge, 7).num_variables(), 7U);
}

TEST(TseitinParity, IsolatedVertices) {
  EXPECT_EQ(count_models(tseitin_parity({1, {}}, {false})), 1U);
  EXPECT_EQ(count_models(tseitin_parity({1, {}}, {true})), 0U);  // an empty clause
  EXPECT_EQ(count_models(tseitin_parity({}, {})), 1U);
}

TEST(TseitinParity, OddChargeOnARandomRegularGraphIsRefutedByTheSolver) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Graph graph = random_regular_graph(12, 4, seed);
    EXPECT_FALSE(solve_with_cadical(tseitin_parity(graph, random_charge(12, true, seed))).model);
  }
}

TEST(TseitinParity, RandomChargeHasTheParityAskedFor) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    for (const bool odd : {false, true}) {
      const std::vector<bool> charge = random_charge(7, odd, seed);
      EXPECT_EQ(std::count(charge.begin(), charge.end(), true) % 2 != 0, odd);
    }
  }
  EXPECT_NE(random_charge(40, true, 1), random_charge(40, true, 2));
  EXPECT_TRUE(random_charge(0, false, 1).empty());
  expect_error(ErrorKind::parameter, "needs a vertex", [] { random_charge(0, true, 1); });
}

TEST(TseitinParity, RefusesBadParameters) {
  expect_error(ErrorKind::parameter, "2 charges for 3 vertices", [] { tseitin_parity(cycle_graph(3), {true, false}); });
  for (const std::uint32_t width : {0U, 2U, 17U}) {
    expect_error(ErrorKind::parameter, "expected 3 to 16", [width] {
      tseitin_parity(cycle_graph(3), {true, false, false}, width);
    });
  }
  expect_error(ErrorKind::parameter, "loop", [] { tseitin_parity({1, {{0, 0}}}, {true}); });
}

}  // namespace
}  // namespace subquad::sat
