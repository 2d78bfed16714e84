// Variable names: what `c varname` comments of a DIMACS file say about a model.
#pragma once

#include <subquad/sat/cnf.hpp>

#include <map>
#include <string>
#include <vector>

namespace subquad::drivers {

/// Names of variables (0-based) from kept comments `c varname VARIABLE NAME`; malformed comments are skipped.
std::map<std::uint32_t, std::string> variable_names(const sat::Cnf& formula);

/// Says what a model means, one line each, from the names of its true variables:
///   v(VERTEX,COLOUR)  "vertex 3 = red" (sat/graph_coloring.hpp)
///   NAME(BIT)         "a = 5", if the bits 0, 1, .. of NAME are all there (sat/factoring_circuit.hpp)
///   anything else     the name as it stands
/// Empty if the formula names no variable. The model has one value a variable.
std::vector<std::string> decode_model(const sat::Cnf& formula, const sat::Model& model);

}  // namespace subquad::drivers
