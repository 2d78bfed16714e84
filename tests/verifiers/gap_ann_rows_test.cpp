#include "bit_matrices.hpp"
#include "expect_error.hpp"

#include <subquad/problems/random_gap_ann.hpp>
#include <subquad/verifiers/gap_ann_rows.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace subquad::verifiers {
namespace {

using problems::GapAnn;
using test::bits;
using Rows = std::vector<std::uint64_t>;

// Nearest distances 1 (key 1), 4 (key 0), 2 (key 1): near, far, outside the promise.
const GapAnn::Instance kSmall{bits(6, {"000000", "111111", "011001"}), bits(6, {"110000", "000001"}), 1, 4};

struct Nearest {
  std::uint64_t distance = WrongGapRow::kNoKey;
  std::uint64_t key = 0;
};

/// The nearest key, coordinate by coordinate.
Nearest nearest_by_definition(const GapAnn::Instance& instance, std::uint64_t i) {
  Nearest nearest;
  for (std::uint64_t j = 0; j < instance.keys.rows(); ++j) {
    std::uint64_t distance = 0;
    for (std::uint64_t c = 0; c < instance.keys.cols(); ++c)
      distance += instance.queries.get(i, c) != instance.keys.get(j, c) ? 1 : 0;
    if (distance < nearest.distance) nearest = {distance, j};
  }
  return nearest;
}

GapAnn::Instance any_instance() {
  const std::uint64_t dim = *test::any_dim();
  const auto top = static_cast<std::int64_t>(dim) + 3;
  const std::int64_t r_yes = *rc::gen::inRange<std::int64_t>(-1, top);
  return {test::any_matrix(*rc::gen::inRange<std::uint64_t>(0, 12), dim),
          test::any_matrix(*rc::gen::inRange<std::uint64_t>(0, 12), dim), r_yes,
          *rc::gen::inRange<std::int64_t>(r_yes + 1, r_yes + 1 + top)};
}

Execution with_threads(int threads) {
  Execution execution;
  execution.threads = threads;
  return execution;
}

TEST(GapAnnRows, HandChecked) {
  const GapAnnReport right = verify_gap_ann_rows(kSmall, {{true, false, false}});
  EXPECT_EQ(right.verdict, Verdict::certified);
  EXPECT_EQ(right.rows_checked, 3u);
  EXPECT_EQ(right.rows_outside_promise, 1u);
  EXPECT_TRUE(right.wrong.empty());
  EXPECT_EQ(verify_gap_ann_rows(kSmall, {{true, false, true}}).verdict, Verdict::certified);  // any answer is right
}

TEST(GapAnnRows, WrongCertificatesAreRefuted) {
  const GapAnnReport missed = verify_gap_ann_rows(kSmall, {{false, false, false}});
  EXPECT_EQ(missed.verdict, Verdict::refuted);
  ASSERT_EQ(missed.wrong.size(), 1u);
  EXPECT_EQ(missed.wrong[0].row, 0u);
  EXPECT_FALSE(missed.wrong[0].claimed_near);
  EXPECT_EQ(missed.wrong[0].nearest_distance, 1u);
  EXPECT_EQ(missed.wrong[0].nearest_key, 1u);

  const GapAnnReport invented = verify_gap_ann_rows(kSmall, {{true, true, false}});
  EXPECT_EQ(invented.verdict, Verdict::refuted);
  ASSERT_EQ(invented.wrong.size(), 1u);
  EXPECT_EQ(invented.wrong[0].row, 1u);
  EXPECT_TRUE(invented.wrong[0].claimed_near);
  EXPECT_EQ(invented.wrong[0].nearest_distance, 4u);
  EXPECT_EQ(invented.wrong[0].nearest_key, 0u);

  EXPECT_EQ(verify_gap_ann_rows(kSmall, {{false, true, false}}).wrong.size(), 2u) << "shifted by one";
  GapAnn::Instance other = kSmall;
  other.keys.set(1, 0, true);  // query 0 moves to distance 2, outside the promise; 1 and 2 to 4 -> 4 and 2 -> 3
  EXPECT_EQ(verify_gap_ann_rows(other, {{false, false, false}}).verdict, Verdict::certified);
  EXPECT_EQ(verify_gap_ann_rows({kSmall.queries, kSmall.queries, 1, 4}, {{true, false, false}}).verdict,
            Verdict::refuted)
      << "right answer of another instance";
  EXPECT_EQ(verify_gap_ann_rows({kSmall.queries, kSmall.keys, 2, 4}, {{true, false, false}}).verdict, Verdict::refuted)
      << "right answer for another threshold";
  for (const std::size_t length : {0u, 2u, 4u})
    test::expect_error(ErrorKind::parameter, [&] { verify_gap_ann_rows(kSmall, {std::vector<bool>(length, false)}); });
}

TEST(GapAnnRows, OffByOneAtEitherThresholdIsCaught) {
  // All distances stand exactly at a threshold; moving a threshold by one changes what is right.
  Random random(1);
  for (const std::int64_t shift : {-1, 0, 1}) {
    problems::GeneratedGapAnn generated = problems::adversarial_gap_ann({20, 15, 90, 30, 40}, 8, random);
    generated.instance.r_yes += shift;
    EXPECT_EQ(verify_gap_ann_rows(generated.instance, *generated.known).rows_outside_promise, shift < 0 ? 8u : 0u);
    GapAnn::Answer all_far{std::vector<bool>(20, false)};
    EXPECT_EQ(verify_gap_ann_rows(generated.instance, all_far).verdict,
              shift < 0 ? Verdict::certified : Verdict::refuted);
    generated.instance.r_yes -= shift;
    generated.instance.r_no += shift;
    GapAnn::Answer all_near{std::vector<bool>(20, true)};
    EXPECT_EQ(verify_gap_ann_rows(generated.instance, all_near).verdict,
              shift > 0 ? Verdict::certified : Verdict::refuted);
    EXPECT_EQ(verify_gap_ann_rows(generated.instance, all_near).wrong.size(), shift > 0 ? 0u : 12u);
  }
}

RC_GTEST_PROP(GapAnnRows, ExactlyTheWrongRowsAreReported, ()) {
  const GapAnn::Instance instance = any_instance();
  GapAnn::Answer answer;
  std::vector<WrongGapRow> expected;
  std::uint64_t outside = 0;
  for (std::uint64_t i = 0; i < instance.queries.rows(); ++i) {
    const Nearest nearest = nearest_by_definition(instance, i);
    const bool no_key = nearest.distance == WrongGapRow::kNoKey;
    const bool near = !no_key && static_cast<std::int64_t>(nearest.distance) <= instance.r_yes;
    const bool far = no_key || static_cast<std::int64_t>(nearest.distance) >= instance.r_no;
    answer.near.push_back(*rc::gen::arbitrary<bool>());
    outside += !near && !far ? 1 : 0;
    if (answer.near[i] ? far : near) expected.push_back({i, answer.near[i], nearest.distance, nearest.key});
  }
  const GapAnnReport report = verify_gap_ann_rows(instance, answer, {}, 1000, with_threads(*rc::gen::inRange(1, 4)));
  RC_ASSERT((report.verdict == Verdict::certified) == expected.empty());
  RC_ASSERT(report.verdict != Verdict::undecided);
  RC_ASSERT(report.rows_checked == instance.queries.rows());
  RC_ASSERT(report.rows_outside_promise == outside);
  RC_ASSERT(report.wrong.size() == expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    RC_ASSERT(report.wrong[k].row == expected[k].row);
    RC_ASSERT(report.wrong[k].claimed_near == expected[k].claimed_near);
    RC_ASSERT(report.wrong[k].nearest_distance == expected[k].nearest_distance);
    RC_ASSERT(report.wrong[k].nearest_key == expected[k].nearest_key);
  }
}

TEST(GapAnnRows, LooksOnlyAtTheChosenRows) {
  const GapAnn::Answer wrong{{false, true, false}};
  EXPECT_EQ(verify_gap_ann_rows(kSmall, wrong, Rows{}).verdict, Verdict::certified);
  EXPECT_EQ(verify_gap_ann_rows(kSmall, wrong, Rows{2}).verdict, Verdict::certified);
  const GapAnnReport report = verify_gap_ann_rows(kSmall, wrong, Rows{1, 0, 1}, 1);
  EXPECT_EQ(report.verdict, Verdict::refuted);
  EXPECT_EQ(report.rows_checked, 2u);
  ASSERT_EQ(report.wrong.size(), 1u);  // max_reported
  EXPECT_EQ(report.wrong[0].row, 0u);
  EXPECT_EQ(verify_gap_ann_rows(kSmall, wrong, {}, 0).verdict, Verdict::refuted);  // counted even if not listed
  test::expect_error(ErrorKind::parameter, [&] { verify_gap_ann_rows(kSmall, wrong, Rows{3}); });
}

TEST(GapAnnRows, Edges) {
  const GapAnn::Instance no_key{BitMatrix(2, 3), BitMatrix(0, 3), 0, 1};
  EXPECT_EQ(verify_gap_ann_rows(no_key, {{false, false}}).verdict, Verdict::certified);
  EXPECT_EQ(verify_gap_ann_rows(no_key, {{true, false}}).wrong.at(0).nearest_distance, WrongGapRow::kNoKey);
  EXPECT_EQ(verify_gap_ann_rows({BitMatrix(0, 3), BitMatrix(2, 3), 0, 1}, {}).verdict, Verdict::certified);
  EXPECT_EQ(verify_gap_ann_rows({BitMatrix(1, 0), BitMatrix(1, 0), 0, 1}, {{false}}).verdict,
            Verdict::refuted);  // d = 0
  EXPECT_EQ(verify_gap_ann_rows({bits(1, {"1"}), bits(1, {"1"}), -1, 0}, {{true}}).verdict, Verdict::refuted);
  EXPECT_EQ(verify_gap_ann_rows({bits(1, {"1"}), bits(1, {"1"}), -1, 1}, {{true}}).rows_outside_promise, 1u);
  test::expect_error(ErrorKind::parameter, [] {
    verify_gap_ann_rows({BitMatrix(1, 4), BitMatrix(1, 5), 0, 1}, {{true}});
  });
  test::expect_error(ErrorKind::parameter, [] {
    verify_gap_ann_rows({BitMatrix(1, 4), BitMatrix(1, 4), 1, 1}, {{true}});
  });
  const std::atomic<bool> stop{true};
  Execution execution;
  execution.stop = &stop;
  test::expect_error(ErrorKind::interrupted, [&] {
    verify_gap_ann_rows(kSmall, {{true, false, false}}, {}, 16, execution);
  });
}

TEST(GapAnnRows, ManyKeysAreScannedWholeAndIndependentlyOfThreads) {
  // Beyond one stretch of keys and one block of queries; the only near key is the last one.
  for (const std::uint64_t dim : {64u, 128u, 192u, 260u}) {
    GapAnn::Instance instance{BitMatrix(300, dim), BitMatrix(5000, dim), 3, 40};
    for (std::uint64_t j = 0; j < 4999; ++j)
      for (std::uint64_t c = 0; c < 40; ++c) instance.keys.set(j, c, true);
    for (std::uint64_t c = 0; c < 3; ++c) instance.keys.set(4999, dim - 1 - c, true);
    GapAnn::Answer answer{std::vector<bool>(300, true)};
    answer.near[299] = false;
    for (const int threads : {1, 3}) {
      const GapAnnReport report = verify_gap_ann_rows(instance, answer, {}, 16, with_threads(threads));
      ASSERT_EQ(report.wrong.size(), 1u);
      EXPECT_EQ(report.wrong[0].row, 299u);
      EXPECT_EQ(report.wrong[0].nearest_key, 4999u);
      EXPECT_EQ(report.wrong[0].nearest_distance, 3u);
    }
    instance.keys.set(4999, 20, true);  // one bit more: nobody is near
    EXPECT_EQ(verify_gap_ann_rows(instance, answer).verdict, Verdict::certified);
    EXPECT_EQ(verify_gap_ann_rows(instance, answer).rows_outside_promise, 300u);
  }
}

}  // namespace
}  // namespace subquad::verifiers
