#include "hamming_scan.hpp"

#include <subquad/core/error.hpp>
#include <subquad/problems/approximate_nearest_neighbor.hpp>

#include <limits>

namespace subquad::problems {

void validate(const ApproximateNearestNeighbor::Instance& instance) {
  require(instance.queries.cols() == instance.keys.cols(), ErrorKind::parameter,
          "ann: queries have dimension {}, keys have {}, expected equal", instance.queries.cols(),
          instance.keys.cols());
  require(instance.queries.rows() == 0 || instance.keys.rows() > 0, ErrorKind::parameter,
          "ann: {} queries and no key, expected at least 1 key", instance.queries.rows());
  require(instance.eps_den >= 1, ErrorKind::parameter, "ann: eps = {}/{}, expected a denominator of at least 1",
          instance.eps_num, instance.eps_den);
}

std::uint64_t relaxed(const ApproximateNearestNeighbor::Instance& instance, std::uint64_t value) {
  require(instance.eps_den >= 1, ErrorKind::parameter, "ann: eps = {}/{}, expected a denominator of at least 1",
          instance.eps_num, instance.eps_den);
  const Count result = value + Count(value) * instance.eps_num / instance.eps_den;
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
  return result > kLargest ? kLargest : result.convert_to<std::uint64_t>();
}

std::vector<std::string> ApproximateNearestNeighbor::size_fields() {
  return {"num_queries", "num_keys", "dim"};
}

Sizes ApproximateNearestNeighbor::size(const Instance& instance) {
  return {{"num_queries", instance.queries.rows()}, {"num_keys", instance.keys.rows()}, {"dim", instance.keys.cols()}};
}

Digest ApproximateNearestNeighbor::digest(const Instance& instance) {
  return Digester()
      .add(kId)
      .add(instance.queries.rows())
      .add(instance.keys.rows())
      .add(instance.keys.cols())
      .add(instance.eps_num)
      .add(instance.eps_den)
      .add_span(instance.queries.words())
      .add_span(instance.keys.words())
      .finish();
}

ApproximateNearestNeighbor::Answer ApproximateNearestNeighbor::solve_brute_force(const Instance& instance,
                                                                                 const Execution& execution) {
  validate(instance);
  Answer answer;
  for (const NearestKey& nearest : nearest_keys(instance.queries, instance.keys, -1, execution))
    answer.rows.push_back({nearest.distance, nearest.key});
  return answer;
}

Report ApproximateNearestNeighbor::check(const Instance& instance, const Answer& answer) {
  validate(instance);
  const std::uint64_t rows = instance.queries.rows();
  if (answer.rows.size() != rows)
    return {Verdict::refuted,
            fmt::format("the answer has {} rows, the instance has {} queries", answer.rows.size(), rows)};
  const std::vector<NearestKey> nearest = nearest_keys(instance.queries, instance.keys, -1, {});
  for (std::uint64_t i = 0; i < rows; ++i) {
    const Answer::Row& row = answer.rows[i];
    const std::uint64_t allowed = relaxed(instance, row.value);
    if (row.value > nearest[i].distance)
      return {Verdict::refuted, fmt::format("row {}: value {} is above the nearest distance {} (key {})", i, row.value,
                                            nearest[i].distance, nearest[i].key)};
    if (nearest[i].distance > allowed)
      return {Verdict::refuted, fmt::format("row {}: the nearest distance {} is above floor((1+eps) {}) = {}", i,
                                            nearest[i].distance, row.value, allowed)};
    if (row.key >= instance.keys.rows())
      return {Verdict::refuted,
              fmt::format("row {}: key {} is out of range: there are {} keys", i, row.key, instance.keys.rows())};
    const std::uint64_t distance = hamming_distance(instance.queries.row(i), instance.keys.row(row.key));
    if (distance > allowed)
      return {Verdict::refuted, fmt::format("row {}: key {} is at distance {}, above floor((1+eps) {}) = {}", i,
                                            row.key, distance, row.value, allowed)};
  }
  return {Verdict::certified, fmt::format("{} rows right", rows)};
}

}  // namespace subquad::problems
