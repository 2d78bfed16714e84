// The ways to call the streaming kernel, random inputs, and calls with poisoned outputs.
#pragma once

#include "each_target.hpp"

#include <subquad/attention/streaming_softmax.hpp>
#include <subquad/core/execution.hpp>
#include <subquad/core/random.hpp>
#include <subquad/problems/attention.hpp>

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace subquad::test {

struct Shape {
  Eigen::Index n, n_k, d, d_v;
};

template <class Matrix>
struct Input {
  Matrix q, k, v;
};

/// The three ways to call the kernel: `Arithmetic` computes, `Matrix` holds the numbers.
struct Float32 {
  using Arithmetic = float;
  using Matrix = problems::MatrixF;
  static constexpr const char* kName = "float32";
  static void run(const Input<Matrix>& x, double scale, const Execution& execution, Eigen::Ref<Matrix> output) {
    attention::streaming_softmax_into(x.q, x.k, x.v, static_cast<float>(scale), execution, output);
  }
};
struct Float64 {
  using Arithmetic = double;
  using Matrix = problems::MatrixD;
  static constexpr const char* kName = "float64";
  static void run(const Input<Matrix>& x, double scale, const Execution& execution, Eigen::Ref<Matrix> output) {
    attention::streaming_softmax_into(x.q, x.k, x.v, scale, execution, output);
  }
};
struct Float32OnDoubles {
  using Arithmetic = float;
  using Matrix = problems::MatrixD;
  static constexpr const char* kName = "float32 on doubles";
  static void run(const Input<Matrix>& x, double scale, const Execution& execution, Eigen::Ref<Matrix> output) {
    attention::streaming_softmax_in_float32_into(x.q, x.k, x.v, scale, execution, output);
  }
};

/// Calls `f(Mode{})` for each of the three.
template <class F>
void for_each_mode(F&& f) {
  f(Float32{});
  f(Float64{});
  f(Float32OnDoubles{});
}

template <class Matrix>
Matrix random_matrix(Random& random, Eigen::Index rows, Eigen::Index cols, double spread) {
  Matrix matrix(rows, cols);
  for (Eigen::Index e = 0; e < matrix.size(); ++e) {
    matrix.data()[e] = static_cast<typename Matrix::Scalar>(spread * (2 * random.unit() - 1));
  }
  return matrix;
}

/// Entries uniform in [-spread, spread] (queries, keys) and [-1, 1] (values).
template <class Matrix>
Input<Matrix> random_input(Random& random, const Shape& shape, double spread) {
  return {random_matrix<Matrix>(random, shape.n, shape.d, spread),
          random_matrix<Matrix>(random, shape.n_k, shape.d, spread),
          random_matrix<Matrix>(random, shape.n_k, shape.d_v, 1.0)};
}

/// Runs the kernel into the middle of a matrix full of NaN, so that an entry left unwritten is NaN, and demands that
/// nothing around it was written.
template <class Mode>
typename Mode::Matrix attend(const Input<typename Mode::Matrix>& x, double scale, int threads = 1) {
  using Matrix = typename Mode::Matrix;
  const Eigen::Index n = x.q.rows(), d_v = x.v.cols();
  Matrix frame = Matrix::Constant(n + 2, d_v + 5, std::numeric_limits<typename Matrix::Scalar>::quiet_NaN());
  Execution execution;
  execution.threads = threads;
  Mode::run(x, scale, execution, frame.block(1, 2, n, d_v));
  const Matrix output = frame.block(1, 2, n, d_v);
  frame.block(1, 2, n, d_v).setConstant(std::numeric_limits<typename Matrix::Scalar>::quiet_NaN());
  EXPECT_TRUE(frame.array().isNaN().all()) << "written outside the output";
  return output;
}

/// Equal bits: unlike ==, tells NaN from a number and says so.
template <class Matrix>
bool identical(const Matrix& x, const Matrix& y) {
  return x.rows() == y.rows() && x.cols() == y.cols() && (x.array() == y.array()).all();
}

}  // namespace subquad::test
