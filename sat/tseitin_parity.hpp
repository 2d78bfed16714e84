// Tseitin's parity formulas: the charges of a graph's vertices as sums of edge variables.
//
// One variable an edge, one charge (0 or 1) a vertex; the formula says that the variables of the edges at each vertex
// add up to its charge modulo 2. Every edge counts twice, so the formula is satisfiable iff the charges of each
// connected component add up to an even number, and then it has 2^(edges - vertices + components) models. On expanders
// an odd total charge makes resolution refutations exponentially long. A sum of `width` variables takes 2^(width-1)
// clauses; longer sums are cut into chunks by new variables, each of which equals the sum of a chunk (so that the
// number of models stays).
//
// References  Tseitin: On the complexity of derivation in propositional calculus (1968)
//             Urquhart: Hard examples for resolution (JACM 1987)
#pragma once

#include <subquad/sat/cnf.hpp>
#include <subquad/sat/graph.hpp>

#include <cstdint>
#include <vector>

namespace subquad::sat {

/// Builds the formula. Variables 0..edges-1 are the edges in their order (`c varname` comments e(U,V), 0-based), the
/// variables of chunks follow.
///
/// Shapes  charge: one value a vertex
/// Ranges  max_width in 3..16: no clause is wider
/// Errors  Error(parameter) for a wrong number of charges, a width out of range, a bad graph (check_graph), or more
///         than kMaxVariables variables
Cnf tseitin_parity(const Graph& graph, const std::vector<bool>& charge, std::uint32_t max_width = 4);

/// Draws charges, uniform among those whose total over all vertices is odd (or even). Randomness: `seed`.
/// Throws Error(parameter) for an odd total on no vertex.
std::vector<bool> random_charge(std::uint32_t num_vertices, bool odd, std::uint64_t seed);

}  // namespace subquad::sat
