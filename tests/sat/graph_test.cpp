#include "expect_error.hpp"

#include <subquad/sat/graph.hpp>

#include <set>

namespace subquad::sat {
namespace {

using test::expect_error;

std::vector<std::size_t> degrees(const Graph& graph) {
  std::vector<std::size_t> result;
  for (const auto& edges : incident_edges(graph)) result.push_back(edges.size());
  return result;
}

/// Length of a shortest cycle of a simple graph, by a breadth-first search from every vertex; 0 if there is none.
std::uint32_t girth(const Graph& graph) {
  std::uint32_t best = 0;
  const auto incident = incident_edges(graph);
  for (std::uint32_t root = 0; root < graph.num_vertices; ++root) {
    std::vector<int> depth(graph.num_vertices, -1);
    std::vector<std::uint64_t> via(graph.num_vertices, graph.edges.size());
    std::vector<std::uint32_t> queue{root};
    depth[root] = 0;
    for (std::size_t head = 0; head < queue.size(); ++head) {
      const std::uint32_t u = queue[head];
      for (const std::uint64_t e : incident[u]) {
        if (e == via[u]) continue;
        const std::uint32_t v = graph.edges[e].u == u ? graph.edges[e].v : graph.edges[e].u;
        if (depth[v] < 0) {
          depth[v] = depth[u] + 1;
          via[v] = e;
          queue.push_back(v);
        } else {
          const auto length = static_cast<std::uint32_t>(depth[u] + depth[v] + 1);
          if (best == 0 || length < best) best = length;
        }
      }
    }
  }
  return best;
}

TEST(Graph, PetersenIsTheThreeRegularGraphOfGirthFiveOnTenVertices) {  // it is the only one
  const Graph petersen = petersen_graph();
  EXPECT_EQ(petersen.edges.size(), 15U);
  EXPECT_EQ(degrees(petersen), std::vector<std::size_t>(10, 3));
  EXPECT_EQ(girth(petersen), 5U);
}

TEST(Graph, CyclesAndCompleteGraphs) {
  EXPECT_EQ(girth(cycle_graph(7)), 7U);
  EXPECT_EQ(degrees(cycle_graph(7)), std::vector<std::size_t>(7, 2));
  EXPECT_EQ(degrees(complete_graph(6)), std::vector<std::size_t>(6, 5));
  EXPECT_EQ(complete_graph(0).edges.size(), 0U);
  EXPECT_EQ(complete_graph(1).edges.size(), 0U);
  expect_error(ErrorKind::parameter, "a cycle on 2 vertices", [] { cycle_graph(2); });
}

TEST(Graph, Components) {
  const Graph graph{6, {{4, 1}, {1, 3}, {5, 2}}};
  EXPECT_EQ(components(graph), (std::vector<std::uint32_t>{0, 1, 2, 1, 1, 2}));
  EXPECT_TRUE(components(Graph{}).empty());
}

RC_GTEST_PROP(Graph, RandomRegularGraphsAreSimpleAndRegular, (std::uint64_t seed)) {
  const auto n = *rc::gen::inRange<std::uint32_t>(1, 24);
  const auto degree = *rc::gen::inRange<std::uint32_t>(0, n);
  RC_PRE(n * degree % 2 == 0);
  const Graph graph = random_regular_graph(n, degree, seed);
  RC_ASSERT(degrees(graph) == std::vector<std::size_t>(n, degree));
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const Edge& edge : graph.edges) RC_ASSERT(pairs.insert(std::minmax(edge.u, edge.v)).second);
  RC_ASSERT(random_regular_graph(n, degree, seed) == graph);
}

TEST(Graph, RandomRegularGraphsVary) {
  std::set<std::vector<std::pair<std::uint32_t, std::uint32_t>>> seen;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> list;
    for (const Edge& edge : random_regular_graph(6, 3, seed).edges) list.emplace_back(edge.u, edge.v);
    seen.insert(list);
  }
  EXPECT_EQ(seen.size(), 70U);  // all labelled cubic graphs on six vertices: 10 K_{3,3} and 60 prisms
}

TEST(Graph, RefusesBadGraphs) {
  expect_error(ErrorKind::parameter, "edge 0 -- 2 in a graph with 2 vertices", [] { check_graph({2, {{0, 2}}}); });
  expect_error(ErrorKind::parameter, "loop at vertex 1", [] { check_graph({2, {{1, 1}}}); });
  expect_error(ErrorKind::parameter, "degree 4 in a simple graph with 4", [] { random_regular_graph(4, 4, 1); });
  expect_error(ErrorKind::parameter, "the sum of the degrees is odd", [] { random_regular_graph(5, 3, 1); });
}

}  // namespace
}  // namespace subquad::sat
