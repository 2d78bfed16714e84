// Reference gradients of attention in long double with a derived bound on what a kernel may deviate, for tests.
//
// Model of the kernel, on top of softmax_reference.hpp (u, g = gamma_{d+4}, L_ij = |scale| sum_c |q_ic k_jc|):
//   * the weight P_ij = 2^(logit - shift) has a relative error theta_ij <= expm1(lambda_ij), where
//     lambda_ij = g L_ij + u |l_ij - s_i| (their difference is rounded) + 2 u (exponential) + sigma_i, and the
//     log-sum-exp s_i is off by sigma_i <= max_j (g L_ij + 2 u |l_ij - m_i|) + (sum roundings + 8) u + 4 u |s_i|;
//   * scale <G_i, V_j> is off by gamma_{d_v+4} |scale| sum |G_ic V_jc|; scale <G_i, O_i> likewise, plus what the output
//     is off by, |scale| sum |G_ic| tau_ic;
//   * dS = P (the difference of these), two roundings; weights below `smallest` may count as 0;
//   * sums over keys go through tiles of 192, sums over queries through tiles of 128, then tile by tile.
// 1.2 covers the products of these first-order terms and the reference's own rounding (u smaller by 2^-11 at least).
#pragma once

#include "softmax_reference.hpp"

#include <subquad/problems/attention_mask.hpp>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace subquad::test {

struct GradientMatrices {
  MatrixL q, k, v;
};

struct GradientsReference {
  GradientMatrices value;
  GradientMatrices tolerance;  ///< infinite where the bound is vacuous
};

/// dQ, dK, dV of <G, softmax(scale q k^T) v> straight from the closed form. T is the kernel's arithmetic. n_k >= 1.
template <class T, class Q, class K, class W, class G>
GradientsReference gradients_reference(const Q& q_in, const K& k_in, const W& v_in, const G& g_in, long double scale,
                                       const problems::AttentionMask& mask = {}) {
  const MatrixL q = q_in.template cast<long double>(), k = k_in.template cast<long double>();
  const MatrixL v = v_in.template cast<long double>(), g = g_in.template cast<long double>();
  const Eigen::Index n = q.rows(), n_k = k.rows();
  const auto arithmetic = streaming_arithmetic<T>(n_k);
  const long double u = arithmetic.unit_roundoff;
  const auto gamma = [u](long double roundings) { return roundings * u / (1 - roundings * u); };
  const auto tiles = [](Eigen::Index count, Eigen::Index tile) {
    return static_cast<long double>(std::min(count, tile) + count / tile + 40);  // 40: parts of the schedule, and slack
  };
  MatrixL ds = MatrixL::Zero(n, n_k), ds_error = ds, p = ds, p_error = ds;
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto seen =
        static_cast<Eigen::Index>(mask.visible(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(n_k)));
    const SoftmaxReference forward = softmax_reference(q.row(i), k.topRows(seen), v.topRows(seen), scale, arithmetic);
    MatrixL logit = MatrixL::Zero(1, seen), size = logit;
    if (q.cols() > 0) {
      logit = scale * (q.row(i) * k.topRows(seen).transpose());
      size = std::fabs(scale) * (q.row(i).cwiseAbs() * k.topRows(seen).cwiseAbs().transpose());
    }
    const long double largest = logit.maxCoeff();
    const long double log_sum = largest + std::log((logit.array() - largest).exp().sum());
    const long double g_logit = gamma(static_cast<long double>(q.cols()) + 4);
    const long double sigma = (g_logit * size.array() + 2 * u * (logit.array() - largest).abs()).maxCoeff() +
                              (arithmetic.sum_roundings + 8) * u + 4 * u * std::fabs(log_sum);
    const MatrixL g_row = g.row(i).cwiseAbs();
    const long double mean = scale * g.row(i).dot(forward.output.row(0));
    const long double g_dot = gamma(static_cast<long double>(v.cols()) + 4) * std::fabs(scale);
    const long double mean_error = g_dot * g_row.cwiseProduct(forward.output.cwiseAbs()).sum() +
                                   std::fabs(scale) * g_row.cwiseProduct(forward.tolerance).sum();
    for (Eigen::Index j = 0; j < seen; ++j) {
      const long double theta = std::expm1(g_logit * size(0, j) + u * std::fabs(logit(0, j) - log_sum) + 2 * u + sigma);
      const long double product = scale * g.row(i).dot(v.row(j));
      const long double product_error = g_dot * g_row.cwiseProduct(v.row(j).cwiseAbs()).sum();
      p(i, j) = std::exp(logit(0, j) - log_sum);
      p_error(i, j) = p(i, j) * theta + 4 * arithmetic.smallest_weight;
      ds(i, j) = p(i, j) * (product - mean);
      ds_error(i, j) = p_error(i, j) * (std::fabs(product - mean) + product_error + mean_error) +
                       p(i, j) * (product_error + mean_error + 2 * u * (std::fabs(product) + std::fabs(mean)));
    }
  }
  const long double over_keys = gamma(tiles(n_k, 192)), over_queries = gamma(tiles(n, 128));
  const auto product = [](const MatrixL& x, const MatrixL& y) {
    return x.cols() == 0 ? MatrixL(MatrixL::Zero(x.rows(), y.cols())) : MatrixL(x * y);
  };
  const auto bound = [&](const MatrixL& x, const MatrixL& x_error, const MatrixL& y, long double sums) {
    return MatrixL(1.2L * product(x_error + sums * x.cwiseAbs(), y.cwiseAbs()));
  };
  GradientsReference result;
  result.value = {product(ds, k), product(ds.transpose(), q), product(p.transpose(), g)};
  result.tolerance = {bound(ds, ds_error, k, over_keys), bound(ds.transpose(), ds_error.transpose(), q, over_queries),
                      bound(p.transpose(), p_error.transpose(), g, over_queries)};
  return result;
}

}  // namespace subquad::test
