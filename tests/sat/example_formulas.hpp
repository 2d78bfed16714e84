// The formulas under docs/examples: how each is made and what is known of it.
#pragma once

#include <subquad/sat/cnf.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace subquad::sat {

/// One file of docs/examples.
struct ExampleFormula {
  std::string file;
  Cnf formula;
  std::uint64_t num_models = 0;  ///< number of models; 0: unsatisfiable
  std::string text;              ///< the file, byte by byte
};

/// All of them, generated anew.
std::vector<ExampleFormula> example_formulas();

}  // namespace subquad::sat
