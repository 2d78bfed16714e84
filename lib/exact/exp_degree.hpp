// Degree predictor: E_g to a per cent from Bessel functions, in microseconds. Only ever used to guess.
//
// Derived as a Caratheodory-Fejer problem and checked against 1206 minimax polynomials; no proof is known to us.
//   absolute on [0, 2R]   E_g ~ 2 e^R ||H||, H_ij = I_{g+1+i+j}(R)
//   relative on [-R, R]   E_g ~ s / (1 + s^2/4), s = 2 ||H||, H_ij = J_{g+1+i+j}(R)
#pragma once

#include <subquad/exact/exp_problem.hpp>

namespace subquad::exact {

/// Returns log2 of the predicted E_degree. degree >= 0. Relative: at most 0.
double predicted_log2_error(const ExpProblem& problem, int degree);

/// Returns the predicted least degree g with E_g < epsilon. Throws Error(resource) if it is beyond 100000.
int predicted_degree(const ExpProblem& problem, const Rational& epsilon);

}  // namespace subquad::exact
