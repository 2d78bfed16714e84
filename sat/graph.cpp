#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/sat/graph.hpp>

#include <algorithm>
#include <numeric>
#include <optional>

namespace subquad::sat {

namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

using Neighbours = std::vector<std::vector<std::uint32_t>>;

bool adjacent(const Neighbours& neighbours, std::uint32_t u, std::uint32_t v) {
  return std::find(neighbours[u].begin(), neighbours[u].end(), v) != neighbours[u].end();
}

/// Whether two different vertices with free half-edges are not adjacent yet.
bool can_go_on(const Neighbours& neighbours, std::vector<std::uint32_t> free) {
  std::sort(free.begin(), free.end());
  free.erase(std::unique(free.begin(), free.end()), free.end());
  for (std::size_t i = 0; i < free.size(); ++i) {
    for (std::size_t j = i + 1; j < free.size(); ++j) {
      if (!adjacent(neighbours, free[i], free[j])) return true;
    }
  }
  return false;
}

/// One attempt of Steger and Wormald's procedure; nothing if it got stuck.
std::optional<Neighbours> try_regular(std::uint32_t num_vertices, std::uint32_t degree, Random& random) {
  Neighbours neighbours(num_vertices);
  std::vector<std::uint32_t> free;  // one entry a free half-edge
  free.reserve(std::size_t{num_vertices} * degree);
  for (std::uint32_t v = 0; v < num_vertices; ++v) free.insert(free.end(), degree, v);
  constexpr int kPatience = 64;  // unlucky draws in a row before it is worth looking whether any pair is left
  for (int unlucky = 0; !free.empty();) {
    const auto draw = [&](std::size_t count) { return static_cast<std::size_t>(random.below(count)); };
    std::swap(free[draw(free.size())], free.back());
    std::swap(free[draw(free.size() - 1)], free[free.size() - 2]);
    const std::uint32_t u = free.back();
    const std::uint32_t v = free[free.size() - 2];
    if (u != v && !adjacent(neighbours, u, v)) {
      neighbours[u].push_back(v);
      neighbours[v].push_back(u);
      free.resize(free.size() - 2);
      unlucky = 0;
    } else if (++unlucky == kPatience) {
      if (!can_go_on(neighbours, free)) return std::nullopt;
      unlucky = 0;
    }
  }
  return neighbours;
}

}  // namespace

void check_graph(const Graph& graph) {
  for (const Edge& edge : graph.edges) {
    require(edge.u < graph.num_vertices && edge.v < graph.num_vertices, ErrorKind::parameter,
            "edge {} -- {} in a graph with {} vertices", edge.u, edge.v, graph.num_vertices);
    require(edge.u != edge.v, ErrorKind::parameter, "loop at vertex {}, expected edges between different vertices",
            edge.u);
  }
}

std::vector<std::vector<std::uint64_t>> incident_edges(const Graph& graph) {
  check_graph(graph);
  std::vector<std::vector<std::uint64_t>> result(graph.num_vertices);
  for (std::uint64_t e = 0; e < graph.edges.size(); ++e) {
    result[graph.edges[e].u].push_back(e);
    result[graph.edges[e].v].push_back(e);
  }
  return result;
}

std::vector<std::uint32_t> components(const Graph& graph) {
  const auto incident = incident_edges(graph);
  std::vector<std::uint32_t> component(graph.num_vertices, kNone);
  std::uint32_t count = 0;
  std::vector<std::uint32_t> todo;
  for (std::uint32_t start = 0; start < graph.num_vertices; ++start) {
    if (component[start] != kNone) continue;
    component[start] = count;
    todo.push_back(start);
    while (!todo.empty()) {
      const std::uint32_t vertex = todo.back();
      todo.pop_back();
      for (const std::uint64_t e : incident[vertex]) {
        const std::uint32_t other = graph.edges[e].u == vertex ? graph.edges[e].v : graph.edges[e].u;
        if (component[other] != kNone) continue;
        component[other] = count;
        todo.push_back(other);
      }
    }
    ++count;
  }
  return component;
}

Graph cycle_graph(std::uint32_t num_vertices) {
  require(num_vertices >= 3, ErrorKind::parameter, "a cycle on {} vertices, expected at least 3", num_vertices);
  Graph graph{num_vertices, {}};
  for (std::uint32_t v = 0; v < num_vertices; ++v) graph.edges.push_back({v, (v + 1) % num_vertices});
  return graph;
}

Graph complete_graph(std::uint32_t num_vertices) {
  Graph graph{num_vertices, {}};
  for (std::uint32_t u = 0; u < num_vertices; ++u) {
    for (std::uint32_t v = u + 1; v < num_vertices; ++v) graph.edges.push_back({u, v});
  }
  return graph;
}

Graph petersen_graph() {
  Graph graph{10, {}};
  for (std::uint32_t i = 0; i < 5; ++i) graph.edges.push_back({i, (i + 1) % 5});
  for (std::uint32_t i = 0; i < 5; ++i) graph.edges.push_back({i, i + 5});
  for (std::uint32_t i = 0; i < 5; ++i) graph.edges.push_back({i + 5, (i + 2) % 5 + 5});
  return graph;
}

Graph random_regular_graph(std::uint32_t num_vertices, std::uint32_t degree, std::uint64_t seed) {
  require(degree < num_vertices || (degree == 0 && num_vertices == 0), ErrorKind::parameter,
          "degree {} in a simple graph with {} vertices, expected less", degree, num_vertices);
  require((std::uint64_t{num_vertices} * degree) % 2 == 0, ErrorKind::parameter,
          "{} vertices of degree {}: the sum of the degrees is odd, expected even", num_vertices, degree);
  const bool complement = num_vertices > 0 && std::uint64_t{2} * degree > num_vertices - 1;
  const std::uint32_t drawn_degree = complement ? num_vertices - 1 - degree : degree;
  const Random root = Random(seed).split("random_regular_graph");
  std::optional<Neighbours> neighbours;
  for (std::uint64_t attempt = 0; !neighbours; ++attempt) {
    Random random = root.split(attempt);
    neighbours = try_regular(num_vertices, drawn_degree, random);
  }
  Graph graph{num_vertices, {}};
  for (std::uint32_t u = 0; u < num_vertices; ++u) {
    std::vector<std::uint32_t>& others = (*neighbours)[u];
    std::sort(others.begin(), others.end());
    if (complement) {
      for (std::uint32_t v = u + 1; v < num_vertices; ++v) {
        if (!std::binary_search(others.begin(), others.end(), v)) graph.edges.push_back({u, v});
      }
    } else {
      for (auto v = std::upper_bound(others.begin(), others.end(), u); v != others.end(); ++v)
        graph.edges.push_back({u, *v});
    }
  }
  return graph;
}

}  // namespace subquad::sat
