// Random OV instances: at the threshold, with a planted pair, and without any orthogonal pair.
//
// All functions draw from `random` only, so that equal seeds give equal instances. Costs are O((num_a + num_b) dim).
#pragma once

#include <subquad/core/random.hpp>
#include <subquad/problems/generated.hpp>
#include <subquad/problems/orthogonal_vectors.hpp>
#include <subquad/problems/orthogonal_vectors_threshold.hpp>

#include <cstdint>

namespace subquad::problems {

/// An OV instance and, where the generator knows it, the answer.
using GeneratedOrthogonalVectors = Generated<OrthogonalVectors>;

/// Every coordinate one with probability `density`, independently: model iid(p). The answer is not known.
/// Errors: Error(parameter) unless 0 <= density <= 1.
GeneratedOrthogonalVectors random_iid_vectors(const OrthogonalVectorsShape& shape, double density, Random& random);

/// As above, but one pair (at uniform positions) is drawn so that it is orthogonal: per coordinate (0,0), (1,0), (0,1)
/// with probabilities (1-p)/(1+p), p/(1+p), p/(1+p), the law of iid(p) under the condition (quiet planting). The pair
/// is lighter than the others, p/(1+p) instead of p, hence easy to see for large p and hidden for p = O(1/log n).
/// Errors: as above; Error(parameter) if a side is empty.
GeneratedOrthogonalVectors planted_iid_vectors(const OrthogonalVectorsShape& shape, double density, Random& random);

/// Uniform vectors of the given weights; which vectors are the heavier ones is uniform too. The answer is not known.
/// Errors: Error(parameter) for weights above dim or more heavier vectors than there are.
GeneratedOrthogonalVectors random_constant_weight_vectors(const OrthogonalVectorsShape& shape,
                                                          const ConstantWeights& weights, Random& random);

/// As above with a planted pair at uniform positions: a is uniform, b is uniform in the complement of a, so that each
/// vector alone has exactly the law of all others.
/// Errors: as above; Error(parameter) if a side is empty or the pair's weights add up to more than dim.
GeneratedOrthogonalVectors planted_constant_weight_vectors(const OrthogonalVectorsShape& shape,
                                                           const ConstantWeights& weights, Random& random);

/// Instances without an orthogonal pair and without a coordinate that all vectors share: a projective plane of prime
/// order s is hidden on s^2+s+1 random coordinates, and every vector contains a random one of its lines plus random
/// ones up to `weight`. Any two lines meet, so any two vectors do. Errors: Error(parameter) unless s is a prime,
/// s^2+s+1 <= dim and s+1 <= weight <= dim.
GeneratedOrthogonalVectors projective_plane_vectors(const OrthogonalVectorsShape& shape, std::uint64_t order,
                                                    std::uint64_t weight, Random& random);

/// The trivial instance without an orthogonal pair: iid(p) with one uniform coordinate set in every vector.
/// Errors: Error(parameter) unless dim >= 1 and 0 <= density <= 1.
GeneratedOrthogonalVectors guarded_vectors(const OrthogonalVectorsShape& shape, double density, Random& random);

}  // namespace subquad::problems
