// Attention output verifier under masks: rows are judged against softmax over the keys that they see.
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

using subquad::Execution;
using subquad::Random;
using subquad::Verdict;
using subquad::problems::AttentionMask;
using subquad::problems::MatrixD;
using subquad::test::attention_hundred_digits;
using subquad::test::Digits100;
using subquad::test::EachTarget;
using subquad::test::edgy_instance;
using subquad::test::HundredDigits;
using subquad::test::kEdgyKinds;
using subquad::test::kOneThread;
using subquad::test::normal_instance;
using subquad::test::rounded_truth;
using subquad::test::verify;
using subquad::verifiers::AttentionOutputOptions;
using subquad::verifiers::AttentionOutputReport;
using subquad::verifiers::enclose_attention_row;
using subquad::verifiers::EntryEnclosure;
using subquad::verifiers::verify_attention_output;
using Instance = subquad::problems::Attention::Instance;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// The instance of one query under a causal mask: the keys that it sees.
Instance visible_part(const Instance& instance, Eigen::Index row, const AttentionMask& mask) {
  const auto seen = static_cast<Eigen::Index>(
      mask.visible(static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(instance.k.rows())));
  Instance part = instance;
  part.q = instance.q.row(row);
  part.k = instance.k.topRows(seen);
  part.v = instance.v.topRows(seen);
  return part;
}

MatrixD rounded_masked_truth(const Instance& instance, const AttentionMask& mask) {
  MatrixD result(instance.q.rows(), instance.v.cols());
  for (Eigen::Index i = 0; i < result.rows(); ++i) result.row(i) = rounded_truth(visible_part(instance, i, mask));
  return result;
}

TEST(AttentionOutput, MaskedRowsAreSoftmaxOverTheKeysThatTheySee) {
  // Row blocks have 32 queries, key blocks up to 240 keys: the diagonal crosses both.
  Random random(61);
  const Instance instance = normal_instance(random, 40, 260, 3, 2);
  for (const std::uint64_t offset : {0, 225, 300}) {
    AttentionOutputOptions options;
    options.mask = AttentionMask::lower_triangle(offset);
    options.rows = {0, 1, 14, 15, 31, 32, 39};
    MatrixD truth = MatrixD::Zero(40, 2);  // of the chosen rows
    for (const std::uint64_t row : *options.rows) {
      const auto i = static_cast<Eigen::Index>(row);
      truth.row(i) = rounded_truth(visible_part(instance, i, options.mask));
    }
    options.max_precision_bits = 0;  // doubles alone decide at 1e-12
    for (EachTarget target; target.next();) {
      EXPECT_EQ(verify(instance, truth, 1e-12, options).verdict, Verdict::certified) << offset;
    }
    options.max_precision_bits = 512;
    EXPECT_EQ(verify(instance, truth, 1e-16, options).verdict, Verdict::certified) << offset;
  }
}

TEST(AttentionOutput, MaskedEdgyInstancesAndRowEnclosures) {
  Random random(62);
  for (std::uint64_t kind = 0; kind < kEdgyKinds; ++kind) {
    const Instance instance = edgy_instance(random, kind, 12);
    const AttentionMask mask = AttentionMask::lower_triangle(1);
    AttentionOutputOptions options;
    options.mask = mask;
    const MatrixD truth = rounded_masked_truth(instance, mask);
    const double largest = truth.cwiseAbs().maxCoeff();
    EXPECT_EQ(verify(instance, truth, 1e-15 * largest + 1e-300, options).verdict, Verdict::certified) << kind;
    for (Eigen::Index i = 0; i < instance.q.rows(); ++i) {
      const std::vector<EntryEnclosure> row = enclose_attention_row(instance, static_cast<std::uint64_t>(i), 256, mask);
      const std::vector<HundredDigits> exact = attention_hundred_digits(visible_part(instance, i, mask), 0);
      for (std::size_t c = 0; c < row.size(); ++c) {
        EXPECT_TRUE(Digits100(row[c].low) <= exact[c].value + exact[c].error &&
                    exact[c].value - exact[c].error <= Digits100(row[c].high))
            << kind;
      }
    }
  }
}

TEST(AttentionOutput, ARowThatSeesOneKeyIsDecidedExactly) {
  Random random(63);
  const Instance instance = normal_instance(random, 1, 50, 3, 2);
  AttentionOutputOptions options;
  options.mask = AttentionMask::lower_triangle();
  MatrixD output = instance.v.row(0);
  EXPECT_EQ(verify(instance, output, 0.0, options).verdict, Verdict::certified);
  output(0, 1) = std::nextafter(output(0, 1), kInfinity);
  const AttentionOutputReport report = verify(instance, output, 0.0, options);
  EXPECT_EQ(report.verdict, Verdict::refuted);
  EXPECT_EQ(report.findings.size(), 1U);
}

TEST(AttentionOutput, AForgottenOrShiftedMaskIsRefuted) {
  Random random(64);
  const Instance instance = normal_instance(random, 20, 30, 4, 2);
  AttentionOutputOptions options;
  options.mask = AttentionMask::lower_triangle(3);
  EXPECT_EQ(verify(instance, rounded_masked_truth(instance, options.mask), 1e-12, options).verdict, Verdict::certified);
  EXPECT_EQ(verify(instance, rounded_truth(instance), 1e-12, options).verdict, Verdict::refuted);
  for (const std::uint64_t wrong : {2, 4}) {
    const MatrixD output = rounded_masked_truth(instance, AttentionMask::lower_triangle(wrong));
    const AttentionOutputReport report = verify(instance, output, 1e-12, options);
    EXPECT_EQ(report.verdict, Verdict::refuted) << wrong;
  }
}

}  // namespace
