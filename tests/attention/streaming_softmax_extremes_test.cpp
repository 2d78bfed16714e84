// Streaming softmax at the ends of the number range, the accuracy of its weights, and faults that its tests must catch.
#include "every_target.hpp"
#include "max_abs_error.hpp"
#include "softmax_reference.hpp"

#include <subquad/attention/streaming_softmax.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace {

using namespace subquad::test;
using subquad::Random;
using subquad::problems::MatrixD;
using subquad::problems::MatrixF;

class StreamingSoftmaxExtremes : public EveryTarget {};
INSTANTIATE_TEST_SUITE_P(Targets, StreamingSoftmaxExtremes, ::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         target_name);

TEST_P(StreamingSoftmaxExtremes, WeightsAreAccurateToAFewUlp) {
  // Two keys with logits 0 and x ln 2 and values 0 and 1: the output is 2^x / (1 + 2^x). The scale ln 2 makes the
  // kernel's base-2 factor exactly 1, so x reaches the exponential unrounded.
  // 1 ulp = 2 u; the sum and the quotient add u each.
  for_each_mode([](auto mode) {
    using Mode = decltype(mode);
    using T = typename Mode::Arithmetic;
    using Matrix = typename Mode::Matrix;
    constexpr long double u = std::numeric_limits<T>::epsilon() / 2.0L;
    const double lowest = sizeof(T) == 4 ? -125 : -1021;
    Random random(21);
    long double worst = 0;
    for (int trial = 0; trial < 3000; ++trial) {
      const double t = trial % 3 == 0   ? -random.unit()
                       : trial % 3 == 1 ? lowest * random.unit()
                                        : -std::exp2(-60 * random.unit());
      const auto x = static_cast<typename Matrix::Scalar>(static_cast<T>(t));
      Input<Matrix> input{Matrix::Ones(1, 1), Matrix::Zero(2, 1), Matrix::Zero(2, 1)};
      input.k(1, 0) = x;
      input.v(1, 0) = 1;
      const long double weight = std::exp2(static_cast<long double>(x));
      const long double output = attend<Mode>(input, std::numbers::ln2)(0, 0);
      const long double error = std::fabs(output - weight / (1 + weight)) / (weight / (1 + weight));
      worst = larger_error(worst, error);
    }
    EXPECT_LE(worst, 5 * u) << Mode::kName;
  });
}

TEST_P(StreamingSoftmaxExtremes, LogitsOfTenThousandAndFarBeyondSelectTheLargest) {
  for_each_mode([](auto mode) {
    using Mode = decltype(mode);
    using Matrix = typename Mode::Matrix;
    using Scalar = typename Matrix::Scalar;
    // Float32 itself reaches 1e38; products of 1e60 take the wide loop, as do entries beyond float32 held in doubles.
    std::vector<double> sizes{1e2, 1e4, 1e10, 1e18, 1e30, 1e37};
    if (!std::is_same_v<Scalar, float>) sizes.insert(sizes.end(), {1e60, 1e150, 1e200, 1e307});
    for (const double size : sizes) {
      for (const double sign : {1.0, -1.0}) {
        for (const Eigen::Index d_v : {1, 5}) {
          Random random(22);
          auto x = random_input<Matrix>(random, {3, 250, 2, d_v}, 1.0);
          x.v = x.v.template cast<float>().template cast<Scalar>();
          x.q.setConstant(static_cast<Scalar>(sign * size));
          x.k.setConstant(static_cast<Scalar>(-sign * size));
          x.k.row(201).setConstant(static_cast<Scalar>(sign * size));
          EXPECT_TRUE(identical<Matrix>(attend<Mode>(x, 1.0), x.v.row(201).replicate(3, 1)))
              << Mode::kName << " " << size;
          x.k.row(7) = x.k.row(201);
          const Matrix two = attend<Mode>(x, 1.0);
          const MatrixL mean =
              (x.v.row(7).template cast<long double>() + x.v.row(201).template cast<long double>()) / 2;
          EXPECT_LE(max_abs_error(two, mean.replicate(3, 1)), 1e-7L) << Mode::kName << " " << size;
        }
      }
    }
  });
}

TEST_P(StreamingSoftmaxExtremes, DifferencesOfOneAtTenThousandAreStillSeen) {
  // Logits 9999 and 10000: the weights are 1/(1+e) and e/(1+e), whatever is common to both.
  for_each_mode([](auto mode) {
    using Mode = decltype(mode);
    using Matrix = typename Mode::Matrix;
    using Scalar = typename Matrix::Scalar;
    for (const double sign : {1.0, -1.0}) {
      Input<Matrix> x{Matrix(1, 1), Matrix(2, 1), Matrix(2, 1)};
      x.q << Scalar(100);
      x.k << static_cast<Scalar>(sign * 100), static_cast<Scalar>(sign * 100 - 0.01);
      x.v << Scalar(1), Scalar(0);
      const SoftmaxReference reference =
          softmax_reference(x.q, x.k, x.v, 1.0L, streaming_arithmetic<typename Mode::Arithmetic>(2));
      EXPECT_LE(reference.tolerance(0, 0), 0.01L);
      EXPECT_LE(max_error_ratio(attend<Mode>(x, 1.0), reference.output, reference.tolerance), 1) << Mode::kName;
    }
  });
}

TEST_P(StreamingSoftmaxExtremes, ValuesNearTheLargestNumberHaveAFiniteMean) {
  for_each_mode([](auto mode) {
    using Mode = decltype(mode);
    using Matrix = typename Mode::Matrix;
    using Scalar = typename Matrix::Scalar;
    for (const Eigen::Index d_v : {1, 3}) {
      Input<Matrix> x{Matrix::Zero(2, 3), Matrix::Ones(1000, 3), Matrix(1000, d_v)};
      x.v.setConstant(std::numeric_limits<Scalar>::max());
      EXPECT_LE(max_error_ratio(attend<Mode>(x, 1.0), x.v.topRows(2), x.v.topRows(2) * Scalar(1e-6)), 1) << Mode::kName;
    }
  });
}

TEST_P(StreamingSoftmaxExtremes, FiniteInputNeverGivesNaNNorLeavesTheHullOfTheValues) {
  rc::check([] {
    Random random(*rc::gen::arbitrary<std::uint64_t>());
    for_each_mode([&](auto mode) {
      using Mode = decltype(mode);
      using Matrix = typename Mode::Matrix;
      using Scalar = typename Matrix::Scalar;
      constexpr Scalar kMax = std::numeric_limits<Scalar>::max();
      const auto entry = [&]() -> Scalar {
        const Scalar sign = random.bernoulli(0.5) ? Scalar(1) : Scalar(-1);
        switch (random.below(8)) {
          case 0:
            return 0;
          case 1:
            return sign * std::numeric_limits<Scalar>::denorm_min();
          case 2:
            return sign * std::numeric_limits<Scalar>::min();
          case 3:
            return sign * Scalar(1e18);
          case 4:
            return sign * (random.bernoulli(0.2) ? kMax : Scalar(1));
          case 5:
            return sign * Scalar(1e4);
          default:
            return sign * static_cast<Scalar>(random.unit());
        }
      };
      const auto matrix = [&](Eigen::Index rows, Eigen::Index cols) {
        Matrix m(rows, cols);
        for (Eigen::Index e = 0; e < m.size(); ++e) m.data()[e] = entry();
        return m;
      };
      const auto n_k = static_cast<Eigen::Index>(1 + random.below(60)), d = static_cast<Eigen::Index>(random.below(5));
      const Input<Matrix> x{matrix(4, d), matrix(n_k, d), matrix(n_k, 2)};
      constexpr double kScales[] = {1.0, -1.0, 0.0, 1e30, -1e-30};
      const Matrix output = attend<Mode>(x, kScales[random.below(5)]);
      RC_ASSERT(output.array().isFinite().all());
      for (Eigen::Index c = 0; c < 2; ++c) {
        const long double low = x.v.col(c).minCoeff(), high = x.v.col(c).maxCoeff();
        // Rounding, and values that the arithmetic holds as subnormal numbers or as 0.
        const long double slack = 1e-5L * x.v.col(c).cwiseAbs().maxCoeff() +
                                  200 * std::numeric_limits<typename Mode::Arithmetic>::denorm_min();
        RC_ASSERT(output.col(c).minCoeff() >= low - slack);
        RC_ASSERT(output.col(c).maxCoeff() <= high + slack);
      }
    });
  });
}

// Planted faults: what a wrong kernel would do, and the comparison that the tests above use must say no.

struct PlantedFault : ::testing::Test {
  Random random{23};
  Input<MatrixD> x = random_input<MatrixD>(random, {20, 400, 16, 3}, 2.0);
  double scale = 0.25;
  SoftmaxReference in_f32 = softmax_reference(x.q, x.k, x.v, scale, streaming_arithmetic<float>(400));
  SoftmaxReference in_f64 = softmax_reference(x.q, x.k, x.v, scale, streaming_arithmetic<double>(400));
};

TEST_F(PlantedFault, TheHonestKernelPasses) {
  EXPECT_LE(max_error_ratio(attend<Float32OnDoubles>(x, scale), in_f32.output, in_f32.tolerance), 1);
  EXPECT_LE(max_error_ratio(attend<Float64>(x, scale), in_f64.output, in_f64.tolerance), 1);
}

TEST_F(PlantedFault, ADroppedKeyIsCaught) {
  for (const Eigen::Index dropped : {0, 191, 192, 399}) {
    Input<MatrixD> fewer{x.q, MatrixD(399, 16), MatrixD(399, 3)};
    fewer.k << x.k.topRows(dropped), x.k.bottomRows(399 - dropped);
    fewer.v << x.v.topRows(dropped), x.v.bottomRows(399 - dropped);
    EXPECT_FALSE(max_error_ratio(attend<Float32OnDoubles>(fewer, scale), in_f32.output, in_f32.tolerance) <= 1);
    EXPECT_FALSE(max_error_ratio(attend<Float64>(fewer, scale), in_f64.output, in_f64.tolerance) <= 1);
  }
}

TEST_F(PlantedFault, AShiftedRowIsCaught) {
  MatrixD output = attend<Float64>(x, scale);
  output.row(19).array() += 0.6;
  EXPECT_FALSE(max_error_ratio(output, in_f64.output, in_f64.tolerance) <= 1);
  EXPECT_FALSE(max_error_ratio(output, in_f32.output, in_f32.tolerance) <= 1);
}

TEST_F(PlantedFault, AKernelWithoutRowMaxSubtractionGivesNaNAndIsCaught) {
  x.q *= 1000;
  const MatrixD weights = (scale * x.q * x.k.transpose()).array().exp();
  const MatrixD output = (weights * x.v).array().colwise() / weights.rowwise().sum().array();
  EXPECT_TRUE(output.array().isNaN().any());
  const MatrixD expected = attend<Float64>(x, scale);
  EXPECT_FALSE(max_abs_error(output, expected) <= std::numeric_limits<long double>::infinity());
}

TEST_F(PlantedFault, Float32PassedOffAsFloat64IsCaught) {
  EXPECT_FALSE(max_error_ratio(attend<Float32OnDoubles>(x, scale), in_f64.output, in_f64.tolerance) <= 1);
}

TEST_F(PlantedFault, AnUnwrittenEntryIsCaught) {
  MatrixD output = attend<Float64>(x, scale);
  output(7, 1) = std::numeric_limits<double>::quiet_NaN();  // the poison that attend() puts there
  EXPECT_FALSE(max_error_ratio(output, in_f64.output, in_f64.tolerance) <= 1);
}

}  // namespace
