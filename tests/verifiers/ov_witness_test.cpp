#include "bit_matrices.hpp"
#include "expect_error.hpp"

#include <subquad/problems/random_orthogonal_vectors.hpp>
#include <subquad/verifiers/ov_witness.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace subquad::verifiers {
namespace {

using problems::OrthogonalVectors;
using test::bits;
using Rows = std::vector<std::uint64_t>;

// Only (1, 2) is orthogonal.
const OrthogonalVectors::Instance kSmall{bits(4, {"1100", "0110", "1011"}), bits(4, {"0111", "1010", "1001"})};

/// Row i's first partner, coordinate by coordinate.
std::optional<std::uint64_t> partner_by_definition(const OrthogonalVectors::Instance& instance, std::uint64_t i) {
  for (std::uint64_t j = 0; j < instance.b.rows(); ++j) {
    bool common = false;
    for (std::uint64_t c = 0; c < instance.a.cols(); ++c)
      common = common || (instance.a.get(i, c) && instance.b.get(j, c));
    if (!common) return j;
  }
  return std::nullopt;
}

OrthogonalVectors::Instance any_instance() {
  const std::uint64_t dim = *test::any_dim();
  return {test::any_matrix(*rc::gen::inRange<std::uint64_t>(0, 20), dim),
          test::any_matrix(*rc::gen::inRange<std::uint64_t>(0, 20), dim)};
}

Execution with_threads(int threads) {
  Execution execution;
  execution.threads = threads;
  return execution;
}

TEST(OvWitness, HandChecked) {
  EXPECT_EQ(verify_ov_witness(kSmall, 1, 2).verdict, Verdict::certified);
  const Report wrong = verify_ov_witness(kSmall, 2, 1);
  EXPECT_EQ(wrong.verdict, Verdict::refuted);
  EXPECT_EQ(wrong.reason, "rows 2 of A and 1 of B are both one at coordinate 0");
}

TEST(OvWitness, WrongCertificatesAreRefuted) {
  const auto refuted = [](const OrthogonalVectors::Instance& instance, std::uint64_t i, std::uint64_t j) {
    return verify_ov_witness(instance, i, j).verdict == Verdict::refuted;
  };
  EXPECT_TRUE(refuted(kSmall, 0, 2)) << "off by one in A";
  EXPECT_TRUE(refuted(kSmall, 2, 2)) << "off by one in A";
  EXPECT_TRUE(refuted(kSmall, 1, 1)) << "off by one in B";
  EXPECT_TRUE(refuted(kSmall, 2, 1)) << "sides exchanged";
  EXPECT_TRUE(refuted(kSmall, 3, 2)) << "one beyond A";
  EXPECT_TRUE(refuted(kSmall, 1, 3)) << "one beyond B";
  EXPECT_TRUE(refuted(kSmall, ~std::uint64_t{0}, 2)) << "-1 as unsigned";
  EXPECT_TRUE(refuted(kSmall, 1, std::uint64_t{1} << 63)) << "far beyond B";
  const OrthogonalVectors::Instance other{kSmall.a, bits(4, {"0111", "1010", "1011"})};
  EXPECT_TRUE(refuted(other, 1, 2)) << "right answer of another instance";
  EXPECT_TRUE(refuted({kSmall.b, kSmall.a}, 1, 2)) << "right answer of the exchanged instance";
  EXPECT_TRUE(refuted({BitMatrix(0, 4), kSmall.b}, 0, 0)) << "no vector in A";
  test::expect_error(ErrorKind::parameter, [] { verify_ov_witness({BitMatrix(1, 4), BitMatrix(1, 5)}, 0, 0); });
  EXPECT_EQ(verify_ov_witness({BitMatrix(1, 0), BitMatrix(1, 0)}, 0, 0).verdict, Verdict::certified);
}

RC_GTEST_PROP(OvWitness, OneCommonCoordinateAnywhereIsFound, ()) {
  // A planted fault in every word and at every bit: the last coordinate as well.
  const std::uint64_t dim = *rc::gen::element<std::uint64_t>(1, 63, 64, 65, 128, 129, 300);
  const std::uint64_t c = *rc::gen::inRange<std::uint64_t>(0, dim);
  OrthogonalVectors::Instance instance{BitMatrix(1, dim), BitMatrix(1, dim)};
  instance.a.set(0, c, true);
  RC_ASSERT(verify_ov_witness(instance, 0, 0).verdict == Verdict::certified);
  instance.b.set(0, c, true);
  const Report report = verify_ov_witness(instance, 0, 0);
  RC_ASSERT(report.verdict == Verdict::refuted);
  RC_ASSERT(report.reason.ends_with("at coordinate " + std::to_string(c)));
  RC_ASSERT(verify_ov_rows(instance, {true}).size() == 1U);
}

RC_GTEST_PROP(OvRows, ExactlyTheWrongFlagsAreReported, ()) {
  const OrthogonalVectors::Instance instance = any_instance();
  const std::uint64_t rows = instance.a.rows();
  std::vector<bool> flag;
  std::vector<WrongRow> expected;
  for (std::uint64_t i = 0; i < rows; ++i) {
    const std::optional<std::uint64_t> partner = partner_by_definition(instance, i);
    const bool lie = *rc::gen::inRange(0, 4) == 0;
    flag.push_back(partner.has_value() != lie);
    if (lie) expected.push_back({i, flag[i], partner});
  }
  const std::uint64_t most = *rc::gen::element<std::uint64_t>(0, 1, 2, 1000);
  if (expected.size() > most) expected.resize(most);
  const std::vector<WrongRow> wrong = verify_ov_rows(instance, flag, {}, most, with_threads(*rc::gen::inRange(1, 4)));
  RC_ASSERT(wrong.size() == expected.size());
  for (std::size_t k = 0; k < wrong.size(); ++k) {
    RC_ASSERT(wrong[k].row == expected[k].row);
    RC_ASSERT(wrong[k].claimed == expected[k].claimed);
    RC_ASSERT(wrong[k].partner == expected[k].partner);
  }
}

TEST(OvRows, WrongCertificatesAreCaught) {
  const std::vector<bool> right{false, true, false};
  EXPECT_TRUE(verify_ov_rows(kSmall, right).empty());
  for (std::uint64_t i = 0; i < 3; ++i) {  // one flag flipped
    std::vector<bool> flipped = right;
    flipped[i] = !flipped[i];
    const std::vector<WrongRow> wrong = verify_ov_rows(kSmall, flipped);
    ASSERT_EQ(wrong.size(), 1u);
    EXPECT_EQ(wrong[0].row, i);
    EXPECT_EQ(wrong[0].claimed, flipped[i]);
    EXPECT_EQ(wrong[0].partner, i == 1 ? std::optional<std::uint64_t>(2) : std::nullopt);
  }
  EXPECT_EQ(verify_ov_rows(kSmall, {true, false, false}).size(), 2u) << "shifted by one";
  EXPECT_EQ(verify_ov_rows(kSmall, {true, false, true}).size(), 3u) << "complemented";
  EXPECT_EQ(verify_ov_rows({kSmall.b, kSmall.a}, right).size(), 2u) << "right answer of the exchanged instance";
  for (const std::size_t length : {0u, 2u, 4u})
    test::expect_error(ErrorKind::parameter, [&] { verify_ov_rows(kSmall, std::vector<bool>(length, false)); });
}

TEST(OvRows, LooksOnlyAtTheChosenRows) {
  const std::vector<bool> complemented{true, false, true};
  EXPECT_EQ(verify_ov_rows(kSmall, complemented, Rows{}).size(), 0u);
  const std::vector<WrongRow> wrong = verify_ov_rows(kSmall, complemented, Rows{2, 0, 2, 2});
  ASSERT_EQ(wrong.size(), 2u);  // ascending, without duplicates
  EXPECT_EQ(wrong[0].row, 0u);
  EXPECT_EQ(wrong[1].row, 2u);
  test::expect_error(ErrorKind::parameter, [&] { verify_ov_rows(kSmall, complemented, Rows{0, 3}); });
}

TEST(OvRows, Edges) {
  EXPECT_TRUE(verify_ov_rows({BitMatrix(0, 3), BitMatrix(5, 3)}, {}).empty());
  EXPECT_TRUE(verify_ov_rows({BitMatrix(2, 3), BitMatrix(0, 3)}, {false, false}).empty());
  EXPECT_EQ(verify_ov_rows({BitMatrix(2, 3), BitMatrix(0, 3)}, {true, false}).size(), 1u);
  EXPECT_TRUE(verify_ov_rows({BitMatrix(2, 0), BitMatrix(1, 0)}, {true, true}).empty());  // d = 0
  EXPECT_EQ(verify_ov_rows({BitMatrix(2, 0), BitMatrix(1, 0)}, {true, false}).at(0).partner, 0u);
  test::expect_error(ErrorKind::parameter, [] { verify_ov_rows({BitMatrix(1, 4), BitMatrix(1, 5)}, {true}); });
  const std::atomic<bool> stop{true};
  Execution execution;
  execution.stop = &stop;
  test::expect_error(ErrorKind::interrupted, [&] { verify_ov_rows(kSmall, {false, true, false}, {}, 16, execution); });
}

TEST(OvRows, ManyRowsAreScannedWholeAndIndependentlyOfThreads) {
  // Beyond one stretch of B and one block of A; the only partners stand in the last stretch.
  Random random(1);
  for (const std::uint64_t dim : {64u, 100u, 190u, 260u}) {
    OrthogonalVectors::Instance instance = problems::guarded_vectors({700, 5000, dim}, 0.3, random).instance;
    std::vector<bool> flag(700, false);
    for (const int threads : {1, 3}) EXPECT_TRUE(verify_ov_rows(instance, flag, {}, 16, with_threads(threads)).empty());
    std::ranges::fill(instance.b.row(4998), std::uint64_t{0});  // orthogonal to all
    flag.assign(700, true);
    flag[699] = false;
    flag[3] = false;
    for (const int threads : {1, 3}) {
      const std::vector<WrongRow> wrong = verify_ov_rows(instance, flag, {}, 16, with_threads(threads));
      ASSERT_EQ(wrong.size(), 2u);
      EXPECT_EQ(wrong[0].row, 3u);
      EXPECT_EQ(wrong[1].row, 699u);
      EXPECT_EQ(wrong[1].partner, 4998u);
    }
  }
}

}  // namespace
}  // namespace subquad::verifiers
