// Kepler's equation: the angles whose cosines are near the nodes and extrema of best approximations to e^x (private).
#pragma once

#include <subquad/exact/exp_problem.hpp>

#include <vector>

namespace subquad::exact {

/// Returns the points centre + R cos t with (degree + 1) (t - eccentricity sin t) = (k + shift) pi, k = 0 .. count - 1,
/// ascending, with cosines rounded to `bits` bits (more if the degree asks for it), all different. shift in [0, 1/2].
std::vector<Rational> kepler_points(const ExpProblem& problem, int degree, double shift, int count, int bits);

}  // namespace subquad::exact
