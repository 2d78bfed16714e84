#include "eigen_blocked_backward.hpp"

#include <algorithm>

// This file is compiled with other vector instructions than the rest of the program, and templates of one name must be
// one function: so Eigen has another name here.
#define Eigen EigenNative
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>

namespace subquad::bench {

template <class Scalar>
void eigen_blocked_backward(const Scalar* q, const Scalar* k, const Scalar* v, const Scalar* upstream,
                            const Scalar* output, const double* log_sum_exp, std::ptrdiff_t n, std::ptrdiff_t n_k,
                            std::ptrdiff_t d, std::ptrdiff_t d_v, Scalar scale, Scalar* grad_q, Scalar* grad_k,
                            Scalar* grad_v) {
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using View = Eigen::Map<const Matrix>;
  using Target = Eigen::Map<Matrix>;
  // Of 64 x 256, 128 x 256, 128 x 512, 256 x 512 and 256 x 256: none clearly better at d = 64.
  constexpr std::ptrdiff_t kQueries = 128, kKeys = 256;
  Target(grad_q, n, d).setZero();
  Target(grad_k, n_k, d).setZero();
  Target(grad_v, n_k, d_v).setZero();
  Matrix p(kQueries, kKeys), ds(kQueries, kKeys), scaled(kQueries, d);
  Eigen::Array<Scalar, Eigen::Dynamic, 1> mean(kQueries), shift(kQueries);
  for (std::ptrdiff_t i = 0; i < n; i += kQueries) {
    const std::ptrdiff_t rows = std::min(kQueries, n - i);
    const View queries(q + i * d, rows, d), gradient(upstream + i * d_v, rows, d_v);
    scaled.topRows(rows) = scale * queries;
    mean.head(rows) = gradient.cwiseProduct(View(output + i * d_v, rows, d_v)).rowwise().sum();
    for (std::ptrdiff_t r = 0; r < rows; ++r) shift[r] = static_cast<Scalar>(log_sum_exp[i + r]);
    for (std::ptrdiff_t j = 0; j < n_k; j += kKeys) {
      const std::ptrdiff_t keys = std::min(kKeys, n_k - j);
      const View key(k + j * d, keys, d), value(v + j * d_v, keys, d_v);
      auto weights = p.topLeftCorner(rows, keys);
      auto products = ds.topLeftCorner(rows, keys);
      weights.noalias() = scaled.topRows(rows) * key.transpose();
      products.noalias() = gradient * value.transpose();
      weights = (weights.array().colwise() - shift.head(rows)).exp();
      products = scale * weights.array() * (products.array().colwise() - mean.head(rows));
      Target(grad_v + j * d_v, keys, d_v).noalias() += weights.transpose() * gradient;
      Target(grad_k + j * d, keys, d).noalias() += products.transpose() * queries;
      Target(grad_q + i * d, rows, d).noalias() += products * key;
    }
  }
}

template void eigen_blocked_backward<float>(const float*, const float*, const float*, const float*, const float*,
                                            const double*, std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t,
                                            std::ptrdiff_t, float, float*, float*, float*);
template void eigen_blocked_backward<double>(const double*, const double*, const double*, const double*, const double*,
                                             const double*, std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t,
                                             std::ptrdiff_t, double, double*, double*, double*);

}  // namespace subquad::bench
