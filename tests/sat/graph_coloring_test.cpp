#include "expect_error.hpp"
#include "small_formulas.hpp"

#include <subquad/core/random.hpp>
#include <subquad/sat/cadical_solver.hpp>
#include <subquad/sat/graph_coloring.hpp>

namespace subquad::sat {
namespace {

using test::count_models;
using test::expect_error;

/// Number of proper colourings, by trying all maps.
std::uint64_t count_colorings(const Graph& graph, std::uint32_t colors) {
  std::uint64_t maps = 1;
  for (std::uint32_t v = 0; v < graph.num_vertices; ++v) maps *= colors;
  std::uint64_t count = 0;
  std::vector<std::uint32_t> coloring(graph.num_vertices);
  for (std::uint64_t map = 0; map < maps; ++map) {
    std::uint64_t rest = map;
    for (std::uint32_t& color : coloring) {
      color = static_cast<std::uint32_t>(rest % colors);
      rest /= colors;
    }
    bool proper = true;
    for (const Edge& edge : graph.edges) proper = proper && coloring[edge.u] != coloring[edge.v];
    EXPECT_EQ(proper, is_proper_coloring(graph, coloring));
    count += proper ? 1 : 0;
  }
  return count;
}

TEST(GraphColoring, OneEdgeTwoColors) {
  Cnf expected(4);
  expected.add_clause({1, 2});
  expected.add_clause({-1, -2});
  expected.add_clause({3, 4});
  expected.add_clause({-3, -4});
  expected.add_clause({-1, -3});
  expected.add_clause({-2, -4});
  expected.kept_comments = {"c varname 1 v(0,0)", "c varname 2 v(0,1)", "c varname 3 v(1,0)", "c varname 4 v(1,1)"};
  EXPECT_EQ(graph_coloring(complete_graph(2), 2), expected);
}

RC_GTEST_PROP(GraphColoring, ModelsAreTheProperColorings, (std::uint64_t seed)) {
  Random random(seed);
  Graph graph{static_cast<std::uint32_t>(random.below(6)), {}};
  for (std::uint32_t u = 0; u < graph.num_vertices; ++u) {
    for (std::uint32_t v = u + 1; v < graph.num_vertices; ++v) {
      if (random.below(2) != 0) graph.edges.push_back({u, v});
    }
  }
  const auto colors = static_cast<std::uint32_t>(random.below(4));
  RC_ASSERT(count_models(graph_coloring(graph, colors)) == count_colorings(graph, colors));
}

TEST(GraphColoring, ChromaticNumbers) {
  const auto colorable = [](const Graph& graph, std::uint32_t colors) {
    const CnfSat::Answer answer = solve_with_cadical(graph_coloring(graph, colors));
    EXPECT_TRUE(!answer.model || is_proper_coloring(graph, decode_coloring(graph, colors, *answer.model)));
    return answer.model.has_value();
  };
  EXPECT_FALSE(colorable(petersen_graph(), 2));
  EXPECT_TRUE(colorable(petersen_graph(), 3));
  EXPECT_EQ(count_colorings(petersen_graph(), 3), 120U);  // its chromatic polynomial at 3
  for (std::uint32_t n = 3; n <= 8; ++n) {
    EXPECT_EQ(colorable(cycle_graph(n), 2), n % 2 == 0) << n;
    EXPECT_TRUE(colorable(cycle_graph(n), 3)) << n;
    EXPECT_FALSE(colorable(complete_graph(n), n - 1)) << n;
    EXPECT_TRUE(colorable(complete_graph(n), n)) << n;
  }
  EXPECT_TRUE(colorable(Graph{}, 0));
  EXPECT_FALSE(colorable(complete_graph(1), 0));
}

TEST(GraphColoring, DecodeRefusesWhatIsNoColoring) {
  const Graph edge = complete_graph(2);
  EXPECT_EQ(decode_coloring(edge, 2, {true, false, false, true}), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_FALSE(is_proper_coloring(edge, decode_coloring(edge, 2, {true, false, true, false})));
  expect_error(ErrorKind::parameter, "vertex 1 has no colour", [&] {
    decode_coloring(edge, 2, {true, false, false, false});
  });
  expect_error(ErrorKind::parameter, "vertex 0 has the colours 0 and 1", [&] {
    decode_coloring(edge, 2, {true, true, false, true});
  });
  expect_error(ErrorKind::parameter, "a model with 3 values, expected 4", [&] { decode_coloring(edge, 2, Model(3)); });
  expect_error(ErrorKind::parameter, "1 colours for 2 vertices", [&] { is_proper_coloring(edge, {0}); });
}

TEST(GraphColoring, RefusesBadParameters) {
  expect_error(ErrorKind::parameter, "loop at vertex 0", [] { graph_coloring({1, {{0, 0}}}, 3); });
  expect_error(ErrorKind::parameter, "variables, at most", [] { graph_coloring(Graph{1 << 16, {}}, 1 << 15); });
}

}  // namespace
}  // namespace subquad::sat
