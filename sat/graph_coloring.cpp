#include <subquad/core/error.hpp>
#include <subquad/sat/graph_coloring.hpp>

#include <fmt/format.h>

#include <optional>

namespace subquad::sat {

namespace {

Literal has_color(std::uint32_t vertex, std::uint32_t color, std::uint32_t colors, bool negative) {
  return {static_cast<std::uint32_t>(std::uint64_t{vertex} * colors + color), negative};
}

}  // namespace

Cnf graph_coloring(const Graph& graph, std::uint32_t colors) {
  check_graph(graph);
  Cnf formula(std::uint64_t{graph.num_vertices} * colors);
  std::vector<Literal> clause;
  for (std::uint32_t vertex = 0; vertex < graph.num_vertices; ++vertex) {
    clause.clear();
    for (std::uint32_t color = 0; color < colors; ++color) {
      clause.push_back(has_color(vertex, color, colors, false));
      formula.kept_comments.push_back(fmt::format("c varname {} v({},{})", clause.back().to_dimacs(), vertex, color));
    }
    formula.add_clause(clause);
    for (std::uint32_t a = 0; a < colors; ++a) {
      for (std::uint32_t b = a + 1; b < colors; ++b) {
        const Literal pair[] = {has_color(vertex, a, colors, true), has_color(vertex, b, colors, true)};
        formula.add_clause(pair);
      }
    }
  }
  for (const Edge& edge : graph.edges) {
    for (std::uint32_t color = 0; color < colors; ++color) {
      const Literal pair[] = {has_color(edge.u, color, colors, true), has_color(edge.v, color, colors, true)};
      formula.add_clause(pair);
    }
  }
  return formula;
}

std::vector<std::uint32_t> decode_coloring(const Graph& graph, std::uint32_t colors, const Model& model) {
  const std::uint64_t expected = std::uint64_t{graph.num_vertices} * colors;
  require(model.size() == expected, ErrorKind::parameter,
          "a model with {} values, expected {} ({} vertices, {} colours)", model.size(), expected, graph.num_vertices,
          colors);
  std::vector<std::uint32_t> coloring;
  for (std::uint32_t vertex = 0; vertex < graph.num_vertices; ++vertex) {
    std::optional<std::uint32_t> own;
    for (std::uint32_t color = 0; color < colors; ++color) {
      if (!model[has_color(vertex, color, colors, false).variable()]) continue;
      require(!own, ErrorKind::parameter, "vertex {} has the colours {} and {}, expected one", vertex, own.value_or(0),
              color);
      own = color;
    }
    require(own.has_value(), ErrorKind::parameter, "vertex {} has no colour, expected one", vertex);
    coloring.push_back(*own);
  }
  return coloring;
}

bool is_proper_coloring(const Graph& graph, const std::vector<std::uint32_t>& coloring) {
  check_graph(graph);
  require(coloring.size() == graph.num_vertices, ErrorKind::parameter, "{} colours for {} vertices", coloring.size(),
          graph.num_vertices);
  for (const Edge& edge : graph.edges) {
    if (coloring[edge.u] == coloring[edge.v]) return false;
  }
  return true;
}

}  // namespace subquad::sat
