// Pigeonhole formulas: every pigeon sits in a hole, no two in the same. Unsatisfiable iff pigeons outnumber holes.
//
// Variable pigeon * holes + hole says "this pigeon sits in this hole". One clause a pigeon, one a hole and pair of
// pigeons: pigeons + holes * binom(pigeons, 2). With holes + 1 pigeons all resolution refutations are of exponential
// length.
//
// References  Cook, Reckhow: The relative efficiency of propositional proof systems (JSL 1979)
//             Haken: The intractability of resolution (TCS 1985)
#pragma once

#include <subquad/sat/cnf.hpp>

#include <cstdint>

namespace subquad::sat {

/// Parameters of a pigeonhole formula; both may be 0.
struct Pigeonhole {
  std::uint64_t pigeons = 0;
  std::uint64_t holes = 0;
};

/// Builds the formula, with `c varname` comments p(PIGEON,HOLE), 1-based. With no hole each pigeon's clause is empty.
/// Throws Error(parameter) if pigeons * holes > kMaxVariables.
Cnf pigeonhole(const Pigeonhole& parameters);

}  // namespace subquad::sat
