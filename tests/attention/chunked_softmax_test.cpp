// Chunked attention: by hand, against attention with the other keys left out, partitions, bad input.
#include "expect_error.hpp"

#include <subquad/attention/chunked_softmax.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

namespace {

using subquad::ErrorKind;
using subquad::Execution;
using subquad::Random;
using subquad::attention::chunked_softmax;
using subquad::attention::stride_digit_parts;
using subquad::problems::Attention;
using subquad::problems::MatrixD;
using subquad::test::expect_error;

MatrixD random_matrix(Random& random, Eigen::Index rows, Eigen::Index cols) {
  MatrixD m(rows, cols);
  for (Eigen::Index e = 0; e < m.size(); ++e) m.data()[e] = random.normal();
  return m;
}

TEST(ChunkedSoftmax, HandChecked) {
  // Tokens 0 and 2 share a part, with logits ln 3 and 0; token 1 is alone.
  Attention::Instance x;
  x.q = MatrixD::Ones(3, 1);
  x.k = MatrixD::Zero(3, 1);
  x.k(0, 0) = std::log(3.0);
  x.v.resize(3, 1);
  x.v << 8, 5, 4;
  const MatrixD out = chunked_softmax(x, std::vector<std::uint64_t>{7, 1, 7});
  EXPECT_NEAR(out(0, 0), 7, 1e-14);
  EXPECT_EQ(out(1, 0), 5);
  EXPECT_EQ(out(2, 0), out(0, 0));
}

TEST(ChunkedSoftmax, IsAttentionOverThePart) {
  Random random(1);
  for (int trial = 0; trial < 40; ++trial) {
    const auto n = static_cast<Eigen::Index>(1 + random.below(40));
    Attention::Instance x;
    x.q = random_matrix(random, n, 3);
    x.k = random_matrix(random, n, 3);
    x.v = random_matrix(random, n, 2);
    x.scale = 0.7;
    std::vector<std::uint64_t> part_of;
    const std::uint64_t parts = 1 + random.below(6);
    for (Eigen::Index i = 0; i < n; ++i) part_of.push_back(1000 * random.below(parts));
    Execution three;
    three.threads = 3;
    const MatrixD out = chunked_softmax(x, part_of);
    EXPECT_EQ(out, chunked_softmax(x, part_of, three));
    for (Eigen::Index i = 0; i < n; ++i) {
      // Straight from the definition, in long double.
      long double total = 0;
      long double sum[2] = {0, 0};
      for (Eigen::Index j = 0; j < n; ++j) {
        if (part_of[static_cast<std::size_t>(j)] != part_of[static_cast<std::size_t>(i)]) continue;
        const long double w = std::exp(static_cast<long double>(x.scale * x.q.row(i).dot(x.k.row(j))));
        total += w;
        for (Eigen::Index c = 0; c < 2; ++c) sum[c] += w * static_cast<long double>(x.v(j, c));
      }
      for (Eigen::Index c = 0; c < 2; ++c) {
        const double error = std::fabs(out(i, c) - static_cast<double>(sum[c] / total));
        EXPECT_LE(error, 1e-13);
      }
    }
  }
}

TEST(ChunkedSoftmax, StrideDigitParts) {
  EXPECT_EQ(stride_digit_parts(7, 3, 0), (std::vector<std::uint64_t>{0, 0, 0, 3, 3, 3, 6}));
  EXPECT_EQ(stride_digit_parts(7, 3, 1), (std::vector<std::uint64_t>{0, 1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(stride_digit_parts(4, 3, 40), (std::vector<std::uint64_t>{0, 1, 2, 3}));
  EXPECT_TRUE(stride_digit_parts(0, 2, 0).empty());
  for (const std::uint64_t base : {2u, 3u, 5u}) {
    for (std::uint64_t n = 1; n <= 30; ++n) {
      for (std::uint64_t digit = 0; digit < 7; ++digit) {
        const auto part_of = stride_digit_parts(n, base, digit);
        const auto stride = static_cast<std::uint64_t>(std::llround(std::pow(base, digit)));
        std::map<std::uint64_t, std::uint64_t> size;
        for (std::uint64_t i = 0; i < n; ++i) {
          EXPECT_LE(++size[part_of[i]], base);
          for (std::uint64_t j = 0; j < n; ++j) {
            const bool other_digits_agree = i / stride / base == j / stride / base && i % stride == j % stride;
            EXPECT_EQ(part_of[i] == part_of[j], other_digits_agree);
          }
        }
      }
    }
  }
}

TEST(ChunkedSoftmax, BadInput) {
  Attention::Instance x;
  x.q = x.k = x.v = MatrixD::Ones(3, 2);
  expect_error(ErrorKind::parameter, "2 labels", [&] { chunked_softmax(x, std::vector<std::uint64_t>{0, 0}); });
  x.v = MatrixD::Ones(4, 2);
  expect_error(ErrorKind::parameter, "V 4 x 2", [&] { chunked_softmax(x, std::vector<std::uint64_t>{0, 0, 0}); });
  expect_error(ErrorKind::parameter, "base 1", [] { stride_digit_parts(4, 1, 0); });
  x = {};
  EXPECT_EQ(chunked_softmax(x, {}).rows(), 0);
}

}  // namespace
