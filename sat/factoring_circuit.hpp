// Factoring as CNF: a multiplier circuit whose output is fixed to N.
//
// Variables for the bits of both factors, their partial products, and the sums and carries that add each column with
// full and half adders. The outputs are constants, so the last adder of a column needs no sum variable; a half adder
// with output 1 has no carry, and one with output 0 has equal inputs, either of which is its carry. Every other
// variable is a function of the factors, so models and ordered pairs of factors correspond one to one.
//
// References  Dadda: Some schemes for parallel multipliers (Alta Frequenza 1965), for adding by columns
//             Horie, Watanabe: Hard instance generation for SAT (ISAAC 1997), for factoring as a source
#pragma once

#include <subquad/sat/cnf.hpp>

#include <cstdint>
#include <utility>

namespace subquad::sat {

/// Parameters of a factoring formula.
struct FactoringCircuit {
  std::uint64_t number = 0;    ///< N = a b
  std::uint32_t a_bits = 0;    ///< 1..32
  std::uint32_t b_bits = 0;    ///< 1..32
  bool allow_trivial = false;  ///< whether 0 and 1 count as factors
};

/// Builds the formula, with `c varname` comments a(BIT), b(BIT). Variables 0..a_bits-1 are the bits of a, lowest first,
/// then those of b. Satisfiable iff N = a b with a < 2^a_bits, b < 2^b_bits and, unless allow_trivial, a, b >= 2.
/// Cost    about 2 a_bits b_bits variables and 14 a_bits b_bits clauses
/// Errors  Error(parameter) for a width outside 1..32, or N >= 2^(a_bits+b_bits)
Cnf factoring_circuit(const FactoringCircuit& parameters);

/// Reads the factors (a, b) from a model. Throws Error(parameter) if the model is too short.
std::pair<std::uint64_t, std::uint64_t> decode_factors(const FactoringCircuit& parameters, const Model& model);

}  // namespace subquad::sat
