// Uniform random k-SAT: the fixed clause length model F_k(n, m).
//
// Each clause is drawn independently and uniformly from the 2^k binom(n, k) clauses with k distinct variables, so
// clauses may repeat. For k = 3 the fraction of satisfiable formulas drops at m/n near 4.26, where solvers suffer most.
//
// References  Mitchell, Selman, Levesque: Hard and easy distributions of SAT problems (AAAI 1992)
//             Crawford, Auton: Experimental results on the crossover point in random 3-SAT (Artif. Intell. 1996)
#pragma once

#include <subquad/sat/cnf.hpp>

#include <cstdint>

namespace subquad::sat {

/// Parameters of uniform random k-SAT.
struct UniformKSat {
  std::uint64_t num_variables = 0;  ///< n, k <= n <= kMaxVariables
  std::uint64_t clause_width = 3;   ///< k >= 1
  std::uint64_t num_clauses = 0;    ///< m >= 0
};

/// Draws a formula. Variables within a clause ascend.
///
/// Randomness  `seed`; the first m clauses do not depend on m
/// Cost        O(m k^2) time at worst, O(m k) in practice
/// Errors      Error(parameter) unless 1 <= k <= n <= kMaxVariables
Cnf uniform_ksat(const UniformKSat& parameters, std::uint64_t seed);

}  // namespace subquad::sat
