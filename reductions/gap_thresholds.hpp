// Gap thresholds: a GapANN instance's integers, brought into the range that the constructions need.
#pragma once

#include <subquad/problems/gap_ann.hpp>

#include <cstdint>

namespace subquad::reductions {

/// 0 <= r_yes < r_no <= dim + 1 and dim >= 1. If `padded`, each point has one coordinate more than in the source: 0 for
/// keys, and for queries 1 if `differs` (all distances grow by one), else 0.
struct GapThresholds {
  std::uint64_t dim = 1;
  std::int64_t r_yes = 0;
  std::int64_t r_no = 1;
  bool padded = false;
  bool differs = false;
};

/// Returns thresholds under which every row that is near (far) in the source is near (far). Rows outside the source's
/// promise may come inside; any answer is right for them. Throws Error(parameter) for a malformed source.
GapThresholds normalized_thresholds(const problems::GapAnn::Instance& source);

}  // namespace subquad::reductions
