#include "streaming_softmax_heads.hpp"
#include "wide_range.hpp"
#include "wide_range_softmax.hpp"

#include <subquad/attention/streaming_softmax.hpp>
#include <subquad/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

// Re-includes this file once per target. Scalable vectors (SVE, RVV) cannot stand in arrays, so Arm uses NEON.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "streaming_softmax.cpp"
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include "streaming_softmax-inl.hpp"

#if HWY_ONCE
namespace subquad::attention {
namespace {

HWY_EXPORT(streaming_softmax_float);
HWY_EXPORT(streaming_softmax_float_from_double);
HWY_EXPORT(streaming_softmax_double);

// A share of the last-level cache of one machine, and small beside the 64 MiB that a streaming kernel may use.
constexpr std::size_t kPackedBytes = std::size_t{16} << 20;

template <class Scalar>
using View = Eigen::Ref<const problems::RowMajorMatrix<Scalar>>;
template <class Scalar>
using Output = Eigen::Ref<problems::RowMajorMatrix<Scalar>>;

/// True if no intermediate result of the tiled kernel in arithmetic T can overflow. An upper bound from the largest
/// entries: computed in long double, whose range holds the products of four doubles (if not, they become inf: false).
template <class T, class S>
bool stays_in_range(const StreamingSoftmaxTask<S>& task, double scale) {
  const Wide limit = static_cast<Wide>(std::numeric_limits<T>::max()) / 8;
  double largest_query = 0;
  for (std::size_t head = 0; head < task.query_heads; ++head) {
    largest_query = std::max(largest_query, largest_entry(head_view(task.q, head, task.q_head_stride)));
  }
  const Wide query = static_cast<Wide>(largest_query) * std::max(std::fabs(scale) * std::numbers::log2e, 1.0);
  const Wide key = static_cast<Wide>(largest_entry(task.k));
  const Wide value = static_cast<Wide>(largest_entry(task.v));
  return std::fabs(scale) <= std::numeric_limits<double>::max() / 2 && query <= limit && key <= limit &&
         query * key * static_cast<Wide>(task.q.cols) <= limit && value * static_cast<Wide>(task.k.rows) <= limit;
}

/// Runs the tasks in the tiled kernel, and those that could leave its range in long double.
template <class T, class S, class Target>
void run(Target target, const std::vector<StreamingSoftmaxTask<S>>& tasks, double scale) {
  if (tasks.empty()) return;
  std::vector<char> fits(tasks.size());
  Execution quiet = *tasks.front().execution;
  quiet.progress = nullptr;
  parallel_for(quiet, tasks.size(), 1,
               [&](std::uint64_t t, std::uint64_t) { fits[t] = stays_in_range<T, S>(tasks[t], scale); });
  std::vector<StreamingSoftmaxTask<S>> tiled;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (!fits[t]) {
      wide_range_softmax<S>(tasks[t], scale);
      continue;
    }
    tiled.push_back(tasks[t]);
    tiled.back().log2_scale = scale * std::numbers::log2e;
    tiled.back().packed_bytes = kPackedBytes;
  }
  if (!tiled.empty()) target(tiled.data(), tiled.size());
}

template <class T, class Scalar, class Target>
void attend(Target target, const View<Scalar>& q, const View<Scalar>& k, const View<Scalar>& v, double scale,
            const Execution& execution, Output<Scalar>& output, const problems::AttentionMask& mask,
            std::span<double> log_sum_exp) {
  require(q.cols() == k.cols() && k.rows() == v.rows(), ErrorKind::parameter,
          "attention: Q is {} x {}, K {} x {}, V {} x {}; expected n x d, n_k x d, n_k x d_v", q.rows(), q.cols(),
          k.rows(), k.cols(), v.rows(), v.cols());
  require(output.rows() == q.rows() && output.cols() == v.cols(), ErrorKind::parameter,
          "attention: the output is {} x {}, expected {} x {}", output.rows(), output.cols(), q.rows(), v.cols());
  require(q.rows() == 0 || k.rows() > 0, ErrorKind::parameter, "attention: {} queries but no key: softmax over nothing",
          q.rows());
  const auto n = static_cast<std::size_t>(q.rows());
  require(log_sum_exp.empty() || log_sum_exp.size() == n, ErrorKind::parameter,
          "attention: room for {} log-sum-exps, expected 0 or {}", log_sum_exp.size(), n);
  if (n == 0 || (v.cols() == 0 && log_sum_exp.empty())) return;
  StreamingSoftmaxTask<Scalar> task{matrix_view<Scalar>(q),
                                    matrix_view<Scalar>(k),
                                    matrix_view<Scalar>(v),
                                    output.data(),
                                    static_cast<std::size_t>(output.outerStride()),
                                    0.0,
                                    0,
                                    &execution,
                                    mask,
                                    log_sum_exp.empty() ? nullptr : log_sum_exp.data()};
  problems::RowMajorMatrix<Scalar> no_values, no_output;
  if (v.cols() == 0) {  // the kernel makes the sums of weights beside at least one column
    no_values.setZero(v.rows(), 1);
    no_output.setZero(q.rows(), 1);
    task.v = matrix_view<Scalar>(no_values);
    task.output = no_output.data();
    task.output_stride = 1;
  }
  run<T, Scalar>(target, {task}, scale);
}

}  // namespace

void run_streaming_softmax(const std::vector<StreamingSoftmaxTask<float>>& tasks, double scale) {
  run<float, float>(HWY_DYNAMIC_DISPATCH(streaming_softmax_float), tasks, scale);
}

void run_streaming_softmax(const std::vector<StreamingSoftmaxTask<double>>& tasks, double scale) {
  run<double, double>(HWY_DYNAMIC_DISPATCH(streaming_softmax_double), tasks, scale);
}

void streaming_softmax_into(const Eigen::Ref<const problems::MatrixF>& q, const Eigen::Ref<const problems::MatrixF>& k,
                            const Eigen::Ref<const problems::MatrixF>& v, float scale, const Execution& execution,
                            Eigen::Ref<problems::MatrixF> output, const problems::AttentionMask& mask,
                            std::span<double> log_sum_exp) {
  attend<float, float>(HWY_DYNAMIC_DISPATCH(streaming_softmax_float), q, k, v, static_cast<double>(scale), execution,
                       output, mask, log_sum_exp);
}

void streaming_softmax_into(const Eigen::Ref<const problems::MatrixD>& q, const Eigen::Ref<const problems::MatrixD>& k,
                            const Eigen::Ref<const problems::MatrixD>& v, double scale, const Execution& execution,
                            Eigen::Ref<problems::MatrixD> output, const problems::AttentionMask& mask,
                            std::span<double> log_sum_exp) {
  attend<double, double>(HWY_DYNAMIC_DISPATCH(streaming_softmax_double), q, k, v, scale, execution, output, mask,
                         log_sum_exp);
}

void streaming_softmax_in_float32_into(const Eigen::Ref<const problems::MatrixD>& q,
                                       const Eigen::Ref<const problems::MatrixD>& k,
                                       const Eigen::Ref<const problems::MatrixD>& v, double scale,
                                       const Execution& execution, Eigen::Ref<problems::MatrixD> output,
                                       const problems::AttentionMask& mask, std::span<double> log_sum_exp) {
  attend<float, double>(HWY_DYNAMIC_DISPATCH(streaming_softmax_float_from_double), q, k, v, scale, execution, output,
                        mask, log_sum_exp);
}

problems::MatrixF streaming_softmax(const Eigen::Ref<const problems::MatrixF>& q,
                                    const Eigen::Ref<const problems::MatrixF>& k,
                                    const Eigen::Ref<const problems::MatrixF>& v, float scale,
                                    const Execution& execution, const problems::AttentionMask& mask) {
  problems::MatrixF output(q.rows(), v.cols());
  streaming_softmax_into(q, k, v, scale, execution, output, mask);
  return output;
}

problems::MatrixD streaming_softmax(const Eigen::Ref<const problems::MatrixD>& q,
                                    const Eigen::Ref<const problems::MatrixD>& k,
                                    const Eigen::Ref<const problems::MatrixD>& v, double scale,
                                    const Execution& execution, const problems::AttentionMask& mask) {
  problems::MatrixD output(q.rows(), v.cols());
  streaming_softmax_into(q, k, v, scale, execution, output, mask);
  return output;
}

problems::MatrixD streaming_softmax_in_float32(const Eigen::Ref<const problems::MatrixD>& q,
                                               const Eigen::Ref<const problems::MatrixD>& k,
                                               const Eigen::Ref<const problems::MatrixD>& v, double scale,
                                               const Execution& execution, const problems::AttentionMask& mask) {
  problems::MatrixD output(q.rows(), v.cols());
  streaming_softmax_in_float32_into(q, k, v, scale, execution, output, mask);
  return output;
}

}  // namespace subquad::attention
#endif  // HWY_ONCE
