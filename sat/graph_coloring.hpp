// Graph colouring as CNF: is there a map from vertices to colours with different colours at the ends of every edge?
//
// Variable vertex * colors + color says "this vertex has this colour". Clauses: each vertex has a colour; no vertex has
// two; no edge has two ends of one colour. So models and proper colourings correspond one to one.
// vertices * (1 + binom(colors, 2)) + edges * colors clauses.
//
// References  Karp: Reducibility among combinatorial problems (1972)
//             de Kleer: A comparison of ATMS and CSP techniques (IJCAI 1989), for the direct encoding
#pragma once

#include <subquad/sat/cnf.hpp>
#include <subquad/sat/graph.hpp>

#include <cstdint>
#include <vector>

namespace subquad::sat {

/// Builds the formula, with `c varname` comments v(VERTEX,COLOR), 0-based. With no colour each vertex's clause is
/// empty. Throws Error(parameter) for a bad graph (check_graph) or more than kMaxVariables variables.
Cnf graph_coloring(const Graph& graph, std::uint32_t colors);

/// Reads the colour of each vertex, 0..colors-1, from a model of graph_coloring(graph, colors).
/// Throws Error(parameter) if the model has the wrong length or gives a vertex no colour or two.
std::vector<std::uint32_t> decode_coloring(const Graph& graph, std::uint32_t colors, const Model& model);

/// Whether the ends of every edge have different colours. Throws Error(parameter) unless each vertex has a colour.
bool is_proper_coloring(const Graph& graph, const std::vector<std::uint32_t>& coloring);

}  // namespace subquad::sat
