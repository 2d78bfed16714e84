#include "gap_thresholds.hpp"

#include <subquad/core/error.hpp>

#include <algorithm>

namespace subquad::reductions {

GapThresholds normalized_thresholds(const problems::GapAnn::Instance& source) {
  require(source.queries.cols() == source.keys.cols(), ErrorKind::parameter, "GapANN instance has dimensions {} and {}",
          source.queries.cols(), source.keys.cols());
  require(-1 <= source.r_yes && source.r_yes < source.r_no, ErrorKind::parameter,
          "GapANN thresholds r_yes = {}, r_no = {}, expected -1 <= r_yes < r_no", source.r_yes, source.r_no);
  require(source.queries.cols() < (std::uint64_t{1} << 60), ErrorKind::resource, "GapANN dimension {} is beyond 2^60",
          source.queries.cols());
  GapThresholds result;
  const std::uint64_t dim = source.queries.cols();
  result.differs = source.r_no == 0;
  result.padded = result.differs || dim == 0;
  result.dim = dim + (result.padded ? 1 : 0);
  if (result.differs) return result;  // every distance is now at least 1: all rows are far for (0, 1)
  // Distances are at most d, so that larger thresholds say the same as d (near) and d + 1 (far: impossible with a key).
  const auto d = static_cast<std::int64_t>(dim);
  result.r_yes = std::clamp<std::int64_t>(source.r_yes, 0, d);
  result.r_no = std::min(source.r_no, d + 1);
  return result;
}

}  // namespace subquad::reductions
