#include "eigen_blocked_attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

// This file is compiled with other vector instructions than the rest of the program, and templates of one name must be
// one function: so Eigen has another name here.
#define Eigen EigenNative
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>

namespace subquad::bench {

template <class Scalar>
void eigen_blocked_attention(const Scalar* q, const Scalar* k, const Scalar* v, std::ptrdiff_t n, std::ptrdiff_t n_k,
                             std::ptrdiff_t d, std::ptrdiff_t d_v, Scalar scale, int threads, Scalar* output) {
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Row = Eigen::Map<Eigen::Array<Scalar, 1, Eigen::Dynamic>>;
  using View = Eigen::Map<const Matrix>;
  // Of 64 x 256, 128 x 256, 128 x 512, 256 x 512, 256 x 1024, 384 x 384: none clearly better for any d.
  constexpr std::ptrdiff_t kQueries = 128, kKeys = 256;
#pragma omp parallel num_threads(threads)
  {
    Matrix logits(kQueries, kKeys), sums(kQueries, d_v), scaled(kQueries, d);
    Eigen::Array<Scalar, Eigen::Dynamic, 1> largest(kQueries), weight(kQueries);
#pragma omp for schedule(dynamic)
    for (std::ptrdiff_t i = 0; i < n; i += kQueries) {
      const std::ptrdiff_t rows = std::min(kQueries, n - i);
      scaled.topRows(rows) = scale * View(q + i * d, rows, d);
      largest.setConstant(-std::numeric_limits<Scalar>::infinity());
      weight.setZero();
      sums.setZero();
      for (std::ptrdiff_t j = 0; j < n_k; j += kKeys) {
        const std::ptrdiff_t keys = std::min(kKeys, n_k - j);
        auto tile = logits.topLeftCorner(rows, keys);
        tile.noalias() = scaled.topRows(rows) * View(k + j * d, keys, d).transpose();
        for (std::ptrdiff_t r = 0; r < rows; ++r) {
          Row row(&logits(r, 0), keys);
          const Scalar grown = std::max(largest[r], row.maxCoeff());
          if (grown > largest[r]) {
            const Scalar correction = std::exp(largest[r] - grown);
            sums.row(r) *= correction;
            weight[r] *= correction;
            largest[r] = grown;
          }
          row = (row - grown).exp();
          weight[r] += row.sum();
        }
        sums.topRows(rows).noalias() += tile * View(v + j * d_v, keys, d_v);
      }
      Eigen::Map<Matrix>(output + i * d_v, rows, d_v) = sums.topRows(rows).array().colwise() / weight.head(rows);
    }
  }
}

template void eigen_blocked_attention<float>(const float*, const float*, const float*, std::ptrdiff_t, std::ptrdiff_t,
                                             std::ptrdiff_t, std::ptrdiff_t, float, int, float*);
template void eigen_blocked_attention<double>(const double*, const double*, const double*, std::ptrdiff_t,
                                              std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t, double, int, double*);

}  // namespace subquad::bench
