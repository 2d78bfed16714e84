// Drawings of the graph of problems and reductions: text, Graphviz, SVG with a layered layout of our own.
#pragma once

#include <subquad/reductions/registry.hpp>

#include <string>
#include <vector>

namespace subquad::drivers {

/// The part of the registry to draw.
struct GraphView {
  std::vector<const reductions::ProblemEntry*> problems;
  std::vector<const reductions::ReductionEntry*> reductions;
};

/// Everything in the registry.
GraphView whole_graph();
/// The problems and reductions on these paths, in the registry's order.
GraphView graph_of_paths(const std::vector<std::vector<const reductions::ReductionEntry*>>& paths);

/// Layer of each problem of the view (same order): length of the longest path of reductions that ends there, where
/// reductions closing a cycle are left out. Sources are in layer 0.
std::vector<int> graph_layers(const GraphView& view);

/// Problems with their size fields; reductions with bounds (= exact, <= upper), citation, claim id and hypothesis.
std::string draw_text(const GraphView& view);
/// A digraph for Graphviz.
std::string draw_dot(const GraphView& view);
/// A self-contained SVG, one column a layer.
std::string draw_svg(const GraphView& view);

/// "num_a = 2^ceil(num_variables/2)", "dim <= num_clauses".
std::string describe_bound(const reductions::SizeBound& bound);

/// Bounds of a whole path in the fields of its first problem, with default parameters. The path is not empty.
std::vector<reductions::SizeBound> composed_bounds(const std::vector<const reductions::ReductionEntry*>& path);

}  // namespace subquad::drivers
