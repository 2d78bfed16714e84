// Exact top-k search against all scores in long double, on every SIMD target.
#include "brute_force_neighbors.hpp"
#include "each_target.hpp"
#include "expect_error.hpp"

#include <subquad/ann/top_k.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>

#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <set>

namespace {

using namespace subquad::test;
using subquad::ErrorKind;
using subquad::Execution;
using subquad::Random;
using subquad::ann::exact_top_k;
using subquad::ann::exact_top_k_in_float32;
using subquad::ann::kNoKey;
using subquad::ann::Neighbors;
using subquad::ann::Similarity;
using subquad::ann::TopKOptions;
using subquad::problems::AttentionMask;
using subquad::problems::MatrixD;
using subquad::problems::MatrixF;

class ExactTopK : public EveryTarget {};
INSTANTIATE_TEST_SUITE_P(Targets, ExactTopK, ::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()), target_name);

template <class Matrix>
Matrix random_matrix(Random& random, Eigen::Index rows, Eigen::Index cols, double spread) {
  Matrix m(rows, cols);
  for (Eigen::Index e = 0; e < m.size(); ++e) {
    m.data()[e] = static_cast<typename Matrix::Scalar>(spread * (2 * random.unit() - 1));
  }
  return m;
}

/// What is wrong with a search result, by the definition and its own score_error; empty if nothing is. `share`: the
/// largest seen ratio of a score's true error to score_error.
template <class Matrix>
std::string fault(const Neighbors& found, const Matrix& q, const Matrix& k, std::uint64_t count, double* share) {
  if (found.rows() != static_cast<std::uint64_t>(q.rows()) || found.k() != count) return "shape";
  for (Eigen::Index i = 0; i < q.rows(); ++i) {
    const auto row = static_cast<std::uint64_t>(i);
    const auto visible = found.mask.visible(row, static_cast<std::uint64_t>(k.rows()));
    const std::uint64_t expected = std::min<std::uint64_t>(count, visible);
    if (found.count(row) != expected) return fmt::format("row {}: {} keys, expected {}", i, found.count(row), expected);
    std::set<std::uint32_t> listed;
    for (std::uint64_t a = 0; a < count; ++a) {
      const auto column = static_cast<Eigen::Index>(a);
      const std::uint32_t key = found.index(i, column);
      const double score = found.score(i, column);
      if (a >= expected) {
        if (score != -std::numeric_limits<double>::infinity()) return "filling";
        continue;
      }
      if (key >= visible || !listed.insert(key).second) return fmt::format("row {}: key {}", i, key);
      if (a > 0) {
        const double before = found.score(i, column - 1);
        if (!(before >= score)) return fmt::format("row {}: not descending", i);
      }
      const double error = static_cast<double>(
          std::fabs(score - long_double_score(q.row(i), k.row(static_cast<Eigen::Index>(key)), found.similarity)));
      if (!(error <= found.score_error[i])) return fmt::format("row {} key {}: error {}", i, key, error);
      if (found.score_error[i] > 0 && error / found.score_error[i] > *share) *share = error / found.score_error[i];
    }
    const double worst = found.score(i, static_cast<Eigen::Index>(expected - 1));
    for (std::uint64_t j = 0; j < visible; ++j) {
      if (listed.count(static_cast<std::uint32_t>(j)) != 0) continue;
      const auto score =
          static_cast<double>(long_double_score(q.row(i), k.row(static_cast<Eigen::Index>(j)), found.similarity));
      if (!(score <= worst + found.score_error[i])) return fmt::format("row {}: key {} was missed", i, j);
    }
  }
  return {};
}

/// Calls `f(search, make)` for the three ways to search.
template <class F>
void for_each_mode(F&& f) {
  const auto with = [](auto q, auto k, auto count, const TopKOptions& o) { return exact_top_k(q, k, count, o); };
  f("float32", MatrixF(), with);
  f("float64", MatrixD(), with);
  f("float32 on doubles", MatrixD(), [](const MatrixD& q, const MatrixD& k, std::uint64_t count, const TopKOptions& o) {
    return exact_top_k_in_float32(q, k, count, o);
  });
}

TEST_P(ExactTopK, HandChecked) {
  for_each_mode([](const char* name, auto matrix, auto search) {
    using Matrix = decltype(matrix);
    Matrix q(1, 2), k(5, 2);
    q << 1, 2;
    k << 1, 1, 0, 2, 4, 0, 2, 1, -9, 0;  // products 3 4 4 4 -9
    const Neighbors by_product = search(q, k, 3, TopKOptions{});
    EXPECT_EQ(by_product.index(0, 0), 1u) << name;
    EXPECT_EQ(by_product.index(0, 1), 2u);
    EXPECT_EQ(by_product.index(0, 2), 3u);
    EXPECT_EQ(by_product.score(0, 2), 4);
    const Neighbors by_distance = search(q, k, 5, TopKOptions{Similarity::euclidean, {}});  // squares 1 1 13 2 104
    const std::uint32_t expected[] = {0, 1, 3, 2, 4};
    for (Eigen::Index a = 0; a < 5; ++a) EXPECT_EQ(by_distance.index(0, a), expected[a]) << name;
    EXPECT_EQ(by_distance.score(0, 4), -104);
  });
}

TEST_P(ExactTopK, MatchesTheDefinition) {
  double share = 0;
  for_each_mode([&](const char* name, auto matrix, auto search) {
    using Matrix = decltype(matrix);
    Random random(7);
    struct Shape {
      Eigen::Index n, n_k, d;
      std::uint64_t count;
    };
    for (const Shape& s :
         {Shape{1, 1, 1, 1}, Shape{5, 3, 0, 2}, Shape{3, 47, 5, 47}, Shape{9, 48, 3, 1}, Shape{70, 193, 7, 5},
          Shape{3, 700, 300, 40}, Shape{2, 3000, 2, 1000}, Shape{65, 400, 16, 300}}) {
      for (const Similarity similarity : {Similarity::inner_product, Similarity::euclidean}) {
        for (const bool causal : {false, true}) {
          const Matrix q = random_matrix<Matrix>(random, s.n, s.d, 2);
          const Matrix k = random_matrix<Matrix>(random, s.n_k, s.d, 2);
          const AttentionMask mask = causal ? AttentionMask::lower_triangle(random.below(60)) : AttentionMask::none();
          const Neighbors found = search(q, k, s.count, TopKOptions{similarity, mask});
          EXPECT_EQ(fault(found, q, k, s.count, &share), "")
              << name << ", " << s.n << ' ' << s.n_k << ' ' << s.d << ' ' << s.count << ' ' << causal;
        }
      }
    }
  });
  EXPECT_GT(share, 0.05);
}

TEST_P(ExactTopK, RandomShapes) {
  rc::check([] {
    const auto n_k = *rc::gen::inRange<Eigen::Index>(1, 900);
    const auto count = static_cast<std::uint64_t>(*rc::gen::inRange<Eigen::Index>(1, n_k + 1));
    const auto n = *rc::gen::inRange<Eigen::Index>(0, 12);
    const auto d = *rc::gen::inRange<Eigen::Index>(0, 30);
    Random random(*rc::gen::arbitrary<std::uint64_t>());
    const bool few_values = *rc::gen::arbitrary<bool>();  // many ties
    for_each_mode([&](const char*, auto matrix, auto search) {
      using Matrix = decltype(matrix);
      Matrix q = random_matrix<Matrix>(random, n, d, 2);
      Matrix k = random_matrix<Matrix>(random, n_k, d, 2);
      if (few_values) {
        q = q.array().round().matrix();
        k = k.array().round().matrix();
      }
      double share = 0;
      RC_ASSERT(fault(search(q, k, count, TopKOptions{}), q, k, count, &share) == "");
    });
  });
}

TEST_P(ExactTopK, SmallIntegersAreExactWithTiesByIndex) {
  Random random(9);
  for_each_mode([&](const char* name, auto matrix, auto search) {
    using Matrix = decltype(matrix);
    for (const std::uint64_t count : {1u, 10u, 150u, 600u}) {
      Matrix q = random_matrix<Matrix>(random, 20, 4, 3).array().round().matrix();
      Matrix k = random_matrix<Matrix>(random, 600, 4, 3).array().round().matrix();
      for (const Similarity similarity : {Similarity::inner_product, Similarity::euclidean}) {
        const Neighbors found = search(q, k, count, TopKOptions{similarity, {}});
        const Neighbors expected = brute_force_neighbors(q, k, count, similarity);
        EXPECT_TRUE((found.index.array() == expected.index.array()).all()) << name << ' ' << count;
        EXPECT_TRUE((found.score.array() == expected.score.array()).all()) << name << ' ' << count;
      }
    }
  });
}

TEST_P(ExactTopK, RangesOfKeysThatDoNotFitTheBudgetAreJoined) {
  Random random(10);
  const MatrixD q = random_matrix<MatrixD>(random, 3, 6000, 1);
  const MatrixD k = random_matrix<MatrixD>(random, 1200, 6000, 1);  // 16 MiB hold 192 keys: seven ranges
  double share = 0;
  EXPECT_EQ(fault(exact_top_k(q, k, 300), q, k, 300, &share), "");
  EXPECT_EQ(fault(exact_top_k(q, k, 1), q, k, 1, &share), "");
  const TopKOptions masked{Similarity::inner_product, AttentionMask::lower_triangle(500)};
  EXPECT_EQ(fault(exact_top_k(q, k, 600, masked), q, k, 600, &share), "");
}

TEST_P(ExactTopK, AscendingScoresReplaceTheWholeBufferAgainAndAgain) {
  MatrixD q = MatrixD::Ones(2, 1);
  q(1, 0) = -1;
  MatrixD k(5000, 1);
  for (Eigen::Index j = 0; j < 5000; ++j) k(j, 0) = static_cast<double>(j);
  const Neighbors found = exact_top_k(q, k, 100);
  for (Eigen::Index a = 0; a < 100; ++a) {
    EXPECT_EQ(found.index(0, a), static_cast<std::uint32_t>(4999 - a));
    EXPECT_EQ(found.index(1, a), static_cast<std::uint32_t>(a));
  }
}

TEST(ExactTopKResult, DoesNotDependOnThreads) {
  Random random(11);
  const MatrixF q = random_matrix<MatrixF>(random, 300, 12, 1);
  const MatrixF k = random_matrix<MatrixF>(random, 2000, 12, 1);
  Execution one, three;
  one.threads = 1;
  three.threads = 3;
  const Neighbors a = exact_top_k(q, k, 77, {}, one);
  const Neighbors b = exact_top_k(q, k, 77, {}, three);
  EXPECT_TRUE((a.index.array() == b.index.array()).all());
  EXPECT_TRUE((a.score.array() == b.score.array()).all());
}

TEST(ExactTopKResult, EqualDistancesAreListedByIndex) {
  MatrixD q(1, 1), k(2, 1);
  q << 0x1p30;
  k << 0, 0x1p-40;  // the second is nearer, but both squares round to 2^60
  const TopKOptions nearest{Similarity::euclidean, {}};
  for (const Neighbors& found : {exact_top_k(q, k, 2, nearest), exact_top_k_in_float32(q, k, 2, nearest)}) {
    EXPECT_EQ(found.score(0, 0), found.score(0, 1));
    EXPECT_EQ(found.index(0, 0), 0u);
    EXPECT_EQ(found.index(0, 1), 1u);
  }
}

TEST(ExactTopKResult, ControlsAreCaught) {
  Random random(12);
  const MatrixD q = random_matrix<MatrixD>(random, 4, 5, 1);
  const MatrixD k = random_matrix<MatrixD>(random, 100, 5, 1);
  const Neighbors good = exact_top_k(q, k, 10);
  double share = 0;
  ASSERT_EQ(fault(good, q, k, 10, &share), "");
  Neighbors bad = good;  // the best key replaced by one that is not listed
  const Neighbors more = exact_top_k(q, k, 11);
  bad.index(2, 9) = more.index(2, 10);
  bad.score(2, 9) = more.score(2, 10);
  EXPECT_NE(fault(bad, q, k, 10, &share), "");
  bad = good;
  bad.score(1, 3) *= 1 + 1e-12;
  EXPECT_NE(fault(bad, q, k, 10, &share), "");
  bad = good;
  bad.score_error *= 1e-3;  // a bound that is too small
  bool noticed = false;
  for (int trial = 0; trial < 50 && !noticed; ++trial) {
    const MatrixD p = random_matrix<MatrixD>(random, 4, 5, 1);
    Neighbors found = exact_top_k(p, k, 10);
    found.score_error *= 1e-3;
    noticed = fault(found, p, k, 10, &share) != "";
  }
  EXPECT_TRUE(noticed);
}

TEST(ExactTopKResult, BadInput) {
  const MatrixD q = MatrixD::Ones(2, 3), k = MatrixD::Ones(4, 3);
  const auto refuse = [](const char* part, const MatrixD& x, const MatrixD& y, std::uint64_t count) {
    expect_error(ErrorKind::parameter, part, [&] { exact_top_k(x, y, count); });
    expect_error(ErrorKind::parameter, part, [&] { exact_top_k_in_float32(x, y, count); });
  };
  refuse("k = 0 for 4 keys, expected 1 to 4", q, k, 0);
  refuse("k = 5 for 4 keys", q, k, 5);
  refuse("K 4 x 2", q, MatrixD::Ones(4, 2), 1);
  refuse("k = 1 for 0 keys", q, MatrixD(0, 3), 1);
  MatrixD bad = k;
  bad(3, 1) = std::nan("");
  refuse("K[3,1] is nan", q, bad, 1);
  bad(3, 1) = -std::numeric_limits<double>::infinity();
  refuse("K[3,1] is -inf", q, bad, 1);
  expect_error(ErrorKind::parameter, "overflow float32", [&] { exact_top_k_in_float32(q, MatrixD(k * 1e30), 1); });
  expect_error(ErrorKind::parameter, "overflow float64", [&] { exact_top_k(q, MatrixD(k * 1e200), 1); });
  EXPECT_EQ(exact_top_k(MatrixD(0, 3), k, 2).rows(), 0u);
  std::atomic<bool> stop{true};
  Execution execution;
  execution.stop = &stop;
  expect_error(ErrorKind::interrupted, "", [&] { exact_top_k(q, k, 1, {}, execution); });
}

}  // namespace
