// Low-rank factors over the rationals: AS23 Lemma 3.2 as an identity that can be checked to the last digit.
#pragma once

#include <subquad/exact/polynomial.hpp>

#include <vector>

namespace subquad::attention {

/// A matrix of rationals by rows.
using RationalMatrix = std::vector<std::vector<exact::Rational>>;

/// U_1 (n x r) and U_2 (n_k x r).
struct LowRankFactors {
  RationalMatrix u1;
  RationalMatrix u2;
};

/// Returns U_1, U_2 with U_1 U_2^T = P(scale Q K^T) entrywise and exactly, r = C(g + d, d) with g = max(deg P, 0).
///
/// Shapes   q: n x d, k: n_k x d; rows of equal length, else Error(parameter)
/// Cost     O((n + n_k) r) exact multiplications: for tests and small examples
/// Theorem  AS23.L3.2
LowRankFactors exact_low_rank_factors(const exact::Polynomial& p, const RationalMatrix& q, const RationalMatrix& k,
                                      const exact::Rational& scale);

/// Returns the rank of a matrix over the rationals, by Gaussian elimination. O(rows cols rank) exact operations.
std::size_t exact_rank(RationalMatrix matrix);

}  // namespace subquad::attention
