// The exact backward kernel against the closed form and against finite differences, on every SIMD target.
#include "attention_hundred_digits.hpp"
#include "backward_support.hpp"
#include "expect_error.hpp"

#include <subquad/attention/streaming_softmax.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/stopwatch.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

using namespace subquad::test;
using subquad::ErrorKind;
using subquad::Execution;
using subquad::Random;
using subquad::attention::streaming_softmax_backward;
using subquad::problems::AttentionMask;
using subquad::problems::MatrixD;
using subquad::problems::MatrixF;
using subquad::problems::RowMajorMatrix;

class StreamingSoftmaxBackward : public EveryTarget {};
INSTANTIATE_TEST_SUITE_P(Targets, StreamingSoftmaxBackward, ::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         target_name);

TEST_P(StreamingSoftmaxBackward, HandCheckedExample) {
  // Logits 0 and ln 3: P = (1/4, 3/4), O = 6. <G, V> - <G, O> = (-6, 2), so dS = (-3/2, 3/2).
  for_each_arithmetic([](auto scalar) {
    using Scalar = decltype(scalar);
    using Matrix = RowMajorMatrix<Scalar>;
    BackwardInput<Matrix> x{Matrix(1, 1), Matrix(2, 1), Matrix(2, 1), Matrix(1, 1)};
    x.q << Scalar(1);
    x.k << Scalar(0), static_cast<Scalar>(std::log(3.0));
    x.v << Scalar(0), Scalar(8);
    x.g << Scalar(1);
    const auto gradients = backward(x, 1.0);
    const double tolerance = 32 * static_cast<double>(std::numeric_limits<Scalar>::epsilon());
    EXPECT_NEAR(static_cast<double>(gradients.q(0, 0)), 1.5 * std::log(3.0), tolerance);
    EXPECT_NEAR(static_cast<double>(gradients.k(0, 0)), -1.5, tolerance);
    EXPECT_NEAR(static_cast<double>(gradients.k(1, 0)), 1.5, tolerance);
    EXPECT_NEAR(static_cast<double>(gradients.v(0, 0)), 0.25, tolerance);
    EXPECT_NEAR(static_cast<double>(gradients.v(1, 0)), 0.75, tolerance);
  });
}

TEST_P(StreamingSoftmaxBackward, MatchesTheClosedFormAroundEveryTileBoundary) {
  // Tiles of 128 queries and 192 keys, register tiles of 4 or 8 rows, panels of 3 to 48 keys and of 1 to 3 vectors of
  // columns, depth blocks of 256 coordinates.
  struct Case {
    Shape shape;
    AttentionMask mask;
  };
  const AttentionMask all = AttentionMask::none();
  const auto causal = [](std::uint64_t offset) { return AttentionMask::lower_triangle(offset); };
  const Case cases[] = {{{1, 1, 1, 1}, all},           {{1, 2, 1, 1}, all},          {{2, 1, 3, 2}, all},
                        {{5, 3, 0, 2}, all},           {{7, 9, 2, 1}, all},          {{8, 48, 16, 16}, all},
                        {{9, 49, 17, 15}, all},        {{127, 20, 4, 1}, all},       {{128, 20, 3, 2}, all},
                        {{129, 20, 4, 3}, all},        {{4, 191, 8, 1}, all},        {{4, 192, 8, 2}, all},
                        {{4, 193, 8, 1}, all},         {{260, 390, 5, 4}, all},      {{3, 20, 33, 31}, all},
                        {{3, 20, 48, 47}, all},        {{3, 20, 49, 97}, all},       {{2, 30, 257, 3}, all},
                        {{2, 30, 3, 257}, all},        {{3, 29, 64, 64}, all},       {{5, 5, 2, 2}, causal(0)},
                        {{130, 130, 3, 2}, causal(0)}, {{70, 260, 3, 2}, causal(0)}, {{200, 20, 3, 2}, causal(0)},
                        {{4, 400, 3, 2}, causal(190)}, {{5, 60, 3, 2}, causal(45)},  {{130, 400, 2, 2}, causal(189)},
                        {{3, 40, 2, 2}, causal(1000)}};
  for_each_arithmetic([&](auto scalar) {
    using Scalar = decltype(scalar);
    using Matrix = RowMajorMatrix<Scalar>;
    // Made once for all targets.
    static const std::vector<std::pair<BackwardInput<Matrix>, GradientsReference>> made = [&cases] {
      Random random(51);
      std::vector<std::pair<BackwardInput<Matrix>, GradientsReference>> all_cases;
      for (const Case& c : cases) {
        const auto x = random_backward<Scalar>(random, c.shape, 1.5);
        all_cases.emplace_back(x, reference_of(x, 0.4, c.mask));
      }
      return all_cases;
    }();
    for (std::size_t i = 0; i < made.size(); ++i) {
      const Case& c = cases[i];
      EXPECT_LE(gradient_error_ratio(backward(made[i].first, 0.4, c.mask), made[i].second), 1)
          << sizeof(Scalar) << " n " << c.shape.n << " n_k " << c.shape.n_k << " d " << c.shape.d << " d_v "
          << c.shape.d_v << " offset " << c.mask.offset;
    }
  });
}

TEST_P(StreamingSoftmaxBackward, MatchesTheClosedFormOnRandomShapes) {
  rc::check([] {
    const Shape s{*rc::gen::inRange<Eigen::Index>(1, 20), *rc::gen::inRange<Eigen::Index>(1, 230),
                  *rc::gen::inRange<Eigen::Index>(0, 9), *rc::gen::inRange<Eigen::Index>(1, 9)};
    const AttentionMask mask{*rc::gen::arbitrary<bool>(), *rc::gen::inRange<std::uint64_t>(0, 240)};
    const double scale = *rc::gen::element(-1.0, 0.0, 0.1, 0.7);
    Random random(*rc::gen::arbitrary<std::uint64_t>());
    const auto x = random_backward<float>(random, s, 1.5);
    RC_ASSERT(gradient_error_ratio(backward(x, scale, mask), reference_of(x, scale, mask)) <= 1);
    const auto y = random_backward<double>(random, s, 1.5);
    RC_ASSERT(gradient_error_ratio(backward(y, scale, mask), reference_of(y, scale, mask)) <= 1);
  });
}

TEST_P(StreamingSoftmaxBackward, RangesThatDoNotFitTheBudgetAreJoined) {
  // 16 MiB hold one block of 128 queries or 192 keys of 4100 coordinates in float64: two ranges of each. All but three
  // coordinates are 0, so the closed form needs only these.
  Random random(52);
  const auto narrow = random_backward<double>(random, {131, 200, 3, 2}, 2.0);
  BackwardInput<MatrixD> wide{MatrixD::Zero(131, 4100), MatrixD::Zero(200, 4100), narrow.v, narrow.g};
  constexpr Eigen::Index kPlaces[] = {0, 2000, 4099};
  for (Eigen::Index c = 0; c < 3; ++c) {
    wide.q.col(kPlaces[c]) = narrow.q.col(c);
    wide.k.col(kPlaces[c]) = narrow.k.col(c);
  }
  const auto gradients = backward(wide, 0.5);
  Gradients<MatrixD> kept{MatrixD(131, 3), MatrixD(200, 3), gradients.v};
  for (Eigen::Index c = 0; c < 3; ++c) {
    kept.q.col(c) = gradients.q.col(kPlaces[c]);
    kept.k.col(c) = gradients.k.col(kPlaces[c]);
  }
  EXPECT_LE(gradient_error_ratio(kept, reference_of(narrow, 0.5)), 1);
}

TEST_P(StreamingSoftmaxBackward, BitsDependNeitherOnThreadsNorOnTheRunNorOnWhoRanTheForwardKernel) {
  for_each_arithmetic([](auto scalar) {
    using Scalar = decltype(scalar);
    using Matrix = RowMajorMatrix<Scalar>;
    Random random(53);
    // Many query blocks and few key blocks, the other way round, and about as many of both; with private sums in each.
    for (const Shape& s : {Shape{700, 100, 9, 5}, Shape{90, 1300, 9, 5}, Shape{500, 600, 3, 2}}) {
      for (const AttentionMask& mask : {AttentionMask::none(), AttentionMask::lower_triangle(40)}) {
        const auto x = random_backward<Scalar>(random, s, 1.5);
        const auto one = backward(x, 0.3, mask, 1);
        for (const int threads : {1, 2, 3, 7}) {
          EXPECT_TRUE(identical_gradients<Matrix>(backward(x, 0.3, mask, threads), one)) << threads;
        }
        Matrix output(s.n, s.d_v);
        std::vector<double> log_sum_exp(static_cast<std::size_t>(s.n));
        const auto factor = static_cast<Scalar>(0.3);
        subquad::attention::streaming_softmax_into(x.q, x.k, x.v, factor, {}, output, mask, log_sum_exp);
        const auto saved = streaming_softmax_backward(x.q, x.k, x.v, x.g, output, log_sum_exp, factor, mask, {});
        EXPECT_TRUE(identical_gradients<Matrix>(saved, one));
      }
    }
  });
}

TEST_P(StreamingSoftmaxBackward, IsLinearInTheUpstreamGradientAndZeroForAConstant) {
  for_each_arithmetic([](auto scalar) {
    using Scalar = decltype(scalar);
    using Matrix = RowMajorMatrix<Scalar>;
    Random random(54);
    auto x = random_backward<Scalar>(random, {150, 210, 7, 3}, 1.5);
    const auto once = backward(x, 0.5);
    x.g *= Scalar(8);  // a power of two: exact
    const auto more = backward(x, 0.5);
    EXPECT_TRUE(identical<Matrix>(more.q, once.q * Scalar(8)));
    EXPECT_TRUE(identical<Matrix>(more.k, once.k * Scalar(8)));
    EXPECT_TRUE(identical<Matrix>(more.v, once.v * Scalar(8)));
    x.g.setZero();  // phi does not depend on the output
    const auto zero = backward(x, 0.5);
    EXPECT_TRUE((zero.q.array() == 0).all() && (zero.k.array() == 0).all() && (zero.v.array() == 0).all());
    // Equal values: the output is constant in q and k. The closed form's own dS is 0, so only rounding may remain.
    x.g = random_matrix<Matrix>(random, 150, 3, 1.0);
    x.v = random_matrix<Matrix>(random, 1, 3, 1.0).replicate(210, 1);
    const auto flat = backward(x, 0.5);
    const GradientsReference reference = reference_of(x, 0.5);
    EXPECT_LE(max_abs_error(flat.q, MatrixL::Zero(150, 7)), reference.tolerance.q.maxCoeff());
    EXPECT_LE(reference.tolerance.q.maxCoeff(), sizeof(Scalar) == 4 ? 1e-3L : 1e-11L);
    EXPECT_LE(gradient_error_ratio(flat, reference), 1);
  });
}

TEST_P(StreamingSoftmaxBackward, RowsOfDsSumToZero) {
  // A column of ones in K makes the same column of dQ equal to scale sum_j dS_ij.
  for_each_arithmetic([](auto scalar) {
    using Scalar = decltype(scalar);
    Random random(55);
    auto x = random_backward<Scalar>(random, {140, 300, 4, 6}, 1.5);
    x.k.col(2).setOnes();
    const auto gradients = backward(x, 0.5, AttentionMask::lower_triangle(100));
    const GradientsReference reference = reference_of(x, 0.5, AttentionMask::lower_triangle(100));
    EXPECT_LE(max_error_ratio(gradients.q.col(2), MatrixL::Zero(140, 1), reference.tolerance.q.col(2)), 1);
    EXPECT_LE(reference.tolerance.q.col(2).maxCoeff(), sizeof(Scalar) == 4 ? 1e-3L : 1e-11L);
  });
}

TEST_P(StreamingSoftmaxBackward, EdgesOfShape) {
  for_each_arithmetic([](auto scalar) {
    using Scalar = decltype(scalar);
    using Matrix = RowMajorMatrix<Scalar>;
    Random random(56);
    const auto no_queries = backward<Matrix>({Matrix(0, 4), Matrix::Ones(3, 4), Matrix::Ones(3, 2), Matrix(0, 2)}, 1.0);
    EXPECT_EQ(no_queries.q.rows(), 0);
    EXPECT_TRUE(identical<Matrix>(no_queries.k, Matrix::Zero(3, 4)) &&
                identical<Matrix>(no_queries.v, Matrix::Zero(3, 2)));
    const auto nothing = backward<Matrix>({Matrix(0, 4), Matrix(0, 4), Matrix(0, 2), Matrix(0, 2)}, 1.0);
    EXPECT_EQ(nothing.k.rows(), 0);
    const auto no_values = backward<Matrix>({Matrix::Ones(5, 4), Matrix::Ones(3, 4), Matrix(3, 0), Matrix(5, 0)}, 1.0);
    EXPECT_TRUE(identical<Matrix>(no_values.q, Matrix::Zero(5, 4)) &&
                identical<Matrix>(no_values.k, Matrix::Zero(3, 4)));
    // No coordinates: uniform weights. Small integers, so that 1/4 of their sums is exact.
    Matrix g(6, 2);
    for (Eigen::Index e = 0; e < g.size(); ++e) g.data()[e] = static_cast<Scalar>(random.below(100));
    const auto uniform = backward<Matrix>({Matrix(6, 0), Matrix(4, 0), Matrix::Ones(4, 2), g}, 1.0);
    EXPECT_TRUE(identical<Matrix>(uniform.v, (g.colwise().sum() / Scalar(4)).replicate(4, 1)));
    // One key: its weight is exactly 1.
    const auto one = backward<Matrix>({Matrix::Ones(6, 3), Matrix::Ones(1, 3), Matrix::Ones(1, 2), g}, 0.7);
    EXPECT_TRUE(identical<Matrix>(one.v, g.colwise().sum()));
  });
}

TEST(StreamingSoftmaxBackwardInterface, ViewsAreReadAndBadShapesAreErrors) {
  Random random(57);
  const auto x = random_backward<double>(random, {6, 50, 4, 3}, 1.0);
  const MatrixD q = x.q.middleCols(1, 2), k = x.k.middleCols(1, 2), v = x.v.leftCols(2), g = x.g.rightCols(2);
  EXPECT_TRUE(identical_gradients<MatrixD>(
      streaming_softmax_backward(x.q.middleCols(1, 2), x.k.middleCols(1, 2), x.v.leftCols(2), x.g.rightCols(2), 0.5),
      streaming_softmax_backward(q, k, v, g, 0.5)));
  const auto zero = [](Eigen::Index rows, Eigen::Index cols) { return MatrixD(MatrixD::Zero(rows, cols)); };
  expect_error(ErrorKind::parameter, "Q is 2 x 3, K 4 x 2",
               [&] { streaming_softmax_backward(zero(2, 3), zero(4, 2), zero(4, 1), zero(2, 1), 1.0); });
  expect_error(ErrorKind::parameter, "upstream gradient is 4 x 1, expected 2 x 1",
               [&] { streaming_softmax_backward(zero(2, 3), zero(4, 3), zero(4, 1), zero(4, 1), 1.0); });
  expect_error(ErrorKind::parameter, "no key",
               [&] { streaming_softmax_backward(zero(2, 3), zero(0, 3), zero(0, 1), zero(2, 1), 1.0); });
  const std::vector<double> saved{0.0, std::numeric_limits<double>::quiet_NaN()};
  expect_error(ErrorKind::parameter, "log-sum-exp 1 of head 0 is nan", [&] {
    streaming_softmax_backward(zero(2, 3), zero(4, 3), zero(4, 1), zero(2, 1), zero(2, 1), saved, 1.0);
  });
  expect_error(ErrorKind::parameter, "2 log-sum-exps, expected 3 x 1 with 3", [&] {
    streaming_softmax_backward(zero(3, 3), zero(4, 3), zero(4, 1), zero(3, 1), zero(3, 1), saved, 1.0);
  });
}

class CountingSink : public subquad::ProgressSink {
 public:
  void begin(std::string_view name, std::uint64_t total) override {
    if (name == "attention gradients") total_ = total, done_ = 0;
  }
  void advance(std::uint64_t units) override { done_ += units; }
  void end() override {}
  std::uint64_t total_ = 0;
  std::atomic<std::uint64_t> done_{0};
};

TEST(StreamingSoftmaxBackwardInterface, ReportsProgressAndStops) {
  Random random(58);
  const auto x = random_backward<double>(random, {300, 400, 4, 1}, 1.0);
  CountingSink sink;
  std::atomic<bool> stop{false};
  Execution execution;
  execution.progress = &sink;
  execution.stop = &stop;
  streaming_softmax_backward(x.q, x.k, x.v, x.g, 1.0, AttentionMask::lower_triangle(), execution);
  EXPECT_EQ(sink.total_, 9U);  // 3 x 3 blocks, seen or not
  EXPECT_EQ(sink.done_, 9U);
  stop = true;
  expect_error(ErrorKind::interrupted,
               [&] { streaming_softmax_backward(x.q, x.k, x.v, x.g, 1.0, AttentionMask::none(), execution); });
}

TEST(StreamingSoftmaxBackwardInterface, NeverHoldsAMatrixOfAllPairs) {
  // n = 16384, d = 64: all pairs in float32 would be 1 GiB. The triangle takes the same memory as the square.
  Random random(59);
  const auto x = random_backward<float>(random, {16384, 16384, 64, 64}, 1.0);
  const std::uint64_t matrix = std::uint64_t{16384} * 64 * sizeof(float);
  const std::uint64_t before = subquad::peak_memory_bytes();
  const auto gradients =
      streaming_softmax_backward(x.q, x.k, x.v, x.g, 0.125F, AttentionMask::lower_triangle(), Execution{});
  EXPECT_LE(subquad::peak_memory_bytes(), before + 4 * matrix + (std::uint64_t{64} << 20));
  EXPECT_TRUE(gradients.q.allFinite() && gradients.k.allFinite() && gradients.v.allFinite());
}

// Finite differences of phi = <G, O> to a hundred digits. With h = 1e-30 the central difference is off by O(h^2).

using Digits = Digits100;

Digits phi(const BackwardInput<MatrixD>& x, double scale, const AttentionMask& mask, char which, Eigen::Index row,
           Eigen::Index column, const Digits& step, Eigen::Index first_query, Eigen::Index last_query) {
  const auto entry = [&](char name, const MatrixD& m, Eigen::Index i, Eigen::Index c) {
    return Digits(m(i, c)) + (name == which && i == row && c == column ? step : Digits(0));
  };
  Digits total = 0;
  for (Eigen::Index i = first_query; i < last_query; ++i) {
    Digits weights = 0, weighted = 0;
    const auto seen =
        static_cast<Eigen::Index>(mask.visible(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(x.k.rows())));
    for (Eigen::Index j = 0; j < seen; ++j) {
      Digits logit = 0, product = 0;
      for (Eigen::Index c = 0; c < x.q.cols(); ++c) logit += entry('q', x.q, i, c) * entry('k', x.k, j, c);
      for (Eigen::Index c = 0; c < x.v.cols(); ++c) product += Digits(x.g(i, c)) * entry('v', x.v, j, c);
      const Digits weight = exp(Digits(Digits(scale) * logit));
      weights += weight;
      weighted += weight * product;
    }
    total += weighted / weights;
  }
  return total;
}

/// Compares entry (row, column) of one gradient: the closed form in long double, and the float64 kernel.
void expect_difference_quotient(const BackwardInput<MatrixD>& x, double scale, const AttentionMask& mask, char which,
                                Eigen::Index row, Eigen::Index column, const GradientsReference& reference,
                                const Gradients<MatrixD>& computed) {
  const Digits step("1e-30");
  const Eigen::Index first = which == 'q' ? row : 0, last = which == 'q' ? row + 1 : x.q.rows();
  const Digits up = phi(x, scale, mask, which, row, column, step, first, last);
  const Digits down = phi(x, scale, mask, which, row, column, -step, first, last);
  const auto quotient = Digits((up - down) / (2 * step)).convert_to<long double>();
  const auto pick = [&](const auto& m) -> long double {
    return static_cast<long double>(which == 'q'   ? m.q(row, column)
                                    : which == 'k' ? m.k(row, column)
                                                   : m.v(row, column));
  };
  EXPECT_LE(std::fabs(pick(reference.value) - quotient), 0.01L * pick(reference.tolerance))
      << which << row << "," << column;
  EXPECT_LE(std::fabs(pick(computed) - quotient), 1.01L * pick(reference.tolerance)) << which << row << "," << column;
}

TEST(FiniteDifferences, EveryEntryOfASmallCase) {
  Random random(60);
  for (const AttentionMask& mask : {AttentionMask::none(), AttentionMask::lower_triangle(2)}) {
    const auto x = random_backward<double>(random, {4, 6, 3, 2}, 1.5);
    const GradientsReference reference = reference_of(x, 0.8, mask);
    const auto computed = backward(x, 0.8, mask);
    for (Eigen::Index c = 0; c < 3; ++c) {
      for (Eigen::Index i = 0; i < 4; ++i) expect_difference_quotient(x, 0.8, mask, 'q', i, c, reference, computed);
      for (Eigen::Index j = 0; j < 6; ++j) {
        expect_difference_quotient(x, 0.8, mask, 'k', j, c, reference, computed);
        if (c < 2) expect_difference_quotient(x, 0.8, mask, 'v', j, c, reference, computed);
      }
    }
  }
}

TEST(FiniteDifferences, EntriesOfA64By64Case) {
  Random random(61);
  const auto x = random_backward<double>(random, {64, 64, 5, 4}, 1.0);
  const AttentionMask mask = AttentionMask::lower_triangle();
  const GradientsReference reference = reference_of(x, 0.5, mask);
  const auto computed = backward(x, 0.5, mask);
  for (const Eigen::Index i : {0, 1, 40, 63}) expect_difference_quotient(x, 0.5, mask, 'q', i, 4, reference, computed);
  for (const Eigen::Index j : {0, 33}) {
    expect_difference_quotient(x, 0.5, mask, 'k', j, 2, reference, computed);
    expect_difference_quotient(x, 0.5, mask, 'v', j, 3, reference, computed);
  }
}

}  // namespace
