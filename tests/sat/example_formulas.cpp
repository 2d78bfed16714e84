#include "example_formulas.hpp"

#include <subquad/sat/dimacs.hpp>
#include <subquad/sat/factoring_circuit.hpp>
#include <subquad/sat/graph_coloring.hpp>
#include <subquad/sat/pigeonhole.hpp>
#include <subquad/sat/tseitin_parity.hpp>
#include <subquad/sat/uniform_ksat.hpp>

#include <sstream>

namespace subquad::sat {

namespace {

/// A file as write_dimacs makes it; `made_by` is the generator's call.
ExampleFormula plain(std::string file, const std::string& made_by, std::optional<std::uint64_t> seed, Cnf formula,
                     std::uint64_t num_models) {
  Provenance provenance;
  provenance.command = made_by;
  provenance.seed = seed;
  std::ostringstream text;
  write_dimacs(text, formula, provenance);
  return {std::move(file), std::move(formula), num_models, text.str()};
}

/// The dialect of the SATLIB collection: comments that are blank, two spaces and a trailing one in the header, a
/// leading space before the first clause, and the trailer of a line `%` and a line `0`.
ExampleFormula satlib_dialect(std::uint64_t seed) {
  Cnf formula = uniform_ksat({.num_variables = 20, .clause_width = 3, .num_clauses = 91}, seed);
  std::ostringstream text;
  text << "c a random formula in the dialect of the SATLIB collection\nc\n\nc    clause length = 3 \nc    seed = "
       << seed << " \nc\n\np cnf 20  91 \n ";
  for (std::uint64_t c = 0; c < formula.num_clauses(); ++c) {
    for (const Literal literal : formula.clause(c)) text << literal.to_dimacs() << ' ';
    text << "0\n";
  }
  text << "%\n0\n\n";
  return {"satlib-dialect.cnf", std::move(formula), 8, text.str()};
}

}  // namespace

std::vector<ExampleFormula> example_formulas() {
  const Graph cubic = random_regular_graph(8, 3, 1);
  std::vector<ExampleFormula> examples;
  examples.push_back(plain("petersen-3-colouring.cnf", "graph_coloring(petersen_graph, 3 colours)", std::nullopt,
                           graph_coloring(petersen_graph(), 3), 120));
  examples.push_back(plain("petersen-2-colouring.cnf", "graph_coloring(petersen_graph, 2 colours)", std::nullopt,
                           graph_coloring(petersen_graph(), 2), 0));
  examples.push_back(plain("pigeonhole-4-3.cnf", "pigeonhole(4 pigeons, 3 holes)", std::nullopt,
                           pigeonhole({.pigeons = 4, .holes = 3}), 0));
  examples.push_back(plain("factoring-3x3-bit.cnf", "factoring_circuit(35 = a b, 3 and 3 bits)", std::nullopt,
                           factoring_circuit({.number = 35, .a_bits = 3, .b_bits = 3}), 2));
  examples.push_back(plain("random-3cnf-30.cnf", "uniform_ksat(30 variables, width 3, 128 clauses)", 1,
                           uniform_ksat({.num_variables = 30, .clause_width = 3, .num_clauses = 128}, 1), 2));
  examples.push_back(plain("parity-8-odd.cnf", "tseitin_parity(random 3-regular graph on 8 vertices, odd total charge)",
                           1, tseitin_parity(cubic, random_charge(8, true, 1)), 0));
  examples.push_back(plain("parity-8-even.cnf",
                           "tseitin_parity(random 3-regular graph on 8 vertices, even total charge)", 1,
                           tseitin_parity(cubic, random_charge(8, false, 1)), 32));
  examples.push_back(satlib_dialect(8));
  return examples;
}

}  // namespace subquad::sat
