// Brute-force neighbours: all scores in long double, sorted; the reference of searches, and an exact search for
// kernels.
#pragma once

#include <subquad/ann/neighbors.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace subquad::test {

/// The score of one pair in long double: <q, k>, or -|q - k|^2.
template <class Query, class Key>
long double long_double_score(const Query& q, const Key& k, ann::Similarity similarity) {
  long double sum = 0;
  for (Eigen::Index t = 0; t < q.size(); ++t) {
    const auto x = static_cast<long double>(q(t));
    const auto y = static_cast<long double>(k(t));
    sum += similarity == ann::Similarity::inner_product ? x * y : -(x - y) * (x - y);
  }
  return sum;
}

/// The k best keys of every query among those it sees; ties by ascending index. Scores are rounded to double, so
/// score_error is one unit in the last place.
template <class Matrix>
ann::Neighbors brute_force_neighbors(const Matrix& q, const Matrix& k, std::uint64_t count,
                                     ann::Similarity similarity = ann::Similarity::inner_product,
                                     const problems::AttentionMask& mask = {}) {
  ann::Neighbors result;
  result.similarity = similarity;
  result.mask = mask;
  result.exact = true;
  result.index = ann::IndexMatrix::Constant(q.rows(), static_cast<Eigen::Index>(count), ann::kNoKey);
  result.score =
      problems::MatrixD::Constant(q.rows(), static_cast<Eigen::Index>(count), -std::numeric_limits<double>::infinity());
  result.score_error = Eigen::VectorXd::Zero(q.rows());
  for (Eigen::Index i = 0; i < q.rows(); ++i) {
    const std::uint64_t visible = mask.visible(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(k.rows()));
    std::vector<long double> scores(visible);
    for (std::uint64_t j = 0; j < visible; ++j) {
      scores[j] = long_double_score(q.row(i), k.row(static_cast<Eigen::Index>(j)), similarity);
      const double ulps = 0x1p-52 * std::fabs(static_cast<double>(scores[j])) + 0x1p-1070;
      if (ulps > result.score_error[i]) result.score_error[i] = ulps;
    }
    std::vector<std::uint32_t> order(visible);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return scores[a] > scores[b]; });
    for (std::uint64_t a = 0; a < std::min(count, visible); ++a) {
      result.index(i, static_cast<Eigen::Index>(a)) = order[a];
      result.score(i, static_cast<Eigen::Index>(a)) = static_cast<double>(scores[order[a]]);
    }
  }
  return result;
}

}  // namespace subquad::test
