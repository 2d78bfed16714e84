#include "attention_hundred_digits.hpp"
#include "attention_output_verdicts.hpp"
#include "each_target.hpp"
#include "expect_error.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/verifiers/attention_output.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace {

using subquad::ErrorKind;
using subquad::Execution;
using subquad::Random;
using subquad::Verdict;
using subquad::problems::AttentionMask;
using subquad::problems::MatrixD;
using subquad::test::attention_hundred_digits;
using subquad::test::Digits100;
using subquad::test::EachTarget;
using subquad::test::edgy_instance;
using subquad::test::expect_error;
using subquad::test::HundredDigits;
using subquad::test::kEdgyKinds;
using subquad::test::kOneThread;
using subquad::test::normal_instance;
using subquad::test::rounded_truth;
using subquad::test::verify;
using subquad::verifiers::AttentionOutputFinding;
using subquad::verifiers::AttentionOutputOptions;
using subquad::verifiers::AttentionOutputReport;
using subquad::verifiers::enclose_attention_row;
using subquad::verifiers::EntryEnclosure;
using subquad::verifiers::verify_attention_output;
using Instance = subquad::problems::Attention::Instance;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// Two keys with weights 1 : 3 (up to the rounding of ln 3) and values 0 and 1.
Instance three_quarters() {
  Instance instance = {.q = {}, .k = {}, .v = {}, .scale = 1.0, .entry_bound = 10.0};
  instance.q.setConstant(1, 1, 1.0);
  instance.k.resize(2, 1);
  instance.k << 0, 1.0986122886681098;
  instance.v.resize(2, 1);
  instance.v << 0, 1;
  return instance;
}

/// Two equal keys with values 0 and 1: the output is exactly 1/2, which no enclosure of finite width can tell.
Instance one_half() {
  Instance instance = three_quarters();
  instance.k.setConstant(0.7);
  return instance;
}

TEST(AttentionOutput, HandCheckedExamples) {
  const Instance instance = three_quarters();
  MatrixD output(1, 1);
  output << 0.75;
  const AttentionOutputReport right = verify(instance, output, 1e-10);
  EXPECT_EQ(right.verdict, Verdict::certified);
  EXPECT_EQ(right.rows_checked, 1U);
  EXPECT_EQ(right.entries_by_double, 1U);
  EXPECT_EQ(right.entries_by_mpfr, 0U);
  EXPECT_LE(right.largest_error_bound, 1e-10);
  EXPECT_TRUE(right.findings.empty());

  output << 0.85;
  const AttentionOutputReport wrong = verify(instance, output, 0.05);
  EXPECT_EQ(wrong.verdict, Verdict::refuted);
  ASSERT_EQ(wrong.findings.size(), 1U);
  const AttentionOutputFinding& finding = wrong.findings.front();
  EXPECT_EQ(finding.row, 0U);
  EXPECT_EQ(finding.column, 0U);
  EXPECT_EQ(finding.candidate, 0.85);
  EXPECT_EQ(finding.verdict, Verdict::refuted);
  EXPECT_LE(finding.truth.low, 0.75);
  EXPECT_LE(0.75 - finding.truth.low, 1e-15);
  EXPECT_LE(finding.truth.high - finding.truth.low, 0x1p-52);  // neighbouring doubles: intervals made it tight
  EXPECT_GE(wrong.largest_error_bound, 0.1);
  EXPECT_LE(wrong.largest_error_bound, 0.1 + 1e-10);
}

TEST(AttentionOutput, RowEnclosuresHoldTheTruthAndAreTight) {
  Random random(41);
  for (std::uint64_t round = 0; round < 4 * kEdgyKinds; ++round) {
    const Instance instance = edgy_instance(random, round % kEdgyKinds);
    for (Eigen::Index i = 0; i < instance.q.rows(); ++i) {
      const std::vector<EntryEnclosure> row = enclose_attention_row(instance, static_cast<std::uint64_t>(i), 256);
      const std::vector<HundredDigits> truth = attention_hundred_digits(instance, i);
      ASSERT_EQ(row.size(), truth.size());
      for (std::size_t c = 0; c < row.size(); ++c) {
        ASSERT_TRUE(Digits100(row[c].low) <= truth[c].value + truth[c].error &&
                    truth[c].value - truth[c].error <= Digits100(row[c].high))
            << "kind " << round % kEdgyKinds;
        // At most the two neighbouring doubles (with one more where the truth is a double, or 0).
        ASSERT_TRUE(row[c].high <= std::nextafter(std::nextafter(row[c].low, kInfinity), kInfinity));
      }
    }
  }
}

TEST(AttentionOutput, AstronomicalLogitsAreDecidedByIntervals) {
  Instance instance = three_quarters();
  instance.entry_bound = 1e300;
  instance.q.setConstant(1e300);
  instance.k << 1e300, 1e300 * (1 - 0x1p-52);
  MatrixD output(1, 1);
  output << 0.0;
  AttentionOutputReport report = verify(instance, output, 1e-300);
  EXPECT_EQ(report.verdict, Verdict::certified);
  EXPECT_EQ(report.entries_by_mpfr, 1U);
  output << 1.0;
  report = verify(instance, output, 0.5);
  EXPECT_EQ(report.verdict, Verdict::refuted);
  instance.scale = 1e-300;
  instance.k << 1e-2, 1e-2;
  output << 0.5;
  EXPECT_EQ(verify(instance, output, 1e-14).verdict, Verdict::certified);
}

TEST(AttentionOutput, CorrectlyRoundedOutputsAreNeverRefuted) {
  Random random(42);
  for (EachTarget target; target.next();) {
    for (std::uint64_t round = 0; round < 3 * kEdgyKinds; ++round) {
      const Instance instance = edgy_instance(random, round % kEdgyKinds, 24);
      const MatrixD output = rounded_truth(instance);
      const double largest = output.cwiseAbs().maxCoeff();
      const double ulp = std::nextafter(largest, kInfinity) - largest;
      const AttentionOutputReport report = verify(instance, output, ulp);
      // Equal keys may have a mean that lies on the very edge; nothing else may be left open.
      ASSERT_NE(report.verdict, Verdict::refuted) << "kind " << round % kEdgyKinds;
      ASSERT_EQ(report.verdict, Verdict::certified) << "kind " << round % kEdgyKinds;
    }
  }
}

TEST(AttentionOutput, VerdictsAgreeWithAHundredDigitsAtTolerancesNearTheError) {
  Random random(43);
  int certified = 0;
  int refuted = 0;
  int by_intervals = 0;
  for (std::uint64_t round = 0; round < 700; ++round) {
    const Instance instance = edgy_instance(random, round % kEdgyKinds, 12);
    MatrixD output = rounded_truth(instance);
    // Errors from one ulp to the size of the values.
    for (Eigen::Index i = 0; i < output.rows(); ++i) {
      for (Eigen::Index c = 0; c < output.cols(); ++c) {
        const double size = std::ldexp(std::fabs(output(i, c)), -static_cast<int>(random.below(54)));
        output(i, c) += random.normal() * size;
      }
    }
    Digits100 error = 0;
    Digits100 reference_error = 0;
    for (Eigen::Index i = 0; i < output.rows(); ++i) {
      const std::vector<HundredDigits> truth = attention_hundred_digits(instance, i);
      for (Eigen::Index c = 0; c < output.cols(); ++c) {
        const HundredDigits& u = truth[static_cast<std::size_t>(c)];
        const Digits100 distance = abs(Digits100(Digits100(output(i, c)) - u.value));
        if (distance > error) error = distance;
        if (u.error > reference_error) reference_error = u.error;
      }
    }
    // The tolerance nearest to the true error, then a little or much off it.
    double tolerance = error.convert_to<double>();
    const double step = random.bernoulli(0.5) ? 1.0 : -1.0;
    if (random.bernoulli(0.4)) {
      tolerance = std::nextafter(tolerance, step * kInfinity);
    } else {
      tolerance *= 1.0 + step * std::ldexp(0.9, -static_cast<int>(random.below(50)));
    }
    if (!(tolerance >= 0.0 && tolerance < kInfinity)) continue;
    const AttentionOutputReport report = verify(instance, output, tolerance);
    const Digits100 margin = Digits100(tolerance) - error;
    if (abs(margin) <= 2 * reference_error) continue;  // on the edge itself: the reference cannot tell
    ASSERT_EQ(report.verdict, margin > 0 ? Verdict::certified : Verdict::refuted)
        << "kind " << round % kEdgyKinds << " round " << round << " margin " << margin;
    ASSERT_GE(Digits100(report.largest_error_bound), error - reference_error);
    certified += report.verdict == Verdict::certified ? 1 : 0;
    refuted += report.verdict == Verdict::refuted ? 1 : 0;
    by_intervals += report.entries_by_mpfr > 0 ? 1 : 0;
  }
  EXPECT_GT(certified, 150);
  EXPECT_GT(refuted, 150);
  EXPECT_GT(by_intervals, 50);
}

TEST(AttentionOutput, ExactlyAtTheToleranceIsDecidedRightlyOrLeftOpen) {
  // A single key: the output is its value, exactly.
  Instance single = three_quarters();
  single.k.setConstant(1, 1, 3.0);
  single.v.setConstant(1, 1, 0.5);
  MatrixD output(1, 1);
  output << 0.75;
  EXPECT_EQ(verify(single, output, 0.25).verdict, Verdict::certified);
  EXPECT_EQ(verify(single, output, std::nextafter(0.25, 0.0)).verdict, Verdict::refuted);
  output << 0.5;
  EXPECT_EQ(verify(single, output, 0.0).verdict, Verdict::certified);

  // One half from two equal keys, which intervals cannot tell from its neighbours.
  const Instance half = one_half();
  output << 0.75;
  const AttentionOutputReport edge = verify(half, output, 0.25);
  EXPECT_NE(edge.verdict, Verdict::refuted);
  if (edge.verdict == Verdict::undecided) {
    ASSERT_EQ(edge.findings.size(), 1U);
    EXPECT_EQ(edge.findings.front().verdict, Verdict::undecided);
    EXPECT_TRUE(edge.findings.front().truth.low <= 0.5 && 0.5 <= edge.findings.front().truth.high);
  }
  EXPECT_EQ(verify(half, output, std::nextafter(0.25, 1.0)).verdict, Verdict::certified);
  EXPECT_EQ(verify(half, output, std::nextafter(0.25, 0.0)).verdict, Verdict::refuted);
}

TEST(AttentionOutput, WithoutIntervalsATightToleranceIsUndecidedNotPassed) {
  Random random(44);
  const Instance instance = normal_instance(random, 3, 20, 8, 2);
  const MatrixD output = rounded_truth(instance);
  const AttentionOutputReport report = verify(instance, output, 1e-16, {.rows = {}, .max_precision_bits = 0});
  EXPECT_EQ(report.verdict, Verdict::undecided);
  EXPECT_EQ(report.entries_by_double, 0U);
  EXPECT_EQ(report.findings.size(), 6U);
  EXPECT_EQ(verify(instance, output, 1e-12, {.rows = {}, .max_precision_bits = 0}).verdict, Verdict::certified);
}

TEST(AttentionOutput, CatalogueOfWrongOutputs) {
  Random random(45);
  Instance instance = normal_instance(random, 9, 30, 6, 2);
  instance.q *= 4.0;
  const MatrixD right = rounded_truth(instance);
  const double tolerance = 0.01;
  ASSERT_EQ(verify(instance, right, tolerance).verdict, Verdict::certified);
  const auto refuted_in_row = [&](const MatrixD& output, std::uint64_t row, const char* what) {
    const AttentionOutputReport report = verify(instance, output, tolerance);
    EXPECT_EQ(report.verdict, Verdict::refuted) << what;
    ASSERT_FALSE(report.findings.empty()) << what;
    EXPECT_EQ(report.findings.front().row, row) << what;
    for (const AttentionOutputFinding& finding : report.findings) {
      const double truth = right(static_cast<Eigen::Index>(finding.row), static_cast<Eigen::Index>(finding.column));
      EXPECT_LE(finding.truth.low, truth) << what;
      EXPECT_GE(finding.truth.high, truth) << what;
      EXPECT_LE(finding.truth.high - finding.truth.low, 1e-14) << what;
    }
  };
  MatrixD wrong = right;
  wrong(5, 1) += 0.6;
  refuted_in_row(wrong, 5, "one row + 0.6");
  wrong = right;
  wrong.row(2).swap(wrong.row(3));
  refuted_in_row(wrong, 2, "swapped rows");
  for (const double bad : {kNaN, -kNaN, kInfinity, -kInfinity}) {
    wrong = right;
    wrong(8, 0) = bad;
    refuted_in_row(wrong, 8, "not a number");
    EXPECT_EQ(verify(instance, wrong, tolerance).largest_error_bound, kInfinity);
    EXPECT_EQ(verify(instance, wrong, 1.7e308).verdict, Verdict::refuted);
  }
  Instance dropped = instance;
  dropped.k.conservativeResize(29, Eigen::NoChange);
  dropped.v.conservativeResize(29, Eigen::NoChange);
  EXPECT_EQ(verify(instance, rounded_truth(dropped), tolerance).verdict, Verdict::refuted);
  EXPECT_EQ(verify(instance, rounded_truth(normal_instance(random, 9, 30, 6, 2)), tolerance).verdict, Verdict::refuted);
  EXPECT_EQ(verify(instance, MatrixD::Zero(9, 2), tolerance).verdict, Verdict::refuted);
  EXPECT_EQ(verify(instance, -right, tolerance).verdict, Verdict::refuted);
  Instance unscaled = instance;
  unscaled.scale = 1.0;
  EXPECT_EQ(verify(instance, rounded_truth(unscaled), tolerance).verdict, Verdict::refuted);

  expect_error(ErrorKind::parameter, [&] { verify(instance, right.topRows(8), tolerance); });
  expect_error(ErrorKind::parameter, [&] { verify(instance, right.leftCols(1), tolerance); });
  expect_error(ErrorKind::parameter, [&] { verify(instance, MatrixD(right.transpose()), tolerance); });
}

TEST(AttentionOutput, RowsLimitsAndCounts) {
  Random random(46);
  const Instance instance = normal_instance(random, 70, 10, 4, 2);
  MatrixD output = rounded_truth(instance);
  for (const Eigen::Index row : {1, 33, 34, 69}) output.row(row).array() += 1.0;
  AttentionOutputReport report = verify(instance, output, 0.1);
  EXPECT_EQ(report.rows_checked, 70U);
  EXPECT_EQ(report.entries_by_double, 140U);
  ASSERT_EQ(report.findings.size(), 8U);
  EXPECT_EQ(report.findings[2].row, 33U);
  EXPECT_EQ(report.findings[3].column, 1U);

  report = verify(instance, output, 0.1, {.rows = {}, .max_precision_bits = 4096, .max_reported = 3});
  ASSERT_EQ(report.findings.size(), 3U);
  EXPECT_EQ(report.findings[2].row, 33U);
  report = verify(instance, output, 0.1, {.rows = {}, .max_precision_bits = 4096, .max_reported = 0});
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.verdict, Verdict::refuted);  // the limit is on the list, not on the verdict

  report = verify(instance, output, 0.1, {.rows = std::vector<std::uint64_t>{0, 2, 2, 68}});
  EXPECT_EQ(report.verdict, Verdict::certified);
  EXPECT_EQ(report.rows_checked, 3U);
  report = verify(instance, output, 0.1, {.rows = std::vector<std::uint64_t>{69, 2}});
  EXPECT_EQ(report.verdict, Verdict::refuted);
  ASSERT_EQ(report.findings.size(), 2U);
  EXPECT_EQ(report.findings[0].row, 69U);
  expect_error(ErrorKind::parameter, [&] { verify(instance, output, 0.1, {.rows = std::vector<std::uint64_t>{70}}); });
}

TEST(AttentionOutput, ReportDoesNotDependOnThreads) {
  Random random(47);
  const Instance instance = normal_instance(random, 100, 40, 5, 2);
  MatrixD output = rounded_truth(instance);
  for (Eigen::Index i = 0; i < 100; i += 3) output(i, 1) += 1e-13;
  const auto one = verify_attention_output(instance, output, 1e-14, {}, {.threads = 1});
  const auto three = verify_attention_output(instance, output, 1e-14, {}, {.threads = 3});
  EXPECT_EQ(one.verdict, Verdict::refuted);
  EXPECT_EQ(one.entries_by_mpfr, three.entries_by_mpfr);
  EXPECT_GT(one.entries_by_mpfr, 0U);
  EXPECT_EQ(one.largest_error_bound, three.largest_error_bound);
  ASSERT_EQ(one.findings.size(), 16U);
  ASSERT_EQ(three.findings.size(), 16U);
  for (std::size_t f = 0; f < one.findings.size(); ++f) {
    EXPECT_EQ(one.findings[f].row, 3 * f);
    EXPECT_EQ(one.findings[f].row, three.findings[f].row);
    EXPECT_EQ(one.findings[f].truth.low, three.findings[f].truth.low);
  }
}

TEST(AttentionOutput, EmptyShapes) {
  Random random(48);
  EXPECT_EQ(verify(normal_instance(random, 0, 5, 3, 2), MatrixD(0, 2), 0.1).verdict, Verdict::certified);
  EXPECT_EQ(verify(normal_instance(random, 0, 0, 3, 2), MatrixD(0, 2), 0.1).verdict, Verdict::certified);
  EXPECT_EQ(verify(normal_instance(random, 4, 5, 3, 0), MatrixD(4, 0), 0.1).verdict, Verdict::certified);
  const Instance flat = normal_instance(random, 2, 5, 0, 1);  // d = 0: the mean
  EXPECT_EQ(verify(flat, MatrixD::Constant(2, 1, flat.v.mean()), 1e-14).verdict, Verdict::certified);
  EXPECT_EQ(verify(flat, MatrixD::Constant(2, 1, flat.v.mean() + 1e-3), 1e-4).verdict, Verdict::refuted);
  EXPECT_TRUE(enclose_attention_row(normal_instance(random, 4, 5, 3, 0), 0).empty());
}

TEST(AttentionOutput, RefusesBadArguments) {
  const Instance instance = three_quarters();
  const MatrixD output = MatrixD::Constant(1, 1, 0.75);
  for (const double tolerance : {-1e-300, kNaN, kInfinity}) {
    expect_error(ErrorKind::parameter, [&] { verify(instance, output, tolerance); });
  }
  expect_error(ErrorKind::parameter, [&] { verify(instance, output, 0.1, {.rows = {}, .max_precision_bits = -1}); });
  Instance bad = instance;
  bad.q(0, 0) = kNaN;
  expect_error(ErrorKind::parameter, [&] { verify(bad, output, 0.1); });
  bad = instance;
  bad.k.resize(0, 1);
  bad.v.resize(0, 1);
  expect_error(ErrorKind::parameter, [&] { verify(bad, output, 0.1); });
  bad = instance;
  bad.v.resize(3, 1);
  bad.v.setZero();
  expect_error(ErrorKind::parameter, [&] { verify(bad, output, 0.1); });
  expect_error(ErrorKind::parameter, [&] { enclose_attention_row(instance, 1); });
  expect_error(ErrorKind::parameter, [&] { enclose_attention_row(instance, 0, 52); });
  const std::atomic<bool> stop{true};
  expect_error(ErrorKind::interrupted, [&] {
    verify_attention_output(instance, output, 0.1, {}, {.threads = 1, .stop = &stop, .progress = nullptr});
  });
}

}  // namespace
