#include "parameter_values.hpp"

#include <subquad/core/count.hpp>
#include <subquad/core/error.hpp>
#include <subquad/reductions/ann_to_gap_ann.hpp>
#include <subquad/reductions/gap_search.hpp>

#include <algorithm>
#include <cstdint>

namespace subquad::reductions {

using problems::ApproximateNearestNeighbor;
using problems::GapAnn;

namespace {

BitMatrix copy_rows(const BitMatrix& from, const std::vector<std::uint64_t>& rows) {
  BitMatrix result(rows.size(), from.cols());
  for (std::uint64_t r = 0; r < rows.size(); ++r) {
    const auto source = from.row(rows[r]);
    std::copy(source.begin(), source.end(), result.row(r).begin());
  }
  return result;
}

BitMatrix copy_range(const BitMatrix& from, KeyRange keys) {
  BitMatrix result(keys.size(), from.cols());
  for (std::uint64_t r = 0; r < keys.size(); ++r) {
    const auto source = from.row(keys.first + r);
    std::copy(source.begin(), source.end(), result.row(r).begin());
  }
  return result;
}

/// floor((1+eps) value): the largest distance that a key may have.
Count allowed_distance(const ApproximateNearestNeighbor::Instance& instance, std::uint64_t value) {
  return Count(value) + Count(value) * instance.eps_num / instance.eps_den;
}

}  // namespace

std::vector<ParameterSpec> AnnToGapAnn::Parameters::specs() {
  return {{"grid", "false", "true or false", "search a geometric grid of thresholds instead of all integers"}};
}

AnnToGapAnn::Parameters AnnToGapAnn::Parameters::parse(const ParameterValues& values) {
  const std::vector<ParameterSpec> table = specs();
  const ParameterReader reader("ann_to_gap_ann", table, values);
  Parameters parameters;
  parameters.grid = reader.boolean("grid");
  return parameters;
}

ReductionInfo AnnToGapAnn::info() {
  return {"ann_to_gap_ann",
          "ann",
          "gap-ann",
          ReductionKind::turing,
          "binary search over thresholds, then halving of the keys",
          "ours; folklore since Indyk and Motwani 1998",
          "ANN.DEC",
          "GapANN in subquadratic time => (1+eps)-ANN in subquadratic time"};
}

std::vector<SizeBound> AnnToGapAnn::size_bounds() const {
  return {{"num_queries", BoundKind::upper_bound, field("num_queries")},
          {"num_keys", BoundKind::upper_bound, field("num_keys")},
          {"dim", BoundKind::exact, field("dim")},
          {"r_yes", BoundKind::upper_bound, monus(field("dim"), 1)},
          {"r_no", BoundKind::upper_bound, field("dim") + 1}};
}

ApproximateNearestNeighbor::Answer AnnToGapAnn::solve(const ApproximateNearestNeighbor::Instance& instance,
                                                      const Oracle<GapAnn>& oracle, const Execution& execution) const {
  problems::validate(instance);
  const std::uint64_t num_keys = instance.keys.rows();
  const std::uint64_t halvings = ceil_log2(Count(num_keys));
  const GapFactor factor(instance.eps_num, instance.eps_den, 1 + halvings + (parameters_.grid ? 1 : 0));

  GapAnn::Instance call;
  KeyRange call_keys;  // the keys that `call` holds: copied only when they change, or copying alone would be quadratic
  const GapDecision decide = [&](const std::vector<std::uint64_t>& rows, KeyRange keys, std::uint64_t near,
                                 std::uint64_t far) {
    if (keys != call_keys) {
      call.keys = keys.size() == num_keys ? instance.keys : copy_range(instance.keys, keys);
      call_keys = keys;
    }
    call.queries = copy_rows(instance.queries, rows);
    call.r_yes = static_cast<std::int64_t>(near);
    call.r_no = static_cast<std::int64_t>(far);
    return oracle(call).near;
  };
  const std::uint64_t dim = instance.queries.cols();
  const GapSearch search{instance.queries.rows(), num_keys, dim, factor, decide};
  const Thresholds thresholds = parameters_.grid ? Thresholds::grid(dim, factor) : Thresholds::integers(dim);
  const std::vector<RowValue> values = search_values(search, thresholds, execution);
  const std::vector<std::uint64_t> keys = search_keys(search, values, execution);

  ApproximateNearestNeighbor::Answer answer;
  answer.rows.reserve(values.size());
  for (std::uint64_t row = 0; row < values.size(); ++row) {
    const std::uint64_t value = values[row].value;
    const std::uint64_t distance = hamming_distance(instance.queries.row(row), instance.keys.row(keys[row]));
    if (distance < value || distance > allowed_distance(instance, value)) {
      throw OracleRefuted(
          fmt::format("the oracle's answers lead row {} to value {} and key {} at distance {}, expected "
                      "{} to {}",
                      row, value, keys[row], distance, value, allowed_distance(instance, value).str()),
          row);
    }
    answer.rows.push_back({value, keys[row]});
  }
  return answer;
}

}  // namespace subquad::reductions
