// Two-level audit: agreement with the row enclosures computed from the definition, recognition, and planted faults.
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/verifiers/two_level_attention.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace subquad::verifiers {
namespace {

using problems::Attention;
using problems::MatrixD;

struct Shape {
  Eigen::Index queries, keys, bits, constants, special;
};

// Random bits as two levels, `constants` constant columns, and special keys (with repetitions) behind the regular ones.
Attention::Instance two_level_instance(Random& random, const Shape& shape, double x0, double x1, double z0, double z1,
                                       double scale) {
  Attention::Instance instance;
  const Eigen::Index d = shape.bits + shape.constants;
  instance.q = MatrixD::Constant(shape.queries, d, 0.5);
  instance.k = MatrixD::Constant(shape.keys + shape.special, d, -0.25);
  instance.v = MatrixD::Zero(shape.keys + shape.special, 2);
  for (Eigen::Index i = 0; i < shape.queries; ++i)
    for (Eigen::Index c = 0; c < shape.bits; ++c) instance.q(i, c) = random.bernoulli(0.5) ? x1 : x0;
  for (Eigen::Index j = 0; j < shape.keys; ++j) {
    for (Eigen::Index c = 0; c < shape.bits; ++c) instance.k(j, c) = random.bernoulli(0.3) ? z1 : z0;
    instance.v.row(j) << 1.0, -3.0;
  }
  for (Eigen::Index j = shape.keys; j < instance.k.rows(); ++j) {
    instance.k.row(j).setConstant(0.125 * static_cast<double>(random.below(3)));
    instance.v.row(j) << 0.0, static_cast<double>(random.below(2));
  }
  instance.scale = scale;
  instance.entry_bound = 16.0;
  return instance;
}

MatrixD midpoints(const Attention::Instance& instance) {
  MatrixD output(instance.q.rows(), instance.v.cols());
  for (Eigen::Index i = 0; i < output.rows(); ++i) {
    const auto row = enclose_attention_row(instance, static_cast<std::uint64_t>(i), 200);
    for (Eigen::Index c = 0; c < output.cols(); ++c)
      output(i, c) = 0.5 * (row[static_cast<std::size_t>(c)].low + row[static_cast<std::size_t>(c)].high);
  }
  return output;
}

struct Levels {
  double x0, x1, z0, z1, scale;
};
constexpr Levels kLevels[] = {
    {0, 2, 0, -2, 0.1},     // orthogonal vectors: logit falls with the inner product
    {0, 2, -1, 3, 0.3},     // logit grows with it, |a| matters
    {-1.5, 1.5, -2, 2, 1},  // Hamming distance
    {-1.5, 1.5, 1, 3, -1},  // negative scale
    {-4, 4, -4, 4, 60},     // logits of thousands: all weight on the best statistic
    {0, 2, 1, 1, 0.1},      // all keys equal: slope zero
};

TEST(TwoLevelAttention, AgreesWithTheDefinitionToTheLastBits) {
  Random random(7);
  int instances = 0;
  for (const Levels& l : kLevels)
    for (const Shape& shape :
         {Shape{9, 33, 70, 3, 4}, Shape{5, 1, 64, 0, 0}, Shape{1, 2, 1, 1, 1}, Shape{4, 6, 3, 2, 5}}) {
      const auto instance = two_level_instance(random, shape, l.x0, l.x1, l.z0, l.z1, l.scale);
      const MatrixD output = midpoints(instance);
      const auto report = verify_two_level_attention_output(instance, output, 1e-15);
      ASSERT_TRUE(report.has_value());
      EXPECT_EQ(report->verdict, Verdict::certified);
      EXPECT_EQ(report->rows_checked, static_cast<std::uint64_t>(shape.queries));
      EXPECT_TRUE(report->largest_error_bound <= 1e-15);
      ++instances;
    }
  EXPECT_EQ(instances, 24);
}

TEST(TwoLevelAttention, DecidesOnBothSidesOfTheTolerance) {
  Random random(8);
  const auto instance = two_level_instance(random, {6, 20, 40, 2, 2}, 0, 2, 0, -2, 0.05);
  MatrixD output = midpoints(instance);
  output(4, 1) += 0.25;
  EXPECT_EQ(verify_two_level_attention_output(instance, output, 0.25 + 1e-9)->verdict, Verdict::certified);
  const auto report = verify_two_level_attention_output(instance, output, 0.25 - 1e-9);
  ASSERT_EQ(report->verdict, Verdict::refuted);
  ASSERT_EQ(report->findings.size(), 1U);
  EXPECT_EQ(report->findings[0].row, 4U);
  EXPECT_EQ(report->findings[0].column, 1U);
  EXPECT_TRUE(report->findings[0].truth.high - report->findings[0].truth.low <= 1e-14);
  EXPECT_TRUE(report->findings[0].truth.low <= output(4, 1) - 0.25 + 1e-14);
}

TEST(TwoLevelAttention, ADroppedKeyAndBadNumbersAreRefuted) {
  Random random(9);
  const auto instance = two_level_instance(random, {8, 12, 30, 1, 1}, -1, 1, -1, 1, 0.2);
  auto dropped = instance;  // the control: one key of the histogram missing
  dropped.k = instance.k.bottomRows(instance.k.rows() - 1);
  dropped.v = instance.v.bottomRows(instance.v.rows() - 1);
  EXPECT_EQ(verify_two_level_attention_output(instance, midpoints(dropped), 1e-9)->verdict, Verdict::refuted);
  EXPECT_EQ(verify_two_level_attention_output(instance, midpoints(instance), 1e-9)->verdict, Verdict::certified);
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    MatrixD output = midpoints(instance);
    output(7, 0) = bad;
    EXPECT_EQ(verify_two_level_attention_output(instance, output, 1e300)->verdict, Verdict::refuted) << bad;
  }
}

TEST(TwoLevelAttention, LooksAtTheChosenRowsOnly) {
  Random random(10);
  const auto instance = two_level_instance(random, {8, 12, 30, 1, 1}, -1, 1, -1, 1, 0.2);
  MatrixD output = midpoints(instance);
  output(3, 0) += 0.5;
  AttentionOutputOptions options;
  options.rows = std::vector<std::uint64_t>{0, 1, 2, 7};
  EXPECT_EQ(verify_two_level_attention_output(instance, output, 0.1, options)->verdict, Verdict::certified);
  options.rows->push_back(3);
  EXPECT_EQ(verify_two_level_attention_output(instance, output, 0.1, options)->verdict, Verdict::refuted);
  options.rows->push_back(8);
  EXPECT_THROW(verify_two_level_attention_output(instance, output, 0.1, options), Error);
}

TEST(TwoLevelAttention, DoesNotClaimInstancesOfAnotherForm) {
  Random random(11);
  const auto good = two_level_instance(random, {6, 20, 10, 1, 2}, 0, 2, 0, -2, 0.05);
  const MatrixD output = MatrixD::Zero(6, 2);
  ASSERT_TRUE(verify_two_level_attention_output(good, output, 1).has_value());
  const auto refuses = [&](const std::function<void(Attention::Instance&)>& change) {
    auto instance = good;
    change(instance);
    return !verify_two_level_attention_output(instance, output, 1).has_value();
  };
  EXPECT_TRUE(refuses([](auto& x) { x.q(2, 3) = 1.0; }));                     // a third level
  EXPECT_TRUE(refuses([](auto& x) { x.k(2, 3) = 1e-300; }));                  // a third level, tiny
  EXPECT_TRUE(refuses([](auto& x) { x.k(x.k.rows() - 1, 3) = 0.75; }));       // a special key that is not constant
  EXPECT_TRUE(refuses([](auto& x) { x.q = (x.q.array() + 1.0).matrix(); }));  // levels {1, 3}: neither statistic
}

}  // namespace
}  // namespace subquad::verifiers
