#include "attention_hundred_digits.hpp"
#include "expect_error.hpp"

#include <subquad/attention/rigorous_softmax.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using subquad::ErrorKind;
using subquad::Execution;
using subquad::Random;
using subquad::attention::log_softmax_enclosures;
using subquad::problems::MatrixD;
using subquad::test::attention_hundred_digits;
using subquad::test::Digits100;
using subquad::test::edgy_instance;
using subquad::test::expect_error;
using subquad::test::HundredDigits;
using subquad::test::kEdgyKinds;
using subquad::test::normal_instance;
using Instance = subquad::problems::Attention::Instance;
using LogEnclosure = subquad::problems::Attention::LogEnclosure;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const Execution kOneThread = {.threads = 1};

/// An instance of the paper's shape: logits x_0 (value 1) and x_1 (value 0), one query.
Instance two_keys(double x_0, double x_1) {
  Instance instance;
  instance.q.setConstant(1, 1, 1.0);
  instance.k.resize(2, 1);
  instance.k << x_0, x_1;
  instance.v.resize(2, 1);
  instance.v << 1, 0;
  instance.scale = 1.0;
  instance.entry_bound = 1e300;
  return instance;
}

bool holds(const LogEnclosure& enclosure, const HundredDigits& u) {
  if (u.value == 0) return enclosure.log_low == -kInfinity && enclosure.log_high == -kInfinity;
  const Digits100 slack = Digits100("1e-85") * u.error / u.value / Digits100("1e-90");
  const Digits100 log_u = log(u.value);
  return Digits100(enclosure.log_low) <= log_u + slack && log_u - slack <= Digits100(enclosure.log_high);
}

int rows_outside(const Instance& instance, const std::vector<LogEnclosure>& enclosures) {
  int outside = 0;
  for (Eigen::Index i = 0; i < instance.q.rows(); ++i) {
    const HundredDigits u = attention_hundred_digits(instance, i).front();
    outside += holds(enclosures[static_cast<std::size_t>(i)], u) ? 0 : 1;
  }
  return outside;
}

// ln u = -ln(1 + e^(x_1 - x_0)): -ln 2 if both are equal; -5000 if they differ by 5000, to far more digits than doubles
// have.
TEST(RigorousSoftmax, HandCheckedExamples) {
  const LogEnclosure half = log_softmax_enclosures(two_keys(3, 3)).front();
  EXPECT_LE(half.log_low, -0.69314718055994531);
  EXPECT_GE(half.log_high, -0.69314718055994530);
  EXPECT_LE(half.log_high - half.log_low, 0x1p-52);
  const LogEnclosure tiny = log_softmax_enclosures(two_keys(-2000, 3000)).front();
  EXPECT_LE(tiny.log_low, -5000.0);
  EXPECT_GE(tiny.log_high, -5000.0);
  EXPECT_LE(tiny.log_high - tiny.log_low, 2e-12);
}

TEST(RigorousSoftmax, PaperSizedExponentsAreOrdinary) {
  // n^-1500 with n = 10: no double is that small, its logarithm is.
  const double x = -1500 * std::log(10.0);
  const LogEnclosure enclosure = log_softmax_enclosures(two_keys(x, 0)).front();
  EXPECT_LE(enclosure.log_low, x);
  EXPECT_GE(enclosure.log_high, x);
  EXPECT_LE(enclosure.log_high - enclosure.log_low, 1e-12);
  for (const double logit : {1e4, 1e5, 1e6}) {
    const LogEnclosure e = log_softmax_enclosures(two_keys(-logit, logit)).front();
    EXPECT_LE(e.log_low, -2 * logit);
    EXPECT_GE(e.log_high, -2 * logit);
    EXPECT_LE(e.log_high - e.log_low, 1e-15 * logit);
  }
}

TEST(RigorousSoftmax, HoldsTheLogarithmToAHundredDigits) {
  Random random(51);
  for (std::uint64_t round = 0; round < 6 * kEdgyKinds; ++round) {
    Instance instance = edgy_instance(random, round % kEdgyKinds, 20);
    instance.v = instance.v.cwiseAbs();
    if (random.bernoulli(0.3)) instance.v.topRows(instance.v.rows() / 2).setZero();
    const int bits = random.bernoulli(0.5) ? 128 : static_cast<int>(53 + random.below(200));
    ASSERT_EQ(rows_outside(instance, log_softmax_enclosures(instance, bits, kOneThread)), 0)
        << "kind " << round % kEdgyKinds << " at " << bits << " bits";
  }
}

TEST(RigorousSoftmax, WidthShrinksWithPrecisionAsPromised) {
  Random random(52);
  Instance instance = normal_instance(random, 5, 30, 10, 1);
  instance.v = instance.v.cwiseAbs();
  instance.q *= 100.0;
  const double largest = (instance.q * instance.k.transpose() * instance.scale).cwiseAbs().maxCoeff();
  for (const int bits : {53, 60, 70, 80}) {
    for (const LogEnclosure& e : log_softmax_enclosures(instance, bits, kOneThread)) {
      const double rounding = std::nextafter(std::fabs(e.log_low), kInfinity) - std::fabs(e.log_low);
      EXPECT_LE(e.log_high - e.log_low, std::ldexp(1.0 + largest, 40 - bits) + 2 * rounding) << bits;
    }
  }
}

TEST(RigorousSoftmax, AstronomicalLogitsGiveWideEnclosuresThatHold) {
  // At 128 bits 1e300 - 1e300 (1 - 2^-52) is still exact, and e^-(2e284) is not a number even here.
  const LogEnclosure e = log_softmax_enclosures(two_keys(1e300 * (1 - 0x1p-52), 1e300), 128).front();
  const double difference = 1e300 * (1 - 0x1p-52) - 1e300;
  EXPECT_LE(e.log_low, difference);
  EXPECT_GE(e.log_high, difference);
}

TEST(RigorousSoftmax, EdgesOfShapeAndValue) {
  Random random(53);
  // No positive value: u = 0.
  Instance zero = normal_instance(random, 3, 4, 2, 1);
  zero.v.setZero();
  for (const LogEnclosure& e : log_softmax_enclosures(zero)) {
    EXPECT_EQ(e.log_low, -kInfinity);
    EXPECT_EQ(e.log_high, -kInfinity);
  }
  // A single key, and equal values: exactly the logarithm of the value.
  Instance single = normal_instance(random, 3, 1, 2, 2);
  single.v.setConstant(1.0);
  for (const LogEnclosure& e : log_softmax_enclosures(single)) EXPECT_TRUE(e.log_low == 0.0 && e.log_high == 0.0);
  // d = 0: the mean, here (1 + 0 + 0 + 0) / 4.
  Instance flat = normal_instance(random, 2, 4, 0, 1);
  flat.v << 1, 0, 0, 0;
  for (const LogEnclosure& e : log_softmax_enclosures(flat)) {
    EXPECT_LE(e.log_low, -std::log(4.0));
    EXPECT_GE(e.log_high, -std::log(4.0));
    EXPECT_LE(e.log_high - e.log_low, 1e-15);
  }
  Instance no_rows = normal_instance(random, 0, 3, 2, 1);
  no_rows.v.setOnes();
  EXPECT_TRUE(log_softmax_enclosures(no_rows).empty());
}

TEST(RigorousSoftmax, ResultDoesNotDependOnThreads) {
  Random random(54);
  Instance instance = normal_instance(random, 20, 10, 3, 1);
  instance.v = instance.v.cwiseAbs();
  EXPECT_EQ(log_softmax_enclosures(instance, 128, {.threads = 1}),
            log_softmax_enclosures(instance, 128, {.threads = 3}));
}

TEST(RigorousSoftmax, RefusesBadArguments) {
  const Instance instance = two_keys(0, 1);
  expect_error(ErrorKind::parameter, [&] { log_softmax_enclosures(instance, 52); });
  expect_error(ErrorKind::parameter, [&] { log_softmax_enclosures(instance, 100'001); });
  Instance bad = instance;
  bad.v(1, 0) = -0x1p-1074;
  expect_error(ErrorKind::parameter, [&] { log_softmax_enclosures(bad); });
  bad = instance;
  bad.v.resize(2, 0);
  expect_error(ErrorKind::parameter, [&] { log_softmax_enclosures(bad); });
  bad = instance;
  bad.v.setOnes(3, 1);
  expect_error(ErrorKind::parameter, [&] { log_softmax_enclosures(bad); });
  bad = instance;
  bad.k.resize(0, 1);
  bad.v.resize(0, 1);
  expect_error(ErrorKind::parameter, [&] { log_softmax_enclosures(bad); });
  bad = instance;
  bad.q(0, 0) = kInfinity;
  expect_error(ErrorKind::parameter, [&] { log_softmax_enclosures(bad); });
}

TEST(RigorousSoftmax, StopsOnRequest) {
  const std::atomic<bool> stop{true};
  expect_error(ErrorKind::interrupted, [&] {
    log_softmax_enclosures(two_keys(0, 1), 128, {.threads = 1, .stop = &stop, .progress = nullptr});
  });
}

// Planted faults: enclosures as a sloppy oracle would give them must be seen to miss.
TEST(RigorousSoftmax, ContainmentTestCatchesPlantedFaults) {
  Random random(55);
  Instance instance = normal_instance(random, 20, 12, 4, 1);
  instance.v = instance.v.cwiseAbs();
  const std::vector<LogEnclosure> right = log_softmax_enclosures(instance, 128, kOneThread);
  ASSERT_EQ(rows_outside(instance, right), 0);
  // Rounded to the nearest double instead of outward.
  std::vector<LogEnclosure> nearest = right;
  for (LogEnclosure& e : nearest) e.log_high = e.log_low;
  EXPECT_EQ(rows_outside(instance, nearest), 20);
  // One key forgotten.
  Instance dropped = instance;
  dropped.k.conservativeResize(11, Eigen::NoChange);
  dropped.v.conservativeResize(11, Eigen::NoChange);
  EXPECT_EQ(rows_outside(instance, log_softmax_enclosures(dropped, 128, kOneThread)), 20);
}

}  // namespace
