#include "wide_range_backward.hpp"

#include "wide_range.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace subquad::attention {
namespace {

/// ln of the largest weight, sum of the weights relative to it, and sum_j P_j <G, V_j> of one query.
struct RowState {
  Wide largest = 0;
  Wide weight_sum = 0;
  Wide mean = 0;
};

template <class Scalar>
class WideRangeBackward {
 public:
  explicit WideRangeBackward(const StreamingBackwardTask<Scalar>& task)
      : task_(task), scale_(task.scale), rows_(task.query_heads * task.q.rows) {}

  /// The state of one query, then its gradient.
  void query(std::size_t head, std::size_t i) {
    RowState& row = rows_[head * task_.q.rows + i];
    const std::size_t seen = task_.visible(i);
    row.largest = logit(head, i, 0);
    for (std::size_t j = 1; j < seen; ++j) row.largest = std::max(row.largest, logit(head, i, j));
    for (std::size_t j = 0; j < seen; ++j) {
      const Wide weight = std::exp(logit(head, i, j) - row.largest);
      row.weight_sum += weight;
      row.mean += weight * product(head, i, j);
    }
    row.mean /= row.weight_sum;
    std::vector<Wide> sums(task_.q.cols);
    for (std::size_t j = 0; j < seen; ++j) {
      add_multiple(weight_of(row, head, i, j) * (product(head, i, j) - row.mean), task_.k.row(j), sums);
    }
    store_multiple(sums, scale_, task_.grad_q_row(head, i));
  }

  /// The gradients of one key and its value, from the states of all queries that see it.
  void key(std::size_t j) {
    std::vector<Wide> key_sums(task_.k.cols), value_sums(task_.v.cols);
    for (std::size_t head = 0; head < task_.query_heads; ++head) {
      for (std::size_t i = 0; i < task_.q.rows; ++i) {
        if (task_.visible(i) <= j) continue;
        const RowState& row = rows_[head * task_.q.rows + i];
        const Wide weight = weight_of(row, head, i, j);
        add_multiple(weight, task_.upstream_row(head, i), value_sums);
        add_multiple(weight * (product(head, i, j) - row.mean), task_.q_row(head, i), key_sums);
      }
    }
    store_multiple(key_sums, scale_, task_.grad_k.data + j * task_.grad_k.row_stride);
    store_multiple(value_sums, Wide{1}, task_.grad_v.data + j * task_.grad_v.row_stride);
  }

 private:
  Wide logit(std::size_t head, std::size_t i, std::size_t j) const {
    return wide_dot(task_.q_row(head, i), task_.k.row(j), task_.q.cols) * scale_;
  }
  Wide product(std::size_t head, std::size_t i, std::size_t j) const {
    return wide_dot(task_.upstream_row(head, i), task_.v.row(j), task_.v.cols);
  }
  Wide weight_of(const RowState& row, std::size_t head, std::size_t i, std::size_t j) const {
    return std::exp(logit(head, i, j) - row.largest) / row.weight_sum;
  }

  const StreamingBackwardTask<Scalar>& task_;
  Wide scale_;
  std::vector<RowState> rows_;
};

}  // namespace

template <class Scalar>
void wide_range_backward(const StreamingBackwardTask<Scalar>& task) {
  require_wide_range();
  WideRangeBackward<Scalar> backward(task);
  const std::size_t n = task.q.rows;
  const ProgressScope progress(*task.execution, "attention gradients, wide range", task.query_heads * n + task.k.rows);
  parallel_for(*task.execution, task.query_heads * n, 1,
               [&](std::uint64_t row, std::uint64_t) { backward.query(row / n, row % n); });
  parallel_for(*task.execution, task.k.rows, 1, [&](std::uint64_t j, std::uint64_t) { backward.key(j); });
}

template void wide_range_backward<float>(const StreamingBackwardTask<float>&);
template void wide_range_backward<double>(const StreamingBackwardTask<double>&);

}  // namespace subquad::attention
