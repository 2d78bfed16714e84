// Random OV models: expected number of orthogonal pairs, its variance, and the parameters for a wanted expectation.
//
// Model  iid(p): each coordinate of each vector is one with probability p, independently.
// Model  cw: each vector is a uniform one of its weight; pair events are then pairwise independent, so that the number
//        of orthogonal pairs has a variance of at most its mean, and no light vector gives a short cut.
// Notes  Near the threshold (mean 1) iid is hard only for dim >= 4 log2 n; below, a few light vectors carry the mean.
#pragma once

#include <subquad/core/count.hpp>

#include <boost/multiprecision/gmp.hpp>

#include <cstdint>

namespace subquad::problems {

/// An exact rational number.
using Rational = boost::multiprecision::mpq_rational;

/// Sizes of an OV instance.
struct OrthogonalVectorsShape {
  std::uint64_t num_a = 0;
  std::uint64_t num_b = 0;
  std::uint64_t dim = 0;
};

/// Returns E = num_a num_b (1 - p^2)^dim for the model iid(p). Double arithmetic, relative error about dim * 1e-16.
/// Errors: Error(parameter) unless 0 <= p <= 1.
double iid_expected_pairs(const OrthogonalVectorsShape& shape, double density);

/// Returns the variance of the number of orthogonal pairs in the model iid(p),
/// num_a num_b (q - q^2 + (num_a + num_b - 2)(r - q^2)) with q = (1-p^2)^dim, r = (1-2p^2+p^3)^dim: q^2 is subtracted
/// where it arises, not from the sum. Double arithmetic. Errors: Error(parameter) unless 0 <= p <= 1.
double iid_variance_of_pairs(const OrthogonalVectorsShape& shape, double density);

/// Returns the density p with iid_expected_pairs = mean, p*(mean) = sqrt(1 - (mean/(num_a num_b))^(1/dim)).
/// For num_a = num_b = n, dim = c log2 n and mean 1 it is sqrt(1 - 2^(-2/c)), whatever n.
/// Errors: Error(parameter) unless dim >= 1 and 0 < mean <= num_a num_b.
double iid_threshold_density(const OrthogonalVectorsShape& shape, double mean);

/// Returns the exact probability C(dim-x, y)/C(dim, y) that uniform vectors of weights x and y are orthogonal
/// (symmetric in x, y; 0 if x + y > dim). Errors: Error(parameter) if x or y exceeds dim.
Rational orthogonality_probability(std::uint64_t dim, std::uint64_t x, std::uint64_t y);

/// Weights of a constant-weight instance: all vectors have `weight` ones but for the given numbers of vectors, which
/// have one more. The numbers are fixed, not random: a random number would make pair events dependent.
struct ConstantWeights {
  std::uint64_t weight = 0;
  std::uint64_t num_a_heavier = 0;
  std::uint64_t num_b_heavier = 0;
  friend bool operator==(const ConstantWeights&, const ConstantWeights&) = default;
};

/// Returns the exact expected number of orthogonal pairs. It is also an upper bound of their variance.
/// Errors: Error(parameter) for weights above dim or more heavier vectors than there are.
Rational constant_weight_expected_pairs(const OrthogonalVectorsShape& shape, const ConstantWeights& weights);

/// Returns the weights whose expectation is nearest to `mean` among: all w; some b at w+1; all b and some a at w+1.
/// The distance is at most half the step of one heavier vector. O(dim) exact binomials.
/// Errors: Error(parameter) unless dim >= 1, num_a, num_b >= 1 and 0 < mean <= num_a num_b.
ConstantWeights constant_weights_for(const OrthogonalVectorsShape& shape, double mean);

}  // namespace subquad::problems
