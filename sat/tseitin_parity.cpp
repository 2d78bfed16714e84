#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/sat/tseitin_parity.hpp>

#include <fmt/format.h>

#include <bit>

namespace subquad::sat {

namespace {

/// Number of chunk variables that a sum of `terms` variables needs: each chunk replaces max_width - 1 terms by one.
std::uint64_t num_chunks(std::uint64_t terms, std::uint64_t max_width) {
  return terms <= max_width ? 0 : (terms - max_width + max_width - 3) / (max_width - 2);
}

/// Adds the 2^(terms-1) clauses that forbid each assignment with the wrong sum.
void add_parity(Cnf& formula, const std::vector<std::uint32_t>& terms, bool odd) {
  std::vector<Literal> clause(terms.size());
  for (std::uint32_t forbidden = 0; forbidden < std::uint32_t{1} << terms.size(); ++forbidden) {
    if ((std::popcount(forbidden) % 2 != 0) == odd) continue;
    for (std::size_t i = 0; i < terms.size(); ++i) clause[i] = Literal(terms[i], ((forbidden >> i) & 1U) != 0);
    formula.add_clause(clause);
  }
}

}  // namespace

Cnf tseitin_parity(const Graph& graph, const std::vector<bool>& charge, std::uint32_t max_width) {
  require(max_width >= 3 && max_width <= 16, ErrorKind::parameter, "clause width {}, expected 3 to 16", max_width);
  require(charge.size() == graph.num_vertices, ErrorKind::parameter, "{} charges for {} vertices", charge.size(),
          graph.num_vertices);
  const auto incident = incident_edges(graph);
  std::uint64_t num_variables = graph.edges.size();
  for (const auto& edges : incident) num_variables += num_chunks(edges.size(), max_width);
  Cnf formula(num_variables);
  for (std::uint64_t e = 0; e < graph.edges.size(); ++e)
    formula.kept_comments.push_back(fmt::format("c varname {} e({},{})", e + 1, graph.edges[e].u, graph.edges[e].v));

  auto next_chunk = static_cast<std::uint32_t>(graph.edges.size());
  for (std::uint32_t vertex = 0; vertex < graph.num_vertices; ++vertex) {
    std::vector<std::uint32_t> terms(incident[vertex].begin(), incident[vertex].end());
    while (terms.size() > max_width) {
      const auto chunk_end = terms.begin() + (max_width - 1);
      std::vector<std::uint32_t> chunk(terms.begin(), chunk_end);
      chunk.push_back(next_chunk);
      add_parity(formula, chunk, false);
      terms.erase(terms.begin(), chunk_end);
      terms.push_back(next_chunk++);
    }
    add_parity(formula, terms, charge[vertex]);
  }
  return formula;
}

std::vector<bool> random_charge(std::uint32_t num_vertices, bool odd, std::uint64_t seed) {
  require(num_vertices > 0 || !odd, ErrorKind::parameter, "an odd total charge needs a vertex to sit on");
  Random random = Random(seed).split("random_charge");
  std::vector<bool> charge(num_vertices);
  bool total = false;
  for (std::uint32_t v = 0; v + 1 < num_vertices; ++v) {
    charge[v] = random.below(2) != 0;
    total ^= charge[v];
  }
  if (num_vertices > 0) charge.back() = total != odd;
  return charge;
}

}  // namespace subquad::sat
