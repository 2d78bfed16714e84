// Reference attention in long double with a derived bound on what a kernel may deviate from it, for tests.
//
// Model of the kernel: arithmetic with unit roundoff u. Logit j is a sum of d products with `logit_roundings` further
// roundings, so its error is at most gamma_{d+r} L_j with L_j = |scale| sum_c |q_c k_jc|. The weight exp(l_j - m) has a
// relative error e_p from the exponential at each of at most t + 1 evaluations (t tiles: one weight and t corrections),
// and the arguments, which add up to M - l_j along the way, are rounded: u (M - l_j) in the exponent. The subtracted m
// is the same for all keys and cancels. So the weight of key j is (1 + theta_j) times the true one, with
//   |theta_j| <= expm1(gamma_{d+r} L_j + u (M - l_j) + (t + 1) e_p).
// Reweighting a distribution p moves the mean of v by sum_j p_j theta_j (v_j - mean) / (1 + sum_j p_j theta_j),
// exactly. Both sums are rounded at most `sum_roundings` times on any path, the quotient once, the output once. Weights
// below 2^-124 of the largest may vanish.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace subquad::test {

using MatrixL = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// What the error model needs to know of an implementation.
struct SoftmaxArithmetic {
  long double unit_roundoff;    ///< u
  long double logit_roundings;  ///< r
  long double exp_error;        ///< e_p, relative
  long double tiles;            ///< t
  long double sum_roundings;
  long double smallest_weight;  ///< weights below may count as 0
};

/// The streaming kernel in arithmetic T on n_k keys: r = 4 (scaled query 3, rounded key 1), e_p = 1 ulp, tiles of 192
/// keys summed at most key by key with a product each, then tile by tile, then lane by lane (at most 16).
template <class T>
SoftmaxArithmetic streaming_arithmetic(Eigen::Index n_k) {
  const long double u = std::numeric_limits<T>::epsilon() / 2.0L;
  const long double tiles = static_cast<long double>((n_k + 191) / 192);
  const long double smallest = sizeof(T) == 4 ? 0x1p-124L : 0x1p-1020L;
  return {u, 4, 2 * u, tiles, 2 * (std::min<long double>(static_cast<long double>(n_k), 192) + tiles + 16), smallest};
}

struct SoftmaxReference {
  MatrixL output;     ///< n x d_v
  MatrixL tolerance;  ///< n x d_v; infinite where the bound is vacuous
};

namespace detail {

/// Bound for one output entry from the weights p, thetas, and column v.
inline long double softmax_tolerance(const std::vector<long double>& p, const std::vector<long double>& theta,
                                     const MatrixL& v, Eigen::Index column, long double mean,
                                     const SoftmaxArithmetic& arithmetic) {
  long double moved = 0, drift = 0, magnitude = 0, largest = 0;
  for (std::size_t j = 0; j < p.size(); ++j) {
    const long double value = v(static_cast<Eigen::Index>(j), column);
    moved += p[j] * theta[j] * std::fabs(value - mean);
    drift += p[j] * theta[j];
    magnitude += p[j] * std::fabs(value);
    if (std::fabs(value) > largest) largest = std::fabs(value);
  }
  if (!(drift < 0.5L)) return std::numeric_limits<long double>::infinity();
  const long double u = arithmetic.unit_roundoff;
  const long double sums = arithmetic.sum_roundings * u / (1 - arithmetic.sum_roundings * u);
  const long double vanished = static_cast<long double>(p.size()) * arithmetic.smallest_weight * 2 * largest;
  const long double exact_sums = moved / (1 - drift);
  // 1.1 covers the products of these first-order terms: each factor is below 1 + 2^-4 in every test.
  return 1.1L * (exact_sums + sums * (magnitude + std::fabs(mean)) + 2 * u * std::fabs(mean) + vanished);
}

}  // namespace detail

/// Returns softmax(scale q k^T) v straight from the definition, and for every entry how far an implementation with the
/// given arithmetic may be from it (the reference's own rounding included). n_k >= 1.
template <class Q, class K, class W>
SoftmaxReference softmax_reference(const Q& q_in, const K& k_in, const W& v_in, long double scale,
                                   const SoftmaxArithmetic& arithmetic) {
  const MatrixL q = q_in.template cast<long double>();
  const MatrixL k = k_in.template cast<long double>();
  const MatrixL v = v_in.template cast<long double>();
  const auto n_k = static_cast<std::size_t>(k.rows());
  const auto d = static_cast<long double>(q.cols());
  const long double reference_unit = std::numeric_limits<long double>::epsilon() / 2;
  const SoftmaxArithmetic own{reference_unit, 2, 4 * reference_unit, 1, static_cast<long double>(n_k + 4), 0};
  SoftmaxReference result{MatrixL(q.rows(), v.cols()), MatrixL(q.rows(), v.cols())};
  std::vector<long double> logit(n_k), magnitude(n_k), p(n_k);
  for (Eigen::Index i = 0; i < q.rows(); ++i) {
    for (std::size_t j = 0; j < n_k; ++j) {
      const auto row = static_cast<Eigen::Index>(j);
      logit[j] = scale * (q.cols() == 0 ? 0 : q.row(i).dot(k.row(row)));
      magnitude[j] = std::fabs(scale) * (q.cols() == 0 ? 0 : q.row(i).cwiseAbs().dot(k.row(row).cwiseAbs()));
    }
    const long double largest = *std::max_element(logit.begin(), logit.end());
    long double sum = 0;
    for (std::size_t j = 0; j < n_k; ++j) sum += p[j] = std::exp(logit[j] - largest);
    for (long double& weight : p) weight /= sum;
    const auto thetas = [&](const SoftmaxArithmetic& a) {
      std::vector<long double> theta(n_k);
      const long double roundings = (d + a.logit_roundings) * a.unit_roundoff;
      for (std::size_t j = 0; j < n_k; ++j) {
        theta[j] = std::expm1(roundings / (1 - roundings) * magnitude[j] + a.unit_roundoff * (largest - logit[j]) +
                              (a.tiles + 1) * a.exp_error);
      }
      return theta;
    };
    const std::vector<long double> kernel_theta = thetas(arithmetic), own_theta = thetas(own);
    for (Eigen::Index c = 0; c < v.cols(); ++c) {
      long double mean = 0;
      for (std::size_t j = 0; j < n_k; ++j) mean += p[j] * v(static_cast<Eigen::Index>(j), c);
      result.output(i, c) = mean;
      result.tolerance(i, c) = detail::softmax_tolerance(p, kernel_theta, v, c, mean, arithmetic) +
                               detail::softmax_tolerance(p, own_theta, v, c, mean, own);
    }
  }
  return result;
}

}  // namespace subquad::test
