// SAT model verifier: does an assignment satisfy a formula?
#pragma once

#include <subquad/core/verdict.hpp>
#include <subquad/sat/cnf.hpp>

namespace subquad::verifiers {

/// Certified iff the model has one value a variable and satisfies every clause; refuted otherwise, naming the first
/// clause (1-based, as DIMACS readers count) that is not satisfied. Never undecided. O(number of literals).
Report verify_model(const sat::Cnf& formula, const sat::Model& model);

}  // namespace subquad::verifiers
