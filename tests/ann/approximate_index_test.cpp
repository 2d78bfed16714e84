// Approximate indexes: what they list is true and sorted, recall where it must be high, filling up, bad input.
#include "brute_force_neighbors.hpp"
#include "expect_error.hpp"

#include <subquad/ann/approximate_index.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace {

using namespace subquad::ann;
using subquad::ErrorKind;
using subquad::Execution;
using subquad::Random;
using subquad::problems::MatrixD;
using subquad::test::brute_force_neighbors;
using subquad::test::expect_error;

MatrixD normal(Random& random, Eigen::Index rows, Eigen::Index cols) {
  MatrixD m(rows, cols);
  for (Eigen::Index e = 0; e < m.size(); ++e) m.data()[e] = random.normal();
  return m;
}

/// Points close to a few centres.
MatrixD clustered(Random& random, const MatrixD& centres, Eigen::Index rows) {
  MatrixD m = 0.2 * normal(random, rows, centres.cols());
  for (Eigen::Index i = 0; i < rows; ++i) {
    m.row(i) += centres.row(static_cast<Eigen::Index>(random.below(static_cast<std::uint64_t>(centres.rows()))));
  }
  return m;
}

/// Rows are full, distinct, sorted, with true scores.
void expect_honest(const Neighbors& found, const MatrixD& q, const MatrixD& k, const std::string& what) {
  EXPECT_FALSE(found.exact);
  for (Eigen::Index i = 0; i < q.rows(); ++i) {
    ASSERT_EQ(found.count(static_cast<std::uint64_t>(i)), found.k()) << what;
    std::set<std::uint32_t> listed;
    for (Eigen::Index a = 0; a < found.index.cols(); ++a) {
      EXPECT_TRUE(listed.insert(found.index(i, a)).second);
      EXPECT_NEAR(found.score(i, a), q.row(i).dot(k.row(found.index(i, a))), 1e-12);
      if (a > 0) {
        EXPECT_GE(found.score(i, a - 1), found.score(i, a));
      }
    }
  }
}

TEST(LshIndex, FindsNeighboursInClusteredData) {
  Random random(1);
  const MatrixD centres = 3 * normal(random, 40, 16);
  const MatrixD k = clustered(random, centres, 4000), q = clustered(random, centres, 100);
  const auto index = make_lsh_index(k);
  const Neighbors found = index->search(q, 20);
  expect_honest(found, q, k, index->description());
  EXPECT_GT(recall(found, brute_force_neighbors(q, k, 20)), 0.8);
  LshOptions poor;
  poor.tables = poor.probes = 1;
  poor.bits = 20;
  const double less = recall(make_lsh_index(k, poor)->search(q, 20), brute_force_neighbors(q, k, 20));
  EXPECT_LT(less, 0.5);
  EXPECT_GT(index->bytes(), 4000u * 16 * 12);
}

TEST(LshIndex, RowsAreFullWhateverTheCodes) {
  Random random(2);
  const MatrixD k = normal(random, 300, 5), q = normal(random, 20, 5);
  LshOptions options;
  options.bits = 60;  // nearly every bucket is empty
  options.tables = options.probes = 1;
  for (const std::uint64_t count : {1u, 17u, 300u}) {
    const Neighbors found = make_lsh_index(k, options)->search(q, count);
    expect_honest(found, q, k, "60 bits");
    if (count == 300) {
      EXPECT_EQ(recall(found, brute_force_neighbors(q, k, 300)), 1.0);
    }
  }
}

TEST(LshIndex, EdgesAndDeterminism) {
  const MatrixD one = MatrixD::Ones(1, 3);
  EXPECT_EQ(make_lsh_index(one)->search(MatrixD::Zero(2, 3), 1).index(1, 0), 0u);
  EXPECT_EQ(make_lsh_index(one)->search(MatrixD(0, 3), 1).rows(), 0u);
  const MatrixD same = MatrixD::Ones(50, 2);
  expect_honest(make_lsh_index(same)->search(MatrixD::Ones(1, 2), 50), MatrixD::Ones(1, 2), same, "equal keys");
  Random random(3);
  const MatrixD k = normal(random, 500, 8), q = normal(random, 200, 8);
  Execution single, triple;
  single.threads = 1;
  triple.threads = 3;
  const Neighbors a = make_lsh_index(k, {}, single)->search(q, 9, single);
  const Neighbors b = make_lsh_index(k, {}, triple)->search(q, 9, triple);
  EXPECT_TRUE((a.index.array() == b.index.array()).all());
}

TEST(LshIndex, BadInput) {
  const MatrixD k = MatrixD::Ones(4, 2);
  const auto refuse = [](const char* part, const MatrixD& keys, const LshOptions& options) {
    expect_error(ErrorKind::parameter, part, [&] { make_lsh_index(keys, options); });
  };
  refuse("0 keys", MatrixD(0, 2), {});
  refuse("61 bits", k, {61});
  refuse("-1 bits", k, {-1});
  refuse("0 tables", k, {1, 0});
  refuse("0 probes", k, {1, 1, 0});
  refuse("K[0,0] is nan", MatrixD::Constant(1, 1, std::nan("")), {});
  refuse("expected at most 2^400", MatrixD::Constant(1, 1, 1e200), {});
  const auto index = make_lsh_index(k);
  expect_error(ErrorKind::parameter, "k = 0", [&] { index->search(k, 0); });
  expect_error(ErrorKind::parameter, "k = 5 for 4 keys", [&] { index->search(k, 5); });
  expect_error(ErrorKind::parameter, "Q is 1 x 3", [&] { index->search(MatrixD::Ones(1, 3), 1); });
  expect_error(ErrorKind::parameter, "Q[0,1] is nan", [&] {
    MatrixD q = MatrixD::Ones(1, 2);
    q(0, 1) = std::nan("");
    index->search(q, 1);
  });
}

TEST(FaissIndex, FindsNeighboursInClusteredData) {
  Random random(4);
  const MatrixD centres = 3 * normal(random, 40, 16);
  const MatrixD k = clustered(random, centres, 4000), q = clustered(random, centres, 100);
  if (!have_faiss()) {
    expect_error(ErrorKind::unsupported, "no FAISS", [&] { make_faiss_index(k); });
    GTEST_SKIP() << "this build has no FAISS";
  }
  const auto index = make_faiss_index(k);
  EXPECT_GT(recall(index->search(q, 20), brute_force_neighbors(q, k, 20)), 0.9);
  expect_error(ErrorKind::parameter, "k = 0", [&] { index->search(q, 0); });
}

}  // namespace
