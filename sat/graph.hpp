// Graphs for the formula families that live on one (colouring, Tseitin): edge lists and the standard examples.
#pragma once

#include <cstdint>
#include <vector>

namespace subquad::sat {

/// An undirected edge between two vertices, 0-based.
struct Edge {
  std::uint32_t u = 0;
  std::uint32_t v = 0;
  friend bool operator==(const Edge&, const Edge&) = default;
};

/// An undirected graph as a list of edges; parallel edges are allowed, loops are not.
struct Graph {
  std::uint32_t num_vertices = 0;
  std::vector<Edge> edges;
  friend bool operator==(const Graph&, const Graph&) = default;
};

/// Throws Error(parameter) for an edge with a vertex out of range or a loop. O(edges).
void check_graph(const Graph& graph);

/// Returns the indices of the edges at each vertex, ascending. Throws as check_graph. O(vertices + edges).
std::vector<std::vector<std::uint64_t>> incident_edges(const Graph& graph);

/// Returns the number of each vertex's component; components are numbered by their smallest vertex.
/// Throws as check_graph does.
std::vector<std::uint32_t> components(const Graph& graph);

/// The cycle on n vertices. Throws Error(parameter) if n < 3.
Graph cycle_graph(std::uint32_t num_vertices);

/// The complete graph on n >= 0 vertices.
Graph complete_graph(std::uint32_t num_vertices);

/// The Petersen graph: outer cycle 0..4, inner star 5..9, spokes i -- i+5. 10 vertices, 15 edges, chromatic number 3.
Graph petersen_graph();

/// A random simple graph with all degrees equal. Close to uniform for small degrees, as num_vertices grows.
///
/// Ranges      degree < num_vertices (or both 0), degree * num_vertices even; else Error(parameter)
/// Randomness  `seed`; pairs free half-edges one by one and starts again when stuck; above degree
///             (num_vertices-1)/2 the complement of such a graph
/// Cost        O(vertices * degree^2) expected
/// Reference   Steger, Wormald: Generating random regular graphs quickly (Combin. Probab. Comput. 1999)
Graph random_regular_graph(std::uint32_t num_vertices, std::uint32_t degree, std::uint64_t seed);

}  // namespace subquad::sat
