// The FAISS index: full rows of true scores whatever the lists hold, threads, edges, bad input. Without FAISS only the
// refusal is tested.
#include "brute_force_neighbors.hpp"
#include "expect_error.hpp"

#include <subquad/ann/approximate_index.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>

#include <gtest/gtest.h>

#include <atomic>
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

class FaissSearch : public ::testing::Test {
 protected:
  void SetUp() override {
    if (have_faiss()) return;
    const MatrixD one = MatrixD::Ones(1, 1);
    expect_error(ErrorKind::unsupported, "no FAISS", [&] { make_faiss_index(one); });
    GTEST_SKIP() << "this build has no FAISS (SUBQUAD_FAISS)";
  }

  static MatrixD normal(Random& random, Eigen::Index rows, Eigen::Index cols) {
    MatrixD m(rows, cols);
    for (Eigen::Index e = 0; e < m.size(); ++e) m.data()[e] = random.normal();
    return m;
  }
};

/// What is wrong with a result as `search` promises it; empty if nothing is.
std::string fault(const Neighbors& found, const MatrixD& q, const MatrixD& k, std::uint64_t count) {
  if (found.exact || found.k() != count || found.rows() != static_cast<std::uint64_t>(q.rows())) return "shape";
  for (Eigen::Index i = 0; i < q.rows(); ++i) {
    std::set<std::uint32_t> listed;
    for (Eigen::Index a = 0; a < found.index.cols(); ++a) {
      const std::uint32_t key = found.index(i, a);
      if (key >= static_cast<std::uint32_t>(k.rows())) return "a row is not full";
      if (!listed.insert(key).second) return "a key twice";
      const double score = found.score(i, a);
      const double sum = q.row(i).cwiseAbs().dot(k.row(key).cwiseAbs());
      if (!(std::fabs(score - q.row(i).dot(k.row(key))) <= 1e-14 * sum)) return "a score";
      if (a == 0) continue;
      const double before = found.score(i, a - 1);
      if (!(before > score || (before == score && found.index(i, a - 1) < key))) return "the order";
    }
  }
  return {};
}

TEST_F(FaissSearch, HandChecked) {
  MatrixD k(3, 2), q(1, 2);
  k << 1, 0, 0, 1, -1, 0;
  q << 2, 1;  // products 2 1 -2
  const Neighbors found = make_faiss_index(k)->search(q, 3);
  EXPECT_EQ(found.index(0, 0), 0u);
  EXPECT_EQ(found.index(0, 1), 1u);
  EXPECT_EQ(found.index(0, 2), 2u);
  EXPECT_EQ(found.score(0, 2), -2);
}

TEST_F(FaissSearch, RowsAreFullWhateverTheListsHold) {
  Random random(1);
  const MatrixD k = normal(random, 300, 6), q = normal(random, 20, 6);
  const auto index = make_faiss_index(k, {60, 1});  // some five keys a list, and one list looked at
  EXPECT_EQ(index->description(), "faiss: 60 lists, 1 probes");
  for (const std::uint64_t count : {1u, 40u, 300u}) {
    const Neighbors found = index->search(q, count);
    EXPECT_EQ(fault(found, q, k, count), "") << count;
    if (count == 300) {
      EXPECT_EQ(recall(found, brute_force_neighbors(q, k, 300)), 1.0);
    }
  }
  EXPECT_GT(index->bytes(), 300u * 6 * 4);
}

TEST_F(FaissSearch, MoreListsLookedAtFindMore) {
  Random random(2);
  const MatrixD k = normal(random, 3000, 8), q = normal(random, 100, 8);
  const Neighbors truth = brute_force_neighbors(q, k, 10);
  const double one = recall(make_faiss_index(k, {50, 1})->search(q, 10), truth);
  const double half = recall(make_faiss_index(k, {50, 25})->search(q, 10), truth);
  EXPECT_EQ(recall(make_faiss_index(k, {50, 50})->search(q, 10), truth), 1.0);
  EXPECT_LT(one, half);
  EXPECT_LT(one, 0.9);  // the control: a recall of 1 above is not for nothing
}

TEST_F(FaissSearch, DoesNotDependOnThreads) {
  Random random(3);
  const MatrixD k = normal(random, 2000, 8), q = normal(random, 300, 8);
  const auto index = make_faiss_index(k);
  Execution one, three;
  one.threads = 1;
  three.threads = 3;
  const Neighbors a = index->search(q, 9, one), b = index->search(q, 9, three);
  EXPECT_TRUE((a.index.array() == b.index.array()).all());
  EXPECT_TRUE((a.score.array() == b.score.array()).all());
}

TEST_F(FaissSearch, Edges) {
  EXPECT_EQ(make_faiss_index(MatrixD::Ones(1, 3))->search(MatrixD(0, 3), 1).rows(), 0u);
  const MatrixD same = MatrixD::Ones(50, 2), two = MatrixD::Ones(2, 2);
  EXPECT_EQ(fault(make_faiss_index(same)->search(two, 50), two, same, 50), "");
  const MatrixD empty(5, 0), none(2, 0);
  EXPECT_EQ(fault(make_faiss_index(empty)->search(none, 4), none, empty, 4), "");
  // Products that are infinite or NaN in float32 (inf - inf), but finite in float64.
  MatrixD large(4, 2), query(1, 2);
  large << 1e30, 1e30, -1e30, 1e30, 1e30, -1e30, 1, 2;
  query << 1e30, 1e30;
  EXPECT_EQ(fault(make_faiss_index(large)->search(query, 4), query, large, 4), "");
}

TEST_F(FaissSearch, BadInput) {
  const MatrixD k = MatrixD::Ones(4, 2);
  const auto refuse = [](const char* part, const MatrixD& keys, const InvertedListOptions& options) {
    expect_error(ErrorKind::parameter, part, [&] { make_faiss_index(keys, options); });
  };
  refuse("0 keys", MatrixD(0, 2), {});
  refuse("5 lists", k, {5, 1});
  refuse("-1 lists", k, {-1, 1});
  refuse("0 probes", k, {1, 0});
  refuse("K[0,0] is nan", MatrixD::Constant(1, 1, std::nan("")), {});
  refuse("the keys leave the range of float32", k * 1e300, {});
  const auto index = make_faiss_index(k);
  expect_error(ErrorKind::parameter, "k = 0", [&] { index->search(k, 0); });
  expect_error(ErrorKind::parameter, "k = 5 for 4 keys", [&] { index->search(k, 5); });
  expect_error(ErrorKind::parameter, "Q is 1 x 3", [&] { index->search(MatrixD::Ones(1, 3), 1); });
  expect_error(ErrorKind::parameter, "the queries leave the range", [&] { index->search(k * 1e300, 1); });
  std::atomic<bool> stop{true};
  Execution execution;
  execution.stop = &stop;
  expect_error(ErrorKind::interrupted, "", [&] { index->search(k, 1, execution); });
}

}  // namespace
