#include "hamming_ball.hpp"

#include <subquad/core/error.hpp>

#include <algorithm>
#include <span>
#include <string_view>
#include <unordered_set>

namespace subquad::reductions {

namespace {

using Table = std::unordered_set<std::string_view>;

/// A packed row as bytes, for hashing; the padding bits of rows are zero, so that equal rows are equal bytes.
std::string_view bytes_of(std::span<const std::uint64_t> row) {
  return {reinterpret_cast<const char*>(row.data()), row.size_bytes()};
}

/// Depth-first walk through the ball: flips sets of coordinates in increasing order.
class BallSearch {
 public:
  BallSearch(const Table& table, std::uint64_t dim, std::span<const std::uint64_t> centre, const Execution& execution)
      : table_(table), dim_(dim), point_(centre.begin(), centre.end()), execution_(execution) {}

  /// Returns whether a key is reached from the current point by flipping at most `radius` coordinates from `first` on.
  bool reaches_key(std::uint64_t first, std::uint64_t radius) {
    if (++visited_ % kStopInterval == 0) execution_.check_stop();
    if (table_.count(bytes_of(point_)) != 0) return true;
    if (radius == 0) return false;
    for (std::uint64_t c = first; c < dim_; ++c) {
      const std::uint64_t bit = std::uint64_t{1} << (c % 64);
      point_[c / 64] ^= bit;
      if (reaches_key(c + 1, radius - 1)) return true;
      point_[c / 64] ^= bit;
    }
    return false;
  }

 private:
  static constexpr std::uint64_t kStopInterval = 1 << 16;

  const Table& table_;
  std::uint64_t dim_;
  std::vector<std::uint64_t> point_;
  const Execution& execution_;
  std::uint64_t visited_ = 0;
};

}  // namespace

Count hamming_ball_size(std::uint64_t dim, std::int64_t radius) {
  Count total = 0;
  Count binomial = 1;
  const std::uint64_t last = radius < 0 ? 0 : std::min<std::uint64_t>(static_cast<std::uint64_t>(radius), dim);
  for (std::uint64_t s = 0; radius >= 0 && s <= last; ++s) {
    total += binomial;
    binomial = binomial * (dim - s) / (s + 1);
  }
  return total;
}

std::vector<bool> near_rows_by_enumeration(const problems::GapAnn::Instance& source, std::uint64_t max_points,
                                           const Execution& execution) {
  const std::uint64_t num_queries = source.queries.rows();
  std::vector<bool> near(num_queries, false);
  if (source.r_yes < 0 || source.keys.rows() == 0) return near;
  const std::uint64_t dim = source.queries.cols();
  const Count ball = hamming_ball_size(dim, source.r_yes);
  const Count points = ball * num_queries;
  require(points <= max_points, ErrorKind::resource,
          "small t: {} points within {} of each query, {} in all, more than {} to look up", describe(ball),
          source.r_yes, describe(points), max_points);
  Table table;
  table.reserve(source.keys.rows());
  for (std::uint64_t j = 0; j < source.keys.rows(); ++j) table.insert(bytes_of(source.keys.row(j)));
  const std::uint64_t radius = std::min<std::uint64_t>(static_cast<std::uint64_t>(source.r_yes), dim);
  std::vector<std::uint8_t> found(num_queries, 0);  // not vector<bool>: threads write neighbours
  const ProgressScope progress(execution, "looking up Hamming balls", num_queries);
  parallel_for(execution, num_queries, 1, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      BallSearch search(table, dim, source.queries.row(i), execution);
      found[i] = search.reaches_key(0, radius) ? 1 : 0;
    }
  });
  for (std::uint64_t i = 0; i < num_queries; ++i) near[i] = found[i] != 0;
  return near;
}

}  // namespace subquad::reductions
