// What the tests of the backward kernel share: both arithmetics, random cases, the comparison with the closed form.
#pragma once

#include "every_target.hpp"
#include "gradients_reference.hpp"
#include "max_abs_error.hpp"

#include <subquad/attention/streaming_softmax_backward.hpp>
#include <subquad/problems/attention_mask.hpp>

#include <gtest/gtest.h>

#include <string>

namespace subquad::test {

template <class Matrix>
using Gradients = attention::AttentionGradients<Matrix>;

/// Calls `f(Scalar{})` for both arithmetics.
template <class F>
void for_each_arithmetic(F&& f) {
  f(float{});
  f(double{});
}

template <class Matrix>
struct BackwardInput {
  Matrix q, k, v, g;
};

template <class Scalar>
BackwardInput<problems::RowMajorMatrix<Scalar>> random_backward(Random& random, const Shape& s, double spread) {
  using Matrix = problems::RowMajorMatrix<Scalar>;
  const auto x = random_input<Matrix>(random, s, spread);
  return {x.q, x.k, x.v, random_matrix<Matrix>(random, s.n, s.d_v, 1.0)};
}

template <class Matrix>
Gradients<Matrix> backward(const BackwardInput<Matrix>& x, double scale, const problems::AttentionMask& mask = {},
                           int threads = 1) {
  Execution execution;
  execution.threads = threads;
  return attention::streaming_softmax_backward(x.q, x.k, x.v, x.g, static_cast<typename Matrix::Scalar>(scale), mask,
                                               execution);
}

/// The largest error of the three gradients in units of the tolerance: accepted iff <= 1.
template <class Matrix>
long double gradient_error_ratio(const Gradients<Matrix>& computed, const GradientsReference& reference) {
  return larger_error(max_error_ratio(computed.q, reference.value.q, reference.tolerance.q),
                      larger_error(max_error_ratio(computed.k, reference.value.k, reference.tolerance.k),
                                   max_error_ratio(computed.v, reference.value.v, reference.tolerance.v)));
}

/// The closed form for the scale that the kernel gets, in its arithmetic.
template <class Matrix>
GradientsReference reference_of(const BackwardInput<Matrix>& x, double scale,
                                const problems::AttentionMask& mask = {}) {
  using Scalar = typename Matrix::Scalar;
  return gradients_reference<Scalar>(x.q, x.k, x.v, x.g, static_cast<long double>(static_cast<Scalar>(scale)), mask);
}

template <class Matrix>
bool identical_gradients(const Gradients<Matrix>& x, const Gradients<Matrix>& y) {
  return identical<Matrix>(x.q, y.q) && identical<Matrix>(x.k, y.k) && identical<Matrix>(x.v, y.v);
}

}  // namespace subquad::test
