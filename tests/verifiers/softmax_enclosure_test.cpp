#include "attention_hundred_digits.hpp"
#include "each_target.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/verifiers/softmax_enclosure.hpp>
#include <subquad/verifiers/weighted_sums.hpp>

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace {

using subquad::Error;
using subquad::ErrorKind;
using subquad::Random;
using subquad::test::attention_hundred_digits;
using subquad::test::Digits100;
using subquad::test::EachTarget;
using subquad::test::edgy_instance;
using subquad::test::HundredDigits;
using subquad::test::kEdgyKinds;
using subquad::test::normal_instance;
using subquad::verifiers::BoundFactors;
using subquad::verifiers::EntryEnclosure;
using subquad::verifiers::SoftmaxEnclosure;
using subquad::verifiers::WeightedSums;
using Instance = subquad::problems::Attention::Instance;

std::vector<EntryEnclosure> enclose_all(const Instance& instance, const BoundFactors& factors = {}) {
  const SoftmaxEnclosure enclosure(instance, factors);
  const auto width = static_cast<std::size_t>(instance.v.cols());
  std::vector<std::uint64_t> rows(static_cast<std::size_t>(instance.q.rows()));
  std::iota(rows.begin(), rows.end(), std::uint64_t{0});
  std::vector<EntryEnclosure> result(rows.size() * width);
  for (std::size_t begin = 0; begin < rows.size(); begin += SoftmaxEnclosure::kRowBlock) {
    const std::size_t count = std::min(rows.size() - begin, SoftmaxEnclosure::kRowBlock);
    enclosure.enclose({rows.data() + begin, count}, result.data() + begin * width);
  }
  return result;
}

/// Number of entries whose enclosure misses the value to a hundred digits.
int entries_outside(const Instance& instance, const BoundFactors& factors = {}) {
  int outside = 0;
  const std::vector<EntryEnclosure> enclosures = enclose_all(instance, factors);
  for (Eigen::Index i = 0; i < instance.q.rows(); ++i) {
    const std::vector<HundredDigits> truth = attention_hundred_digits(instance, i);
    for (Eigen::Index c = 0; c < instance.v.cols(); ++c) {
      const EntryEnclosure& e = enclosures[static_cast<std::size_t>(i * instance.v.cols() + c)];
      const HundredDigits& u = truth[static_cast<std::size_t>(c)];
      const bool inside = Digits100(e.low) <= u.value + u.error && u.value - u.error <= Digits100(e.high);
      outside += inside ? 0 : 1;
    }
  }
  return outside;
}

// Hand-checked: weights 1 and 2^-1 times values 3 and 0 give u = 2 (q k scale = -ln 2 up to rounding).
TEST(SoftmaxEnclosure, HandCheckedExample) {
  Instance instance = {.q = {}, .k = {}, .v = {}, .scale = 1.0, .entry_bound = 10.0};
  instance.q.setConstant(1, 1, -0.69314718055994531);
  instance.k.resize(2, 1);
  instance.k << 0, 1;
  instance.v.resize(2, 1);
  instance.v << 3, 0;
  const EntryEnclosure e = enclose_all(instance).front();
  EXPECT_LE(e.low, 2.0);
  EXPECT_GE(e.high, 2.0);
  EXPECT_LE(e.high - e.low, 1e-11);
  EXPECT_EQ(entries_outside(instance), 0);
}

TEST(SoftmaxEnclosure, HoldsTheTruthOnEveryKindAndTarget) {
  Random random(31);
  for (EachTarget target; target.next();) {
    for (std::uint64_t round = 0; round < 6 * kEdgyKinds; ++round) {
      const Instance instance = edgy_instance(random, round % kEdgyKinds);
      ASSERT_EQ(entries_outside(instance), 0) << "kind " << round % kEdgyKinds << " on " << WeightedSums::target();
    }
  }
}

TEST(SoftmaxEnclosure, HoldsTheTruthAcrossKeyBlocksAndQueryBlocks) {
  Random random(32);
  for (EachTarget target; target.next();) {
    for (const std::uint64_t kind : {0, 3, 9, 10, 11}) {
      ASSERT_EQ(entries_outside(edgy_instance(random, kind, 700)), 0) << kind << " on " << WeightedSums::target();
    }
    ASSERT_EQ(entries_outside(normal_instance(random, 67, 5, 3, 2)), 0) << WeightedSums::target();
  }
}

TEST(SoftmaxEnclosure, IsNarrowWhereArithmeticIsOrdinary) {
  Random random(33);
  const Instance instance = normal_instance(random, 5, 300, 64, 3);
  for (const EntryEnclosure& e : enclose_all(instance)) EXPECT_LE(e.high - e.low, 1e-12);
}

TEST(SoftmaxEnclosure, EqualValuesAreExactAndHopelessRowsGetTheRange) {
  Random random(34);
  Instance instance = normal_instance(random, 2, 9, 4, 2);
  instance.v.col(0).setConstant(0.1);
  for (Eigen::Index i = 0; i < 2; ++i) {
    const EntryEnclosure e = enclose_all(instance)[static_cast<std::size_t>(2 * i)];
    EXPECT_EQ(e.low, 0.1);
    EXPECT_EQ(e.high, 0.1);
  }
  for (const double size : {1e30, 1e200, 1e307}) {
    Instance huge = instance;
    huge.q.row(0).setConstant(size);  // row 1 stays ordinary
    const std::vector<EntryEnclosure> e = enclose_all(huge);
    EXPECT_EQ(e[1].low, huge.v.col(1).minCoeff());
    EXPECT_EQ(e[1].high, huge.v.col(1).maxCoeff());
    EXPECT_LE(e[3].high - e[3].low, 1e-12);
  }
}

TEST(SoftmaxEnclosure, RefusesOtherRoundingModes) {
  Random random(35);
  const Instance instance = normal_instance(random, 1, 2, 1, 1);
  const SoftmaxEnclosure enclosure(instance);
  EntryEnclosure entry;
  const std::uint64_t row = 0;
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    try {
      enclosure.enclose({&row, 1}, &entry);
      std::fesetround(FE_TONEAREST);
      ADD_FAILURE() << "mode " << mode << " accepted";
    } catch (const Error& e) {
      std::fesetround(FE_TONEAREST);
      EXPECT_EQ(e.kind(), ErrorKind::unsupported);
    }
  }
}

// Planted faults: each part of the bound, taken away or made too small, must be missed by the containment test.

TEST(SoftmaxEnclosure, PlantedTooSmallLogitBoundIsCaught) {
  Random random(36);
  int outside = 0;
  for (int round = 0; round < 20; ++round) {
    Instance instance = normal_instance(random, 4, 8, 3, 2);
    instance.q *= 3e3;
    EXPECT_EQ(entries_outside(instance), 0);
    outside += entries_outside(instance, {.logit = 1e-3});
  }
  EXPECT_GT(outside, 0);
}

TEST(SoftmaxEnclosure, PlantedMissingExponentialAndSumBoundsAreCaught) {
  Random random(37);
  int outside = 0;
  for (int round = 0; round < 40; ++round) {
    Instance instance = normal_instance(random, 8, 2, 1, 1);
    instance.scale = 0.01;
    instance.q.setConstant(69.0);  // both weights where the polynomial is worst: base-2 logits near -1/2
    instance.k << 0, -0.5 - 0.01 * random.unit();
    instance.v << 0, 1;
    EXPECT_EQ(entries_outside(instance), 0);
    outside += entries_outside(instance, {.exponential = 0.0, .sum = 0.0});
  }
  EXPECT_GT(outside, 0);
}

TEST(SoftmaxEnclosure, PlantedMissingSumBoundIsCaught) {
  Random random(38);
  int outside = 0;
  for (int round = 0; round < 8; ++round) {
    const Instance instance = edgy_instance(random, 11, 400);
    EXPECT_EQ(entries_outside(instance), 0);
    outside += entries_outside(instance, {.sum = 0.0});
  }
  EXPECT_GT(outside, 0);
}

TEST(SoftmaxEnclosure, PlantedMissingUnderflowTermIsCaught) {
  // The far key has the weight 2^-1001.4: it vanishes in doubles, but 1e300 times it is 0.04.
  Instance instance = {.q = {}, .k = {}, .v = {}, .scale = 1.0, .entry_bound = 1e300};
  instance.q.setConstant(1, 1, 1.0);
  instance.k.resize(2, 1);
  instance.k << 0, -694.1;
  instance.v.resize(2, 1);
  instance.v << 0, 1e300;
  EXPECT_EQ(entries_outside(instance), 0);
  const BoundFactors no_underflow = {.logit = 1e-290, .exponential = 0.0, .sum = 0.0, .underflow = 0.0};
  EXPECT_EQ(entries_outside(instance, no_underflow), 1);
  BoundFactors with_underflow = no_underflow;
  with_underflow.underflow = 1.0;
  EXPECT_EQ(entries_outside(instance, with_underflow), 0);
}

}  // namespace
