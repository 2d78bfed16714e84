#include "streaming_softmax_backward_heads.hpp"
#include "streaming_softmax_heads.hpp"

#include <subquad/attention/batched_attention.hpp>
#include <subquad/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace subquad::attention {
namespace {

/// Outputs that the backward pass holds at a time, for the groups of heads in work.
constexpr std::size_t kOutputBytes = std::size_t{16} << 20;

template <class T>
std::string shape_of(const Tensor4View<T>& x) {
  return fmt::format("({}, {}, {}, {})", x.shape[0], x.shape[1], x.shape[2], x.shape[3]);
}

template <class T>
std::size_t stride(const Tensor4View<T>& x, std::size_t axis) {
  return static_cast<std::size_t>(x.stride[axis]);
}

template <class T>
T* head_data(const Tensor4View<T>& x, std::size_t batch, std::size_t head) {
  return x.data + batch * stride(x, 0) + head * stride(x, 1);
}

template <class T>
void require_view(const Tensor4View<T>& x, std::string_view name) {
  const bool empty = std::count(x.shape.begin(), x.shape.end(), 0U) > 0;
  require(empty || x.data != nullptr, ErrorKind::parameter, "batched attention: {} is {} but has no data", name,
          shape_of(x));
  require(x.shape[3] <= 1 || x.stride[3] == 1, ErrorKind::parameter,
          "batched attention: the last stride of {} is {}, expected 1", name, x.stride[3]);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    require(x.stride[axis] >= 0, ErrorKind::parameter, "batched attention: stride {} of {} is {}, expected >= 0", axis,
            name, x.stride[axis]);
  }
}

/// Two elements of an output in one place would be written by two threads. Sufficient, and all that real layouts need:
/// in the order of the strides, each step is longer than everything inside it.
template <class T>
void require_output(const Tensor4View<T>& x, std::string_view name) {
  require_view(x, name);
  if (std::count(x.shape.begin(), x.shape.end(), 0U) > 0) return;
  std::array<std::size_t, 4> axes{0, 1, 2, 3};
  std::sort(axes.begin(), axes.end(), [&](std::size_t a, std::size_t b) { return x.stride[a] < x.stride[b]; });
  std::uint64_t inside = 0;
  for (const std::size_t axis : axes) {
    if (x.shape[axis] == 1) continue;
    require(stride(x, axis) > inside, ErrorKind::parameter,
            "batched attention: {} has {} elements with stride {} along axis {}, but the axes inside span {}", name,
            x.shape[axis], x.stride[axis], axis, inside + 1);
    inside += (x.shape[axis] - 1) * stride(x, axis);
  }
}

template <class T>
void require_shape(const Tensor4View<T>& x, std::string_view name, const std::array<std::uint64_t, 4>& expected) {
  require(x.shape == expected, ErrorKind::parameter, "batched attention: {} is {}, expected ({}, {}, {}, {})", name,
          shape_of(x), expected[0], expected[1], expected[2], expected[3]);
}

template <class T>
void require_inputs(const Tensor4View<const T>& q, const Tensor4View<const T>& k, const Tensor4View<const T>& v) {
  require_view(q, "q");
  require_view(k, "k");
  require_view(v, "v");
  const auto [batches, heads, n, d] = q.shape;
  require_shape(k, "k", {batches, k.shape[1], k.shape[2], d});
  require_shape(v, "v", {batches, k.shape[1], k.shape[2], v.shape[3]});
  require(heads == 0 || (k.shape[1] > 0 && heads % k.shape[1] == 0), ErrorKind::parameter,
          "batched attention: q has {} heads, k and v have {}, expected a divisor of {}", heads, k.shape[1], heads);
  require(batches * heads * n == 0 || k.shape[2] > 0, ErrorKind::parameter,
          "batched attention: {} queries but no key: softmax over nothing", n);
}

double scale_of(const BatchedOptions& options, std::uint64_t d) {
  const double scale = options.scale.value_or(d == 0 ? 1.0 : 1.0 / std::sqrt(static_cast<double>(d)));
  require(std::isfinite(scale), ErrorKind::parameter, "batched attention: scale {}, expected a finite number", scale);
  return scale;
}

template <class T>
MatrixView<T> head_matrix(const Tensor4View<const T>& x, std::size_t batch, std::size_t head) {
  return {head_data(x, batch, head), x.shape[2], x.shape[3], stride(x, 2)};
}

/// One task for each batch and head of keys, in this order.
template <class T>
std::vector<StreamingSoftmaxTask<T>> forward_tasks(const Tensor4View<const T>& q, const Tensor4View<const T>& k,
                                                   const Tensor4View<const T>& v, const problems::AttentionMask& mask,
                                                   const Execution& execution) {
  std::vector<StreamingSoftmaxTask<T>> tasks;
  const std::size_t group = k.shape[1] == 0 ? 0 : q.shape[1] / k.shape[1];
  for (std::size_t batch = 0; batch < k.shape[0]; ++batch) {
    for (std::size_t head = 0; head < k.shape[1]; ++head) {
      StreamingSoftmaxTask<T> task{head_matrix(q, batch, head * group),
                                   head_matrix(k, batch, head),
                                   head_matrix(v, batch, head),
                                   nullptr,
                                   0,
                                   0.0,
                                   0,
                                   &execution,
                                   mask};
      task.query_heads = group;
      task.q_head_stride = stride(q, 1);
      tasks.push_back(task);
    }
  }
  return tasks;
}

template <class T>
void forward(const Tensor4View<const T>& q, const Tensor4View<const T>& k, const Tensor4View<const T>& v,
             const Tensor4View<T>& output, const BatchedOptions& options, const Execution& execution) {
  require_inputs(q, k, v);
  require_output(output, "output");
  require_shape(output, "output", {q.shape[0], q.shape[1], q.shape[2], v.shape[3]});
  const double scale = scale_of(options, q.shape[3]);
  if (q.shape[0] * q.shape[1] * q.shape[2] * v.shape[3] == 0) return;
  std::vector<StreamingSoftmaxTask<T>> tasks = forward_tasks<T>(q, k, v, options.mask, execution);
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    tasks[t].output = head_data(output, t / k.shape[1], t % k.shape[1] * tasks[t].query_heads);
    tasks[t].output_stride = stride(output, 2);
    tasks[t].output_head_stride = stride(output, 1);
  }
  run_streaming_softmax(tasks, scale);
}

template <class T>
void backward(const Tensor4View<const T>& q, const Tensor4View<const T>& k, const Tensor4View<const T>& v,
              const Tensor4View<const T>& upstream, const Tensor4View<T>& grad_q, const Tensor4View<T>& grad_k,
              const Tensor4View<T>& grad_v, const BatchedOptions& options, const Execution& execution) {
  require_inputs(q, k, v);
  require_view(upstream, "upstream");
  require_shape(upstream, "upstream", {q.shape[0], q.shape[1], q.shape[2], v.shape[3]});
  require_output(grad_q, "grad_q");
  require_output(grad_k, "grad_k");
  require_output(grad_v, "grad_v");
  require_shape(grad_q, "grad_q", q.shape);
  require_shape(grad_k, "grad_k", k.shape);
  require_shape(grad_v, "grad_v", v.shape);
  const double scale = scale_of(options, q.shape[3]);
  std::vector<StreamingSoftmaxTask<T>> all = forward_tasks<T>(q, k, v, options.mask, execution);
  if (all.empty()) return;
  const std::size_t group = all.front().query_heads, n = q.shape[2], d_v = v.shape[3];
  const std::size_t rows = group * n;  // of one task
  const std::size_t at_once =
      std::clamp<std::size_t>(kOutputBytes / (rows * d_v * sizeof(T) + 1), std::size_t{1}, all.size());
  std::vector<T> outputs(at_once * rows * d_v);
  std::vector<double> log_sum_exps(at_once * rows);
  for (std::size_t first = 0; first < all.size(); first += at_once) {
    std::vector<StreamingSoftmaxTask<T>> tasks;
    std::vector<StreamingBackwardTask<T>> gradients;
    for (std::size_t t = first; t < std::min(first + at_once, all.size()); ++t) {
      StreamingSoftmaxTask<T>& task = all[t];
      task.output = outputs.data() + (t - first) * rows * d_v;
      task.output_stride = d_v;
      task.output_head_stride = n * d_v;
      task.log_sum_exp = log_sum_exps.data() + (t - first) * rows;
      tasks.push_back(task);
      const std::size_t batch = t / k.shape[1], head = t % k.shape[1];
      StreamingBackwardTask<T> gradient{task.q,
                                        task.k,
                                        task.v,
                                        head_matrix(upstream, batch, head * group),
                                        {task.output, n, d_v, d_v},
                                        task.log_sum_exp,
                                        {head_data(grad_q, batch, head * group), stride(grad_q, 2)},
                                        {head_data(grad_k, batch, head), stride(grad_k, 2)},
                                        {head_data(grad_v, batch, head), stride(grad_v, 2)},
                                        scale,
                                        &execution,
                                        options.mask};
      gradient.query_heads = group;
      gradient.q_head_stride = stride(q, 1);
      gradient.upstream_head_stride = stride(upstream, 1);
      gradient.output_head_stride = n * d_v;
      gradient.grad_q_head_stride = stride(grad_q, 1);
      gradients.push_back(gradient);
    }
    if (rows * d_v > 0) run_streaming_softmax(tasks, scale);
    run_streaming_backward(gradients);
  }
}

}  // namespace

void batched_attention(const Tensor4View<const float>& q, const Tensor4View<const float>& k,
                       const Tensor4View<const float>& v, const Tensor4View<float>& output,
                       const BatchedOptions& options, const Execution& execution) {
  forward<float>(q, k, v, output, options, execution);
}

void batched_attention(const Tensor4View<const double>& q, const Tensor4View<const double>& k,
                       const Tensor4View<const double>& v, const Tensor4View<double>& output,
                       const BatchedOptions& options, const Execution& execution) {
  forward<double>(q, k, v, output, options, execution);
}

void batched_attention_backward(const Tensor4View<const float>& q, const Tensor4View<const float>& k,
                                const Tensor4View<const float>& v, const Tensor4View<const float>& upstream,
                                const Tensor4View<float>& grad_q, const Tensor4View<float>& grad_k,
                                const Tensor4View<float>& grad_v, const BatchedOptions& options,
                                const Execution& execution) {
  backward<float>(q, k, v, upstream, grad_q, grad_k, grad_v, options, execution);
}

void batched_attention_backward(const Tensor4View<const double>& q, const Tensor4View<const double>& k,
                                const Tensor4View<const double>& v, const Tensor4View<const double>& upstream,
                                const Tensor4View<double>& grad_q, const Tensor4View<double>& grad_k,
                                const Tensor4View<double>& grad_v, const BatchedOptions& options,
                                const Execution& execution) {
  backward<double>(q, k, v, upstream, grad_q, grad_k, grad_v, options, execution);
}

}  // namespace subquad::attention
