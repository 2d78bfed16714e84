// Streaming softmax over heads: the seam between the exact kernels and those that hold many heads in one tensor.
#pragma once

#include "streaming_softmax_task.hpp"

#include <subquad/problems/attention.hpp>

#include <Eigen/Core>
#include <cstddef>
#include <vector>

namespace subquad::attention {

template <class S>
using ConstStridedMap = Eigen::Map<const problems::RowMajorMatrix<S>, 0, Eigen::OuterStride<>>;
template <class S>
using StridedMap = Eigen::Map<problems::RowMajorMatrix<S>, 0, Eigen::OuterStride<>>;

template <class S>
ConstStridedMap<S> as_eigen(const MatrixView<S>& view) {
  return ConstStridedMap<S>(view.data, static_cast<Eigen::Index>(view.rows), static_cast<Eigen::Index>(view.cols),
                            Eigen::OuterStride<>(static_cast<Eigen::Index>(view.row_stride)));
}

template <class S>
MatrixView<S> matrix_view(const Eigen::Ref<const problems::RowMajorMatrix<S>>& matrix) {
  return {matrix.data(), static_cast<std::size_t>(matrix.rows()), static_cast<std::size_t>(matrix.cols()),
          static_cast<std::size_t>(matrix.outerStride())};
}

/// The view of another head, `head_stride` numbers apart from one to the next.
template <class S>
MatrixView<S> head_view(MatrixView<S> first, std::size_t head, std::size_t head_stride) {
  first.data += head * head_stride;
  return first;
}

/// The largest absolute value; 0 for an empty matrix.
template <class S>
double largest_entry(const MatrixView<S>& view) {
  return view.rows == 0 || view.cols == 0 ? 0.0 : static_cast<double>(as_eigen(view).cwiseAbs().maxCoeff());
}

/// Computes all tasks, which have the same shapes, mask and execution (log2_scale and packed_bytes are filled in).
/// Tasks that could leave the range of the arithmetic are computed in long double, one by one. A task's result does not
/// depend on the others. Errors as streaming_softmax_into.
void run_streaming_softmax(const std::vector<StreamingSoftmaxTask<float>>& tasks, double scale);
void run_streaming_softmax(const std::vector<StreamingSoftmaxTask<double>>& tasks, double scale);

}  // namespace subquad::attention
