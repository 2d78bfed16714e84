// Hamming ball enumeration: exact near neighbours for tiny radii by hash lookups (AS23 Lemma 4.7, the case of small t).
#pragma once

#include <subquad/core/count.hpp>
#include <subquad/core/execution.hpp>
#include <subquad/problems/gap_ann.hpp>

#include <vector>

namespace subquad::reductions {

/// Returns sum_{s <= radius} C(dim, s), the number of points of {0,1}^dim within `radius` of a point; 0 for radius < 0.
Count hamming_ball_size(std::uint64_t dim, std::int64_t radius);

/// Returns for every query whether some key lies within r_yes, by looking every point of the ball up in a hash table.
///
/// Cost    O(n_k d/64) to fill the table, hamming_ball_size(d, r_yes) lookups of O(d/64) a query; threads over queries
/// Errors  Error(resource), with the number of points, if there are more than max_points in all; Error(interrupted)
std::vector<bool> near_rows_by_enumeration(const problems::GapAnn::Instance& source, std::uint64_t max_points,
                                           const Execution& execution);

}  // namespace subquad::reductions
