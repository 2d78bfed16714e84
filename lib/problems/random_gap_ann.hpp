// Random GapANN instances inside the promise, and adversarial ones with every distance exactly at a threshold.
//
// All functions draw from `random` only, so that equal seeds give equal instances, and every answer is known.
#pragma once

#include <subquad/core/random.hpp>
#include <subquad/problems/gap_ann.hpp>
#include <subquad/problems/generated.hpp>

#include <cstdint>
#include <vector>

namespace subquad::problems {

/// A GapANN instance and its answer.
using GeneratedGapAnn = Generated<GapAnn>;

/// Sizes and thresholds of a GapANN instance: -1 <= r_yes < r_no.
struct GapAnnShape {
  std::uint64_t num_queries = 0;
  std::uint64_t num_keys = 0;
  std::uint64_t dim = 0;
  std::int64_t r_yes = 0;
  std::int64_t r_no = 1;
};

/// Uniform keys; `num_near` queries (at uniform positions) are a uniform key with a uniform number 0..min(r_yes, dim)
/// of flipped coordinates; the others are uniform among the points at distance >= r_no from every key (by rejection).
/// Cost: O((num_keys + num_queries) dim), plus O(num_keys dim/64) for each rejected point.
/// Errors: Error(parameter) if num_near > num_queries, if near queries are wanted without a key or with r_yes = -1, or
/// if `kMostRejections` points in a row were too close to a key (r_no too large for this dim and number of keys).
GeneratedGapAnn random_promise_gap_ann(const GapAnnShape& shape, std::uint64_t num_near, Random& random);
inline constexpr std::uint64_t kMostRejections = 10'000;

/// The hardest instance of its size: `num_near` queries have one key at exactly r_yes and all others at exactly r_no,
/// the other queries have every key at exactly r_no. Rows are distinct as far as the dimension allows, in random order,
/// and coordinates are permuted. Errors: Error(parameter) unless dim >= r_no; near queries need a key and r_yes >= 0.
/// Mixing near and far queries needs r_no - r_yes even (with two keys an odd gap is impossible: distances have the
/// parity of |a| + |b|) and dim >= r_no + (r_no - r_yes)/2.
GeneratedGapAnn adversarial_gap_ann(const GapAnnShape& shape, std::uint64_t num_near, Random& random);

/// Every query has key j at exactly distance distances[j] (num_keys of them). Queries are distinct as far as the
/// dimension allows, up to 2^min(min distance, dim - max distance) of them. A row between the thresholds is answered
/// near iff its nearest key is within r_yes (any answer is right). Errors: Error(parameter) if a distance is above dim
/// or their number is not num_keys.
GeneratedGapAnn gap_ann_at_distances(const GapAnnShape& shape, const std::vector<std::uint64_t>& distances,
                                     Random& random);

}  // namespace subquad::problems
