#include "wide_range_softmax.hpp"

#include "wide_range.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace subquad::attention {
namespace {

/// One query of one head; `values` has room for d_v numbers.
template <class Scalar>
void attend(const StreamingSoftmaxTask<Scalar>& task, Wide scale, std::size_t head, std::size_t i,
            std::vector<Wide>& values) {
  const Scalar* q = task.q_row(head, i);
  const auto logit = [&](std::size_t j) { return wide_dot(q, task.k.row(j), task.q.cols) * scale; };
  const std::size_t seen = task.visible(i);
  Wide largest = logit(0);
  for (std::size_t j = 1; j < seen; ++j) largest = std::max(largest, logit(j));
  std::fill(values.begin(), values.end(), Wide{0});
  Wide weight_sum = 0;
  for (std::size_t j = 0; j < seen; ++j) {
    const Wide weight = std::exp(logit(j) - largest);
    weight_sum += weight;
    add_multiple(weight, task.v.row(j), values);
  }
  store_multiple(values, 1 / weight_sum, task.output_row(head, i));
  if (task.log_sum_exp != nullptr) {
    task.log_sum_exp[head * task.q.rows + i] = rounded<double>(largest + std::log(weight_sum));
  }
}

}  // namespace

template <class Scalar>
void wide_range_softmax(const StreamingSoftmaxTask<Scalar>& task, double scale) {
  require_wide_range();
  const std::size_t n = task.q.rows;
  const ProgressScope progress(*task.execution, "exact attention, wide range", task.query_heads * n);
  parallel_for(*task.execution, task.query_heads * n, 1, [&](std::uint64_t row, std::uint64_t) {
    std::vector<Wide> values(task.v.cols);
    attend(task, static_cast<Wide>(scale), row / n, row % n, values);
  });
}

template void wide_range_softmax<float>(const StreamingSoftmaxTask<float>&, double);
template void wide_range_softmax<double>(const StreamingSoftmaxTask<double>&, double);

}  // namespace subquad::attention
