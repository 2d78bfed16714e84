// CNF families of `subquad gen`: random k-SAT, planted, pigeonhole, parity, colouring, factoring.
#include "generators.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/line_reader.hpp>
#include <subquad/sat/factoring_circuit.hpp>
#include <subquad/sat/graph_coloring.hpp>
#include <subquad/sat/pigeonhole.hpp>
#include <subquad/sat/planted_ksat.hpp>
#include <subquad/sat/tseitin_parity.hpp>
#include <subquad/sat/uniform_ksat.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace subquad::drivers {

namespace {

GeneratedInstance cnf(sat::Cnf formula) {
  return {{std::string(sat::CnfSat::kId), std::move(formula)}, std::nullopt, {}, {}, {}};
}

GeneratedInstance cnf_with_model(sat::Cnf formula, sat::Model model) {
  GeneratedInstance result = cnf(std::move(formula));
  result.known = reductions::AnyAnswer{std::string(sat::CnfSat::kId), sat::CnfSat::Answer{std::move(model)}};
  return result;
}

void check_formula_size(const Count& clauses, std::uint64_t width, bool force) {
  ResourceNeed need;
  need.bytes = clauses * (4 * Count(width) + 8);
  need.operations = clauses * Count(width);
  need.operation_name = "literals";
  check_resources("generating the formula", need, force);
}

// Options of random k-SAT, shared by the uniform and the planted model.
struct RandomKSatOptions {
  std::uint64_t num_variables = 0;
  std::uint64_t clause_width = 3;
  std::optional<std::uint64_t> num_clauses;
  double ratio = 4.26;
  bool hide_complement = false;

  void add_to(CLI::App& app) {
    app.add_option("-n,--variables", num_variables, "Number of variables")->required();
    app.add_option("-k,--width", clause_width, "Literals a clause")->capture_default_str();
    auto* ratio_option = app.add_option("--ratio", ratio, "Clauses a variable (4.26: the threshold of 3-SAT)")
                             ->check(CLI::Range(0.0, 1e9))
                             ->capture_default_str();
    app.add_option("-m,--clauses", num_clauses, "Number of clauses, instead of --ratio")->excludes(ratio_option);
  }
  std::uint64_t clauses() const {
    if (num_clauses) return *num_clauses;
    const double wanted = std::round(ratio * static_cast<double>(num_variables));
    require(wanted < 9.0e18, ErrorKind::resource, "{} clauses a variable on {} variables: too many clauses", ratio,
            num_variables);
    return static_cast<std::uint64_t>(wanted);
  }
};

std::uint32_t parse_vertices(const std::string& text, const std::string& word) {
  const auto value = parse_int(word);
  require(value && *value >= 0 && *value <= 10'000'000, ErrorKind::parameter, "--graph {}: {} is no number of vertices",
          subquad::quoted(text), subquad::quoted(word));
  return static_cast<std::uint32_t>(*value);
}

// Vertices and edges of parse_graph(text), known before it is built; nothing for a text that parse_graph refuses.
struct GraphSize {
  Count vertices = 10;
  Count edges = 15;
};

GraphSize graph_size(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return {};
  const std::string name = text.substr(0, colon);
  const std::string rest = text.substr(colon + 1);
  const std::size_t comma = rest.find(',');
  const Count vertices = parse_vertices(text, rest.substr(0, comma));
  if (name == "complete") return {vertices, vertices * vertices / 2};
  if (name == "regular" && comma != std::string::npos)
    return {vertices, vertices * parse_vertices(text, rest.substr(comma + 1)) / 2};
  return {vertices, vertices};
}

// "petersen", "cycle:N", "complete:N", "regular:N,D".
sat::Graph parse_graph(const std::string& text, std::uint64_t seed) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const std::string rest = colon == std::string::npos ? std::string() : text.substr(colon + 1);
  if (text == "petersen") return sat::petersen_graph();
  if (name == "cycle") return sat::cycle_graph(parse_vertices(text, rest));
  if (name == "complete") {
    return sat::complete_graph(parse_vertices(text, rest));
  }
  const std::size_t comma = rest.find(',');
  require(name == "regular" && comma != std::string::npos, ErrorKind::parameter,
          "--graph {}: expected petersen, cycle:N, complete:N or regular:N,D", subquad::quoted(text));
  return sat::random_regular_graph(parse_vertices(text, rest.substr(0, comma)),
                                   parse_vertices(text, rest.substr(comma + 1)), seed);
}

constexpr const char* kGraphHelp = "petersen, cycle:N, complete:N, or regular:N,D (random, all degrees D)";

void add_random_ksat(CLI::App& kind, std::vector<Family>& families) {
  auto uniform = std::make_shared<RandomKSatOptions>();
  CLI::App* app = kind.add_subcommand("uniform", "Uniform random k-SAT: every clause equally likely");
  uniform->add_to(*app);
  families.push_back(
      {"cnf", app, [uniform](std::uint64_t seed, bool force) {
         const sat::UniformKSat parameters{uniform->num_variables, uniform->clause_width, uniform->clauses()};
         check_formula_size(parameters.num_clauses, parameters.clause_width, force);
         return cnf(sat::uniform_ksat(parameters, seed));
       }});
  auto planted = std::make_shared<RandomKSatOptions>();
  app = kind.add_subcommand("planted", "Random k-SAT around a hidden model, which goes into OUT.answer");
  planted->add_to(*app);
  app->add_flag("--hide-complement", planted->hide_complement,
                "The model's complement is a model too (harder to find)");
  families.push_back({"cnf", app, [planted](std::uint64_t seed, bool force) {
                        const sat::PlantedKSat parameters{planted->num_variables, planted->clause_width,
                                                          planted->clauses(), planted->hide_complement};
                        check_formula_size(parameters.num_clauses, parameters.clause_width, force);
                        auto result = sat::planted_ksat(parameters, seed);
                        return cnf_with_model(std::move(result.formula), std::move(result.model));
                      }});
}

void add_structured(CLI::App& kind, std::vector<Family>& families) {
  auto holes = std::make_shared<sat::Pigeonhole>();
  CLI::App* app = kind.add_subcommand("pigeonhole", "Pigeons into holes, one each: unsatisfiable iff pigeons > holes");
  app->add_option("--pigeons", holes->pigeons, "Pigeons")->required();
  app->add_option("--holes", holes->holes, "Holes")->required();
  families.push_back({"cnf", app, [holes](std::uint64_t, bool force) {
                        const Count pairs = Count(holes->pigeons) * Count(holes->pigeons) / 2 * Count(holes->holes);
                        check_formula_size(pairs + holes->pigeons, 2, force);
                        return cnf(sat::pigeonhole(*holes));
                      }});

  struct Parity {
    std::string graph = "petersen";
    bool even = false;
    std::uint32_t max_width = 4;
  };
  auto parity = std::make_shared<Parity>();
  app = kind.add_subcommand("parity",
                            "Tseitin's parity formula on a graph: unsatisfiable iff the charge of a component is odd");
  app->add_option("--graph", parity->graph, kGraphHelp)->capture_default_str();
  app->add_flag("--even", parity->even, "Even total charge (satisfiable on a connected graph) instead of odd");
  app->add_option("--max-width", parity->max_width, "Widest clause, 3..16; longer sums are cut")->capture_default_str();
  families.push_back({"cnf", app, [parity](std::uint64_t seed, bool force) {
                        // A sum of at most max_width literals takes 2^(max_width - 1) clauses; cutting a vertex's
                        // sum of D edges leaves at most D + 1 of them.
                        const GraphSize size = graph_size(parity->graph);
                        const std::uint32_t width = std::min<std::uint32_t>(parity->max_width, 16);
                        check_formula_size((2 * size.edges + size.vertices) * pow2(width == 0 ? 0 : width - 1), width,
                                           force);
                        const sat::Graph graph = parse_graph(parity->graph, seed);
                        const auto charge = sat::random_charge(graph.num_vertices, !parity->even, seed);
                        return cnf(sat::tseitin_parity(graph, charge, parity->max_width));
                      }});

  struct Coloring {
    std::string graph = "petersen";
    std::uint32_t colors = 3;
  };
  auto coloring = std::make_shared<Coloring>();
  app = kind.add_subcommand("coloring", "Is the graph colourable? `subquad chain --decode` shows the colouring");
  app->add_option("--graph", coloring->graph, kGraphHelp)->capture_default_str();
  app->add_option("--colors", coloring->colors, "Colours")->check(CLI::Range(0, 1000))->capture_default_str();
  families.push_back({"cnf", app, [coloring](std::uint64_t seed, bool force) {
                        // A clause a vertex, one an edge and colour, and one a vertex and pair of colours.
                        const GraphSize size = graph_size(coloring->graph);
                        const Count colors = coloring->colors;
                        check_formula_size(size.vertices * (1 + colors * colors / 2) + size.edges * colors, 3, force);
                        return cnf(sat::graph_coloring(parse_graph(coloring->graph, seed), coloring->colors));
                      }});

  auto factoring = std::make_shared<sat::FactoringCircuit>();
  app = kind.add_subcommand("factoring", "A multiplier with output N: a model is a factorisation");
  app->add_option("--number", factoring->number, "N")->required();
  app->add_option("--a-bits", factoring->a_bits, "Bits of the first factor, 1..32")->required();
  app->add_option("--b-bits", factoring->b_bits, "Bits of the second factor, 1..32")->required();
  app->add_flag("--allow-trivial", factoring->allow_trivial, "Count 0 and 1 as factors");
  families.push_back(
      {"cnf", app, [factoring](std::uint64_t, bool) { return cnf(sat::factoring_circuit(*factoring)); }});
}

}  // namespace

void add_cnf_families(CLI::App& gen, std::vector<Family>& families) {
  CLI::App* kind = gen.add_subcommand("cnf", "CNF formulas (DIMACS)");
  kind->require_subcommand(1);
  add_random_ksat(*kind, families);
  add_structured(*kind, families);
}

}  // namespace subquad::drivers
