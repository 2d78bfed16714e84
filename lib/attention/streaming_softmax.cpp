#include "wide_range_softmax.hpp"

#include <subquad/attention/streaming_softmax.hpp>
#include <subquad/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

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
constexpr double kLog2E = 1.4426950408889634074;

template <class Scalar>
using View = Eigen::Ref<const problems::RowMajorMatrix<Scalar>>;
template <class Scalar>
using Output = Eigen::Ref<problems::RowMajorMatrix<Scalar>>;

template <class Scalar>
double largest_entry(const View<Scalar>& matrix) {
  return matrix.size() == 0 ? 0.0 : static_cast<double>(matrix.cwiseAbs().maxCoeff());
}

/// True if no intermediate result of the tiled kernel in arithmetic T can overflow. An upper bound from the largest
/// entries: computed in long double, whose range holds the products of four doubles (if not, they become inf: false).
template <class T, class Scalar>
bool stays_in_range(const View<Scalar>& q, const View<Scalar>& k, const View<Scalar>& v, double scale) {
  using Wide = long double;
  const Wide limit = static_cast<Wide>(std::numeric_limits<T>::max()) / 8;
  const Wide query = static_cast<Wide>(largest_entry<Scalar>(q)) * std::max(std::fabs(scale) * kLog2E, 1.0);
  const Wide key = static_cast<Wide>(largest_entry<Scalar>(k));
  const Wide value = static_cast<Wide>(largest_entry<Scalar>(v));
  return std::fabs(scale) <= std::numeric_limits<double>::max() / 2 && query <= limit && key <= limit &&
         query * key * static_cast<Wide>(q.cols()) <= limit && value * static_cast<Wide>(k.rows()) <= limit;
}

template <class Scalar>
MatrixView<Scalar> view(const View<Scalar>& matrix) {
  return {matrix.data(), static_cast<std::size_t>(matrix.rows()), static_cast<std::size_t>(matrix.cols()),
          static_cast<std::size_t>(matrix.outerStride())};
}

template <class T, class Scalar, class Target>
void attend(Target target, const View<Scalar>& q, const View<Scalar>& k, const View<Scalar>& v, double scale,
            const Execution& execution, Output<Scalar>& output) {
  require(q.cols() == k.cols() && k.rows() == v.rows(), ErrorKind::parameter,
          "attention: Q is {} x {}, K {} x {}, V {} x {}; expected n x d, n_k x d, n_k x d_v", q.rows(), q.cols(),
          k.rows(), k.cols(), v.rows(), v.cols());
  require(output.rows() == q.rows() && output.cols() == v.cols(), ErrorKind::parameter,
          "attention: the output is {} x {}, expected {} x {}", output.rows(), output.cols(), q.rows(), v.cols());
  require(q.rows() == 0 || k.rows() > 0, ErrorKind::parameter, "attention: {} queries but no key: softmax over nothing",
          q.rows());
  if (q.rows() == 0 || v.cols() == 0) return;
  if (!stays_in_range<T, Scalar>(q, k, v, scale)) {
    wide_range_softmax<Scalar>(q, k, v, scale, execution, output);
    return;
  }
  const StreamingSoftmaxTask<Scalar> task{
      view<Scalar>(q), view<Scalar>(k), view<Scalar>(v), output.data(), static_cast<std::size_t>(output.outerStride()),
      scale * kLog2E,  kPackedBytes,    &execution};
  target(task);
}

}  // namespace

void streaming_softmax_into(const Eigen::Ref<const problems::MatrixF>& q, const Eigen::Ref<const problems::MatrixF>& k,
                            const Eigen::Ref<const problems::MatrixF>& v, float scale, const Execution& execution,
                            Eigen::Ref<problems::MatrixF> output) {
  attend<float, float>(HWY_DYNAMIC_DISPATCH(streaming_softmax_float), q, k, v, static_cast<double>(scale), execution,
                       output);
}

void streaming_softmax_into(const Eigen::Ref<const problems::MatrixD>& q, const Eigen::Ref<const problems::MatrixD>& k,
                            const Eigen::Ref<const problems::MatrixD>& v, double scale, const Execution& execution,
                            Eigen::Ref<problems::MatrixD> output) {
  attend<double, double>(HWY_DYNAMIC_DISPATCH(streaming_softmax_double), q, k, v, scale, execution, output);
}

void streaming_softmax_in_float32_into(const Eigen::Ref<const problems::MatrixD>& q,
                                       const Eigen::Ref<const problems::MatrixD>& k,
                                       const Eigen::Ref<const problems::MatrixD>& v, double scale,
                                       const Execution& execution, Eigen::Ref<problems::MatrixD> output) {
  attend<float, double>(HWY_DYNAMIC_DISPATCH(streaming_softmax_float_from_double), q, k, v, scale, execution, output);
}

problems::MatrixF streaming_softmax(const Eigen::Ref<const problems::MatrixF>& q,
                                    const Eigen::Ref<const problems::MatrixF>& k,
                                    const Eigen::Ref<const problems::MatrixF>& v, float scale,
                                    const Execution& execution) {
  problems::MatrixF output(q.rows(), v.cols());
  streaming_softmax_into(q, k, v, scale, execution, output);
  return output;
}

problems::MatrixD streaming_softmax(const Eigen::Ref<const problems::MatrixD>& q,
                                    const Eigen::Ref<const problems::MatrixD>& k,
                                    const Eigen::Ref<const problems::MatrixD>& v, double scale,
                                    const Execution& execution) {
  problems::MatrixD output(q.rows(), v.cols());
  streaming_softmax_into(q, k, v, scale, execution, output);
  return output;
}

problems::MatrixD streaming_softmax_in_float32(const Eigen::Ref<const problems::MatrixD>& q,
                                               const Eigen::Ref<const problems::MatrixD>& k,
                                               const Eigen::Ref<const problems::MatrixD>& v, double scale,
                                               const Execution& execution) {
  problems::MatrixD output(q.rows(), v.cols());
  streaming_softmax_in_float32_into(q, k, v, scale, execution, output);
  return output;
}

}  // namespace subquad::attention
#endif  // HWY_ONCE
