// docs/examples/*.cnf are what the generators make, and what their README says of them is true.
//
// To write them anew after a deliberate change, run this test with SUBQUAD_WRITE_EXAMPLES=1 in the environment.
#include "example_formulas.hpp"

#include "small_formulas.hpp"

#include <subquad/core/provenance.hpp>
#include <subquad/sat/cadical_solver.hpp>
#include <subquad/sat/dimacs.hpp>
#include <subquad/sat/factoring_circuit.hpp>
#include <subquad/sat/graph_coloring.hpp>

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace subquad::sat {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(SUBQUAD_SOURCE_DIR) / "docs/examples";

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The text without the line that names the version of subquad: a release does not change the examples.
std::string without_version(const std::string& text) {
  const std::string line = "c subquad ";
  if (!text.starts_with(line)) return text;
  return line + text.substr(text.find('\n'));
}

/// Counts models with the solver, excluding each one found.
std::uint64_t count_models_by_solver(Cnf formula) {
  for (std::uint64_t count = 0;; ++count) {
    const CnfSat::Answer answer = solve_with_cadical(formula);
    if (!answer.model) return count;
    std::vector<Literal> excluding;
    for (std::uint32_t v = 0; v < formula.num_variables(); ++v) excluding.emplace_back(v, (*answer.model)[v]);
    formula.add_clause(excluding);
  }
}

TEST(ExampleFormulas, FilesAreWhatTheGeneratorsMake) {
  std::set<std::string> names;
  for (const ExampleFormula& example : example_formulas()) {
    const fs::path path = kFolder / example.file;
    if (std::getenv("SUBQUAD_WRITE_EXAMPLES") != nullptr) {
      fs::create_directories(kFolder);
      std::ofstream(path, std::ios::binary) << example.text;
    }
    EXPECT_EQ(without_version(read_file(path)), without_version(example.text)) << path;
    names.insert(example.file);
  }
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    EXPECT_TRUE(entry.path().extension() != ".cnf" || names.contains(entry.path().filename())) << entry.path();
  }
}

TEST(ExampleFormulas, FilesReadBackAsTheFormulas) {
  for (const ExampleFormula& example : example_formulas()) {
    SCOPED_TRACE(example.file);
    std::ifstream in(kFolder / example.file);
    const DimacsFile file = read_dimacs(in, example.file);
    EXPECT_EQ(file.formula, example.formula);
    EXPECT_EQ(file.declared_clauses, example.formula.num_clauses());
    std::vector<std::string> expected;
    if (example.file == "satlib-dialect.cnf") {
      expected = {"satlib-dialect.cnf:3: blank line (2 times)", "satlib-dialect.cnf:8: several spaces in a row",
                  "satlib-dialect.cnf:8: space before a line end", "satlib-dialect.cnf:9: space at the start of a line",
                  "satlib-dialect.cnf:100: '%': SATLIB's trailer, the text from here on is cut"};
    }
    EXPECT_EQ(file.liberties, expected);
  }
}

TEST(ExampleFormulas, StatusAndNumberOfModels) {
  for (const ExampleFormula& example : example_formulas()) {
    SCOPED_TRACE(example.file);
    EXPECT_EQ(solve_with_cadical(example.formula).model.has_value(), example.num_models > 0);
    const bool small = example.formula.num_variables() <= 20;
    EXPECT_EQ(small ? test::count_models(example.formula) : count_models_by_solver(example.formula),
              example.num_models);
  }
}

TEST(ExampleFormulas, ReadmeSaysWhatIsTrue) {
  const std::string readme = read_file(kFolder / "README.md");
  for (const ExampleFormula& example : example_formulas()) {
    const std::string row =
        fmt::format("| `{}` | {} | {} | {} | {} |", example.file, example.formula.num_variables(),
                    example.formula.num_clauses(), example.num_models > 0 ? "SAT" : "UNSAT", example.num_models);
    EXPECT_NE(readme.find(row), std::string::npos) << "expected in README.md: " << row;
  }
}

TEST(ExampleFormulas, PetersenAndFactorsDecode) {
  for (const ExampleFormula& example : example_formulas()) {
    if (example.num_models == 0) continue;
    const Model model = *solve_with_cadical(example.formula).model;
    if (example.file == "petersen-3-colouring.cnf") {
      EXPECT_TRUE(is_proper_coloring(petersen_graph(), decode_coloring(petersen_graph(), 3, model)));
    } else if (example.file == "factoring-3x3-bit.cnf") {
      const auto [a, b] = decode_factors({.number = 35, .a_bits = 3, .b_bits = 3}, model);
      EXPECT_EQ(a * b, 35U);
    }
  }
}

}  // namespace
}  // namespace subquad::sat
