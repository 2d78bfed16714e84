// CaDiCaL bridge: decides a formula with a conflict-driven clause learning solver.
//
// Used as a generator's judge and for cross checks; its answers are claims like any other, and verifiers check models.
//
// Reference  Biere, Fazekas, Fleury, Heisinger: CaDiCaL, Kissat, Paracooba, Plingeling and Treengeling entering the
//            SAT Competition 2020 (Proc. SAT Competition 2020)
#pragma once

#include <subquad/core/execution.hpp>
#include <subquad/sat/cnf.hpp>

#include <string>

namespace subquad::sat {

/// Decides the formula with CaDiCaL's default options, on one thread.
///
/// Returns      a model (variables that occur nowhere are false), or nothing if the solver found no model to exist
/// Determinism  the same formula gives the same answer; re-entrant
/// Cost         exponential time in the worst case; memory O(literals), not O(num_variables)
/// Errors       Error(interrupted) soon after execution.stop becomes true; Error(internal) without an answer
CnfSat::Answer solve_with_cadical(const Cnf& formula, const Execution& execution = {});

/// Returns the version that the linked CaDiCaL library reports of itself (Debian's package 1.5.3 says "sc2021").
std::string cadical_version();

}  // namespace subquad::sat
