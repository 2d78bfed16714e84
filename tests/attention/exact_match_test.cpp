// Exact-match attention against the definition; both zeros are one; bad input.
#include "expect_error.hpp"

#include <subquad/attention/exact_match.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace {

using subquad::ErrorKind;
using subquad::Random;
using subquad::attention::exact_match_attention;
using subquad::attention::ExactMatchResult;
using subquad::problems::MatrixD;
using subquad::test::expect_error;

TEST(ExactMatch, HandChecked) {
  MatrixD q(3, 2), k(4, 2), v(4, 1);
  q << 1, 0.0, 2, 2, 5, 5;
  k << 1, -0.0, 2, 2, 1, 0, 1, 1e-300;
  v << 1, 7, 2, 100;
  const ExactMatchResult result = exact_match_attention(q, k, v);
  EXPECT_EQ(result.output(0, 0), 1.5);
  EXPECT_EQ(result.output(1, 0), 7);
  EXPECT_EQ(result.output(2, 0), 0);
  EXPECT_EQ(result.matches, (std::vector<std::uint64_t>{2, 1, 0}));
}

TEST(ExactMatch, EqualsTheDefinition) {
  Random random(1);
  for (int trial = 0; trial < 50; ++trial) {
    const auto n = static_cast<Eigen::Index>(random.below(20)), n_k = static_cast<Eigen::Index>(random.below(40));
    const auto d = static_cast<Eigen::Index>(random.below(4));
    const auto grid = [&](Eigen::Index rows, Eigen::Index cols) {
      MatrixD m(rows, cols);
      for (Eigen::Index e = 0; e < m.size(); ++e) m.data()[e] = static_cast<double>(random.below(3)) - 1;
      return m;
    };
    const MatrixD q = grid(n, d), k = grid(n_k, d), v = grid(n_k, 2);
    const ExactMatchResult result = exact_match_attention(q, k, v);
    for (Eigen::Index i = 0; i < n; ++i) {
      Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(2);
      double count = 0;
      for (Eigen::Index j = 0; j < n_k; ++j) {
        if (!(q.row(i).array() == k.row(j).array()).all()) continue;
        sum += v.row(j);
        ++count;
      }
      EXPECT_EQ(result.output.row(i), count > 0 ? Eigen::RowVectorXd(sum / count) : sum);
      EXPECT_EQ(static_cast<double>(result.matches[static_cast<std::size_t>(i)]), count);
    }
  }
}

TEST(ExactMatch, BadInput) {
  const MatrixD x = MatrixD::Ones(2, 2);
  MatrixD bad = x;
  bad(1, 0) = std::nan("");
  expect_error(ErrorKind::parameter, "Q[1,0] is nan", [&] { exact_match_attention(bad, x, x); });
  expect_error(ErrorKind::parameter, "K[1,0] is nan", [&] { exact_match_attention(x, bad, x); });
  expect_error(ErrorKind::parameter, "V[1,0] is nan", [&] { exact_match_attention(x, x, bad); });
  bad(1, 0) = 1e308;
  expect_error(ErrorKind::parameter, "overflow a sum of n_k = 2 terms", [&] { exact_match_attention(x, x, bad); });
  expect_error(ErrorKind::parameter, "K 2 x 3", [&] { exact_match_attention(x, MatrixD::Ones(2, 3), x); });
  expect_error(ErrorKind::parameter, "V 3 x 1", [&] { exact_match_attention(x, x, MatrixD::Ones(3, 1)); });
}

}  // namespace
