#include "hamming_scan.hpp"

#include <subquad/core/error.hpp>
#include <subquad/problems/gap_ann.hpp>

#include <algorithm>

namespace subquad::problems {

namespace {

RowPromise promise_of(const GapAnn::Instance& instance, std::uint64_t nearest) {
  if (instance.r_yes >= 0 && nearest <= static_cast<std::uint64_t>(instance.r_yes)) return RowPromise::near;
  return nearest >= static_cast<std::uint64_t>(instance.r_no) ? RowPromise::far : RowPromise::outside;
}

}  // namespace

void validate(const GapAnn::Instance& instance) {
  require(instance.queries.cols() == instance.keys.cols(), ErrorKind::parameter,
          "gap-ann: queries have dimension {}, keys have {}, expected equal", instance.queries.cols(),
          instance.keys.cols());
  require(instance.r_yes >= -1 && instance.r_yes < instance.r_no, ErrorKind::parameter,
          "gap-ann: r_yes = {} and r_no = {}, expected -1 <= r_yes < r_no", instance.r_yes, instance.r_no);
}

std::vector<std::string> GapAnn::size_fields() {
  return {"num_queries", "num_keys", "dim", "r_yes", "r_no"};
}

Sizes GapAnn::size(const Instance& instance) {
  return {{"num_queries", instance.queries.rows()},
          {"num_keys", instance.keys.rows()},
          {"dim", instance.keys.cols()},
          {"r_yes", std::max<std::int64_t>(instance.r_yes, 0)},
          {"r_no", instance.r_no}};
}

Digest GapAnn::digest(const Instance& instance) {
  return Digester()
      .add(kId)
      .add(instance.queries.rows())
      .add(instance.keys.rows())
      .add(instance.keys.cols())
      .add(static_cast<std::uint64_t>(instance.r_yes))
      .add(static_cast<std::uint64_t>(instance.r_no))
      .add_span(instance.queries.words())
      .add_span(instance.keys.words())
      .finish();
}

GapAnn::Answer GapAnn::solve_brute_force(const Instance& instance, const Execution& execution) {
  validate(instance);
  Answer answer;
  for (const NearestKey& nearest : nearest_keys(instance.queries, instance.keys, instance.r_yes, execution))
    answer.near.push_back(promise_of(instance, nearest.distance) == RowPromise::near);
  return answer;
}

std::vector<RowPromise> GapAnn::promise(const Instance& instance, const Execution& execution) {
  validate(instance);
  std::vector<RowPromise> rows;
  for (const NearestKey& nearest : nearest_keys(instance.queries, instance.keys, instance.r_yes, execution))
    rows.push_back(promise_of(instance, nearest.distance));
  return rows;
}

Report GapAnn::check(const Instance& instance, const Answer& answer) {
  validate(instance);
  const std::uint64_t rows = instance.queries.rows();
  if (answer.near.size() != rows)
    return {Verdict::refuted,
            fmt::format("the answer has {} rows, the instance has {} queries", answer.near.size(), rows)};
  const std::vector<NearestKey> nearest = nearest_keys(instance.queries, instance.keys, instance.r_yes, {});
  std::uint64_t outside = 0;
  for (std::uint64_t i = 0; i < rows; ++i) {
    const RowPromise truth = promise_of(instance, nearest[i].distance);
    if (truth == RowPromise::outside) ++outside;
    if (truth == RowPromise::near && !answer.near[i])
      return {Verdict::refuted, fmt::format("row {} is answered far, but key {} is at distance {} <= r_yes = {}", i,
                                            nearest[i].key, nearest[i].distance, instance.r_yes)};
    if (truth == RowPromise::far && answer.near[i])
      return {Verdict::refuted,
              instance.keys.rows() == 0
                  ? fmt::format("row {} is answered near, but there is no key", i)
                  : fmt::format("row {} is answered near, but the nearest key ({}) is at distance {} >= r_no = {}", i,
                                nearest[i].key, nearest[i].distance, instance.r_no)};
  }
  return {Verdict::certified, fmt::format("{} rows right, {} of them outside the promise", rows, outside)};
}

}  // namespace subquad::problems
