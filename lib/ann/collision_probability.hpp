// Collision probabilities: the exact law of each locality-sensitive hash family, as a function of the distance
// (L25.LSH).
//
// All are strictly decreasing where they are neither 0 nor 1. Distances: u = |x - y| for Euclidean and spherical
// families (on the unit sphere u = 2 sin(theta/2), 0 <= u <= 2), differing coordinates for bit sampling.
#pragma once

#include <cstdint>

namespace subquad::ann {

/// h(x) = floor((<a, x> + b)/W), a standard normal, b uniform in [0, W) (Datar04).
/// p(u) = 1 - 2 Phi(-W/u) - (2u/(sqrt(2 pi) W))(1 - exp(-W^2/2u^2)), p(0) = 1. width > 0, distance >= 0.
double e2lsh_collision_probability(double distance, double width);

/// h(x) = x_i, i uniform (IndykMotwani98). p = 1 - distance/dim, 0 <= distance <= dim, dim >= 1.
double bit_sampling_collision_probability(double distance, std::uint64_t dim);

/// h(x) = sign <a, x>, a standard normal (Charikar02). p = 1 - theta/pi. 0 <= distance <= 2.
double hyperplane_collision_probability(double distance);

/// h(x) = the nearest of +-e_1..+-e_dim after a Gaussian rotation dim x dim (AILRS15). 0 <= distance <= 2, dim >= 1.
/// Numerical integration, relative error below 1e-9 for dim <= 10^4 (an estimate; tests find 1e-12); underflows to 0.
double cross_polytope_collision_probability(double distance, std::uint64_t dim);

/// h(x) = the first g_i of `caps` standard normal vectors with <g_i, x> >= threshold (AILRS15); a point
/// that no cap holds has a code of its own, shared by all such points. 0 <= distance <= 2, caps >= 1. Absolute error
/// 1e-9 (an estimate).
double spherical_cap_collision_probability(double distance, double threshold, std::uint64_t caps);

}  // namespace subquad::ann
