// The plan of low-rank attention: which polynomial, which rank, what it costs, and what error is certain. Made before
// any work.
//
// AS23 Algorithm 1 replaces exp by a polynomial P with |P(x) - e^x| <= eps e^x on [-R, R], R a bound of all logits. The
// output then is off by at most B_V 2 (1 - sqrt(1 - eps^2))/eps (SQ.PROP; the paper's Lemma 3.6 says 2 eps B_V), where
// B_V may be half the spread of V's entries. Rounding is bounded as well and added (docs/kernels/low_rank.md), so
// `error_bound` is about the numbers computed.
#pragma once

#include <subquad/core/count.hpp>
#include <subquad/exact/exp_certification.hpp>
#include <subquad/problems/attention.hpp>

#include <cstdint>
#include <string_view>

namespace subquad::attention {

/// Arithmetic of features and products. Sums over keys and over blocks of features are kept in double in both.
enum class LowRankArithmetic { float64, float32 };

/// "float64", "float32".
std::string_view to_string(LowRankArithmetic arithmetic) noexcept;

/// What the plan needs to know about the numbers: upper bounds, proved.
struct LowRankBounds {
  double radius = 0.0;      ///< R: |scale| sum_l |q_il| |k_jl| <= R for all i, j
  double query_norm = 0.0;  ///< max_i |q_i| (Euclidean)
  double key_norm = 0.0;    ///< max_j |k_j|
  /// R' <= R: every denominator is at least n_k e^-R'. Jensen's inequality gives |scale| max|q_i| |mean of the keys|.
  double denominator_radius = 0.0;
  double value_bound = 0.0;       ///< max |v|
  double value_half_range = 0.0;  ///< (max v - min v)/2
};

/// What is asked for.
struct LowRankRequest {
  std::uint64_t num_queries = 0;
  std::uint64_t num_keys = 0;
  std::uint64_t dim = 0;
  std::uint64_t value_dim = 0;
  double scale = 1.0;
  double tolerance = 0.0;  ///< eps_a > 0: allowed |output - Att|, rounding included
  LowRankArithmetic arithmetic = LowRankArithmetic::float64;
  LowRankBounds bounds;
  Count max_rank = 20'000;
  Count max_bytes = Count(4) << 30;
};

/// Measures the bounds on the data: R = |scale| max|q_i| max|k_j| (Cauchy-Schwarz), or |scale| d B^2 with the
/// instance's entry bound B if that is smaller; rounded upwards. O((n + n_k)(d + d_v)).
LowRankBounds measure_low_rank_bounds(const problems::Attention::Instance& instance);

/// The bounds that hold for every input with entries in [-entry_bound, entry_bound] (AS23's B): R = |scale| d B^2,
/// values in [-B, B].
LowRankBounds low_rank_bounds_from_entries(double entry_bound, std::uint64_t dim, double scale);

/// How the work is cut. A function of sizes only, so that results do not depend on the number of threads.
struct LowRankTiling {
  std::uint32_t tokens = 32;          ///< queries or keys in a tile of features
  std::uint32_t feature_block = 128;  ///< features summed before the sum goes to double
  std::uint32_t key_chunks = 1;       ///< partial sums over keys that are added at the end
};

/// A plan: everything is decided.
struct LowRankPlan {
  LowRankRequest request;
  exact::CertifiedMinimalDegree polynomial;  ///< of the relative problem on [-R, R]; R rounded up to 12 bits
  double epsilon = 0.0;                      ///< proved: |P(x) - e^x| <= epsilon e^x
  int degree = 0;                            ///< g, the certified least degree for polynomial.epsilon
  Count rank;                                ///< r = C(g + d, d)
  Count paper_rank;                          ///< C(2(g + d), 2g)
  Count bytes;                               ///< beyond inputs and output, on `threads` threads
  Count operations;                          ///< multiply-adds
  LowRankTiling tiling;
  double propagation_bound = 0.0;  ///< part of the error that P causes
  double rounding_bound = 0.0;     ///< part that the arithmetic causes
  double error_bound = 0.0;        ///< their sum, rounded upwards; <= tolerance
  /// |Z_computed - Z| <= weight_error n_k max|v| for numerators and denominators: the arithmetic's share, before
  /// division.
  double weight_error = 0.0;
};

/// Plans, or refuses.
///
/// Errors   Error(parameter) for a tolerance that is not positive and finite, or bounds that are not finite;
///          Error(resource), with the numbers, if the rank or the memory is beyond the limits, if the arithmetic's own
///          rounding is above the tolerance (what it can reach is said), or if numbers would leave its range
/// Cost     that of a certified minimal degree: milliseconds
/// Theorem  AS23.T3.8, from AS23.L3.3 (logits), AS23.L3.4 (entries), AS23.L3.5 (sums); SQ.PROP, AA22.DEG
LowRankPlan plan_low_rank(const LowRankRequest& request, int threads = 1);

/// The largest distance of D~^-1 A~ V from D^-1 A V, over B_V, when every weight is off by at most a factor 1 +-
/// epsilon: 2 (1 - sqrt(1 - epsilon^2))/epsilon, rounded upwards. 0 <= epsilon < 1. Theorem SQ.PROP (attained:
/// docs/proofs/propagation.md).
double propagation_factor(double epsilon);

/// The largest epsilon with propagation_factor(epsilon) <= x, rounded downwards: 4x/(4 + x^2) for x < 2, else just
/// below 1. x >= 0.
double propagation_epsilon(double x);

}  // namespace subquad::attention
