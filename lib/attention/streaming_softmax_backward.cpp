#include "streaming_softmax_backward_heads.hpp"
#include "streaming_softmax_heads.hpp"
#include "wide_range.hpp"
#include "wide_range_backward.hpp"

#include <subquad/attention/streaming_softmax.hpp>
#include <subquad/attention/streaming_softmax_backward.hpp>
#include <subquad/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

// Re-includes this file once per target. Scalable vectors (SVE, RVV) cannot stand in arrays, so Arm uses NEON.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "streaming_softmax_backward.cpp"
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include "streaming_softmax_backward-inl.hpp"

#if HWY_ONCE
namespace subquad::attention {
namespace {

HWY_EXPORT(streaming_backward_float);
HWY_EXPORT(streaming_backward_double);

// Packed queries, and as much again for packed keys: together half of the 64 MiB that a streaming kernel may use.
constexpr std::size_t kPackedBytes = std::size_t{16} << 20;

template <class T>
using View = Eigen::Ref<const problems::RowMajorMatrix<T>>;

template <class T>
double largest_of_heads(const MatrixView<T>& first, std::size_t heads, std::size_t head_stride) {
  double largest = 0;
  for (std::size_t head = 0; head < heads; ++head) {
    const double entry = largest_entry(head_view(first, head, head_stride));
    if (!(entry <= largest)) largest = entry;  // keeps NaN
  }
  return largest;
}

/// True if no intermediate result of the tiled kernel in arithmetic T can overflow, and none that matters can
/// underflow. Upper bounds from the largest entries, as in the forward kernel. Comparisons with NaN are false: not in
/// range.
template <class T>
bool stays_in_range(const StreamingBackwardTask<T>& task) {
  const Wide limit = static_cast<Wide>(std::numeric_limits<T>::max()) / 8;
  const Wide scale = std::fabs(static_cast<Wide>(task.scale));
  const Wide q = largest_of_heads(task.q, task.query_heads, task.q_head_stride);
  const Wide g = largest_of_heads(task.upstream, task.query_heads, task.upstream_head_stride);
  const Wide o = largest_of_heads(task.output, task.query_heads, task.output_head_stride);
  const Wide k = largest_entry(task.k);
  const Wide v = largest_entry(task.v);
  const Wide n = static_cast<Wide>(task.q.rows) * static_cast<Wide>(task.query_heads);
  const Wide n_k = static_cast<Wide>(task.k.rows);
  const Wide scaled_q = q * std::max(scale * std::numbers::log2e_v<Wide>, Wide{1});
  const Wide scaled_g = g * std::max(scale, Wide{1});
  const Wide ds = 2 * scaled_g * std::max({v, o, Wide{1}}) * static_cast<Wide>(task.v.cols);
  const bool fits = scale <= std::numeric_limits<double>::max() / 2 && scaled_q <= limit && k <= limit &&
                    scaled_q * k * static_cast<Wide>(task.q.cols) <= limit && ds <= limit && n * g <= limit &&
                    n_k * ds * k <= limit && n * ds * q <= limit;
  // The scaled upstream gradient and its products with V must stay well above the subnormal numbers, unless they are 0.
  const Wide least = static_cast<Wide>(std::numeric_limits<T>::min()) * Wide{0x1p26};
  const auto vanishes = [least](Wide x) { return x != 0 && x < least; };
  return fits && !vanishes(g * scale) && !vanishes(g * scale * v);
}

template <class T>
void clear(const MatrixTarget<T>& target, std::size_t rows, std::size_t cols) {
  for (std::size_t i = 0; i < rows; ++i) std::fill_n(target.data + i * target.row_stride, cols, T{0});
}

template <class T>
void clear_gradients(const StreamingBackwardTask<T>& task) {
  for (std::size_t head = 0; head < task.query_heads; ++head) {
    clear<T>({task.grad_q.data + head * task.grad_q_head_stride, task.grad_q.row_stride}, task.q.rows, task.q.cols);
  }
  clear<T>(task.grad_k, task.k.rows, task.k.cols);
  clear<T>(task.grad_v, task.v.rows, task.v.cols);
}

template <class T>
void require_finite_log_sums(const StreamingBackwardTask<T>& task) {
  const std::size_t count = task.query_heads * task.q.rows;
  for (std::size_t i = 0; i < count; ++i) {
    require(std::isfinite(task.log_sum_exp[i]), ErrorKind::parameter,
            "attention gradients: log-sum-exp {} of head {} is {}, but all logits are finite", i % task.q.rows,
            i / task.q.rows, task.log_sum_exp[i]);
  }
}

/// Runs the tasks in the tiled kernel, and those that could leave its range in long double.
template <class T, class Target>
void run(Target target, const std::vector<StreamingBackwardTask<T>>& tasks) {
  if (tasks.empty()) return;
  enum class Way : char { nothing, tiled, wide };
  std::vector<Way> ways(tasks.size());
  Execution quiet = *tasks.front().execution;
  quiet.progress = nullptr;
  parallel_for(quiet, tasks.size(), 1, [&](std::uint64_t t, std::uint64_t) {
    const StreamingBackwardTask<T>& task = tasks[t];
    clear_gradients(task);
    ways[t] = task.query_heads == 0 || task.q.rows == 0 || task.v.cols == 0 ? Way::nothing
              : stays_in_range(task)                                        ? Way::tiled
                                                                            : Way::wide;
    if (ways[t] == Way::tiled) require_finite_log_sums(task);
  });
  std::vector<StreamingBackwardTask<T>> tiled;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (ways[t] == Way::wide) wide_range_backward<T>(tasks[t]);
    if (ways[t] != Way::tiled) continue;
    tiled.push_back(tasks[t]);
    tiled.back().packed_bytes = kPackedBytes;
  }
  if (!tiled.empty()) target(tiled.data(), tiled.size());
}

template <class T>
void check_shapes(const View<T>& q, const View<T>& k, const View<T>& v, const View<T>& upstream) {
  require(q.cols() == k.cols() && k.rows() == v.rows(), ErrorKind::parameter,
          "attention gradients: Q is {} x {}, K {} x {}, V {} x {}; expected n x d, n_k x d, n_k x d_v", q.rows(),
          q.cols(), k.rows(), k.cols(), v.rows(), v.cols());
  require(upstream.rows() == q.rows() && upstream.cols() == v.cols(), ErrorKind::parameter,
          "attention gradients: the upstream gradient is {} x {}, expected {} x {}", upstream.rows(), upstream.cols(),
          q.rows(), v.cols());
  require(q.rows() == 0 || k.rows() > 0, ErrorKind::parameter,
          "attention gradients: {} queries but no key: softmax over nothing", q.rows());
}

template <class T>
AttentionGradients<problems::RowMajorMatrix<T>> from_saved(const View<T>& q, const View<T>& k, const View<T>& v,
                                                           const View<T>& upstream, const View<T>& output,
                                                           std::span<const double> log_sum_exp, double scale,
                                                           const problems::AttentionMask& mask,
                                                           const Execution& execution) {
  check_shapes<T>(q, k, v, upstream);
  require(output.rows() == q.rows() && output.cols() == v.cols() &&
              log_sum_exp.size() == static_cast<std::size_t>(q.rows()),
          ErrorKind::parameter,
          "attention gradients: the saved output is {} x {} with {} log-sum-exps, expected {} x {} with {}",
          output.rows(), output.cols(), log_sum_exp.size(), q.rows(), v.cols(), q.rows());
  AttentionGradients<problems::RowMajorMatrix<T>> gradients;
  gradients.q.resize(q.rows(), q.cols());
  gradients.k.resize(k.rows(), k.cols());
  gradients.v.resize(v.rows(), v.cols());
  const auto target = [](problems::RowMajorMatrix<T>& matrix) {
    return MatrixTarget<T>{matrix.data(), static_cast<std::size_t>(matrix.cols())};
  };
  run_streaming_backward(std::vector<StreamingBackwardTask<T>>{
      {matrix_view<T>(q), matrix_view<T>(k), matrix_view<T>(v), matrix_view<T>(upstream), matrix_view<T>(output),
       log_sum_exp.data(), target(gradients.q), target(gradients.k), target(gradients.v), scale, &execution, mask}});
  return gradients;
}

template <class T, class Scale>
AttentionGradients<problems::RowMajorMatrix<T>> from_inputs(const View<T>& q, const View<T>& k, const View<T>& v,
                                                            const View<T>& upstream, Scale scale,
                                                            const problems::AttentionMask& mask,
                                                            const Execution& execution) {
  check_shapes<T>(q, k, v, upstream);
  problems::RowMajorMatrix<T> output(q.rows(), v.cols());
  std::vector<double> log_sum_exp(static_cast<std::size_t>(q.rows()));
  if (v.cols() > 0) streaming_softmax_into(q, k, v, scale, execution, output, mask, log_sum_exp);
  return from_saved<T>(q, k, v, upstream, output, log_sum_exp, static_cast<double>(scale), mask, execution);
}

}  // namespace

void run_streaming_backward(const std::vector<StreamingBackwardTask<float>>& tasks) {
  run<float>(HWY_DYNAMIC_DISPATCH(streaming_backward_float), tasks);
}

void run_streaming_backward(const std::vector<StreamingBackwardTask<double>>& tasks) {
  run<double>(HWY_DYNAMIC_DISPATCH(streaming_backward_double), tasks);
}

AttentionGradients<problems::MatrixF> streaming_softmax_backward(const Eigen::Ref<const problems::MatrixF>& q,
                                                                 const Eigen::Ref<const problems::MatrixF>& k,
                                                                 const Eigen::Ref<const problems::MatrixF>& v,
                                                                 const Eigen::Ref<const problems::MatrixF>& upstream,
                                                                 float scale, const problems::AttentionMask& mask,
                                                                 const Execution& execution) {
  return from_inputs<float>(q, k, v, upstream, scale, mask, execution);
}

AttentionGradients<problems::MatrixD> streaming_softmax_backward(const Eigen::Ref<const problems::MatrixD>& q,
                                                                 const Eigen::Ref<const problems::MatrixD>& k,
                                                                 const Eigen::Ref<const problems::MatrixD>& v,
                                                                 const Eigen::Ref<const problems::MatrixD>& upstream,
                                                                 double scale, const problems::AttentionMask& mask,
                                                                 const Execution& execution) {
  return from_inputs<double>(q, k, v, upstream, scale, mask, execution);
}

AttentionGradients<problems::MatrixF> streaming_softmax_backward(
    const Eigen::Ref<const problems::MatrixF>& q, const Eigen::Ref<const problems::MatrixF>& k,
    const Eigen::Ref<const problems::MatrixF>& v, const Eigen::Ref<const problems::MatrixF>& upstream,
    const Eigen::Ref<const problems::MatrixF>& output, std::span<const double> log_sum_exp, float scale,
    const problems::AttentionMask& mask, const Execution& execution) {
  return from_saved<float>(q, k, v, upstream, output, log_sum_exp, static_cast<double>(scale), mask, execution);
}

AttentionGradients<problems::MatrixD> streaming_softmax_backward(
    const Eigen::Ref<const problems::MatrixD>& q, const Eigen::Ref<const problems::MatrixD>& k,
    const Eigen::Ref<const problems::MatrixD>& v, const Eigen::Ref<const problems::MatrixD>& upstream,
    const Eigen::Ref<const problems::MatrixD>& output, std::span<const double> log_sum_exp, double scale,
    const problems::AttentionMask& mask, const Execution& execution) {
  return from_saved<double>(q, k, v, upstream, output, log_sum_exp, scale, mask, execution);
}

}  // namespace subquad::attention
#endif  // HWY_ONCE
