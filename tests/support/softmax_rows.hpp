// Softmax rows and gradients of attention in long double, straight from the definitions: the reference of the
// estimators.
#pragma once

#include <subquad/problems/attention.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace subquad::test {

/// P(j) of one row of logits (-inf allowed).
inline std::vector<double> softmax(const std::vector<double>& logits) {
  const long double largest = *std::max_element(logits.begin(), logits.end());
  long double sum = 0;
  std::vector<double> p(logits.size());
  for (const double z : logits) sum += std::exp(z - largest);
  for (std::size_t j = 0; j < p.size(); ++j) p[j] = static_cast<double>(std::exp(logits[j] - largest) / sum);
  return p;
}

/// P, n x n_k.
inline problems::MatrixD softmax_rows(const problems::Attention::Instance& x) {
  problems::MatrixD p(x.q.rows(), x.k.rows());
  for (Eigen::Index i = 0; i < p.rows(); ++i) {
    std::vector<double> logits(static_cast<std::size_t>(p.cols()));
    for (Eigen::Index j = 0; j < p.cols(); ++j) {
      long double dot = 0;
      for (Eigen::Index t = 0; t < x.q.cols(); ++t) dot += static_cast<long double>(x.q(i, t)) * x.k(j, t);
      logits[static_cast<std::size_t>(j)] = static_cast<double>(dot * x.scale);
    }
    const std::vector<double> row = softmax(logits);
    for (Eigen::Index j = 0; j < p.cols(); ++j) p(i, j) = row[static_cast<std::size_t>(j)];
  }
  return p;
}

/// dQ, dK, dV for an upstream gradient G.
struct ReferenceGradients {
  problems::MatrixD q, k, v;
};

inline ReferenceGradients reference_gradients(const problems::Attention::Instance& x,
                                              const problems::MatrixD& upstream) {
  const problems::MatrixD p = softmax_rows(x);
  const problems::MatrixD g = upstream * x.v.transpose();
  problems::MatrixD ds = p.cwiseProduct(g);
  const Eigen::VectorXd sums = ds.rowwise().sum();
  for (Eigen::Index i = 0; i < p.rows(); ++i) ds.row(i) -= sums[i] * p.row(i);
  return {x.scale * ds * x.k, x.scale * ds.transpose() * x.q, p.transpose() * upstream};
}

}  // namespace subquad::test
