// Streaming softmax under causal masks, and its log-sum-exps, on every SIMD target.
#include "every_target.hpp"
#include "expect_error.hpp"
#include "max_abs_error.hpp"
#include "softmax_reference.hpp"

#include <subquad/attention/streaming_softmax.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/stopwatch.hpp>
#include <subquad/problems/attention_mask.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

namespace {

using namespace subquad::test;
using subquad::ErrorKind;
using subquad::Execution;
using subquad::Random;
using subquad::problems::AttentionMask;
using subquad::problems::MatrixD;
using subquad::problems::MatrixF;

template <class Matrix>
struct Result {
  Matrix output;
  std::vector<double> log_sum_exp;
};

void call(Float32, const Input<MatrixF>& x, double scale, const Execution& execution, Eigen::Ref<MatrixF> output,
          const AttentionMask& mask, std::span<double> log_sum_exp) {
  subquad::attention::streaming_softmax_into(x.q, x.k, x.v, static_cast<float>(scale), execution, output, mask,
                                             log_sum_exp);
}
void call(Float64, const Input<MatrixD>& x, double scale, const Execution& execution, Eigen::Ref<MatrixD> output,
          const AttentionMask& mask, std::span<double> log_sum_exp) {
  subquad::attention::streaming_softmax_into(x.q, x.k, x.v, scale, execution, output, mask, log_sum_exp);
}
void call(Float32OnDoubles, const Input<MatrixD>& x, double scale, const Execution& execution,
          Eigen::Ref<MatrixD> output, const AttentionMask& mask, std::span<double> log_sum_exp) {
  subquad::attention::streaming_softmax_in_float32_into(x.q, x.k, x.v, scale, execution, output, mask, log_sum_exp);
}

/// Runs a kernel into poisoned memory.
template <class Mode>
Result<typename Mode::Matrix> masked(const Input<typename Mode::Matrix>& x, double scale, const AttentionMask& mask,
                                     int threads = 1) {
  using Matrix = typename Mode::Matrix;
  constexpr auto kNaN = std::numeric_limits<double>::quiet_NaN();
  Result<Matrix> result{Matrix::Constant(x.q.rows(), x.v.cols(), static_cast<typename Matrix::Scalar>(kNaN)),
                        std::vector<double>(static_cast<std::size_t>(x.q.rows()), kNaN)};
  Execution execution;
  execution.threads = threads;
  call(Mode{}, x, scale, execution, result.output, mask, result.log_sum_exp);
  return result;
}

/// The definition: each query alone with the keys that it sees, and ln sum e^logit with the bound of its error:
/// (d + 4) u times the largest sum of products for the logits, two roundings of the maximum, a few of the sum.
template <class Mode>
void expect_right(const Input<typename Mode::Matrix>& x, double scale, const AttentionMask& mask,
                  const std::string& what) {
  const auto result = masked<Mode>(x, scale, mask);
  const auto n_k = static_cast<std::uint64_t>(x.k.rows());
  const long double u = std::numeric_limits<typename Mode::Arithmetic>::epsilon() / 2.0L;
  for (Eigen::Index i = 0; i < x.q.rows(); ++i) {
    const auto seen = static_cast<Eigen::Index>(mask.visible(static_cast<std::uint64_t>(i), n_k));
    const auto reference = softmax_reference(x.q.row(i), x.k.topRows(seen), x.v.topRows(seen), scale,
                                             streaming_arithmetic<typename Mode::Arithmetic>(x.k.rows()));
    EXPECT_LE(max_error_ratio(result.output.row(i), reference.output, reference.tolerance), 1)
        << Mode::kName << ", " << what << ", row " << i;
    long double sum = 0, magnitude = 0;
    for (Eigen::Index j = 0; j < seen; ++j) {
      long double logit = 0, absolute = 0;
      for (Eigen::Index c = 0; c < x.q.cols(); ++c) {
        const long double product = static_cast<long double>(x.q(i, c)) * static_cast<long double>(x.k(j, c));
        logit += product * static_cast<long double>(scale);
        absolute += std::fabs(product * static_cast<long double>(scale));
      }
      sum += std::exp(logit);
      magnitude = larger_error(magnitude, absolute);
    }
    const long double exact = std::log(sum);
    const long double allowed =
        u * (static_cast<long double>(x.q.cols() + 8) * (magnitude + 1) + 4 * std::fabs(exact) + 500);
    EXPECT_LE(std::fabs(result.log_sum_exp[static_cast<std::size_t>(i)] - exact), allowed)
        << Mode::kName << ", " << what << ", row " << i;
  }
}

class StreamingSoftmaxCausal : public EveryTarget {};
INSTANTIATE_TEST_SUITE_P(Targets, StreamingSoftmaxCausal, ::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         target_name);

TEST_P(StreamingSoftmaxCausal, HandCheckedExample) {
  // Query 0 sees key 0 only. Query 1 sees logits 0 and ln 3: weights 1/4 and 3/4, sum 4. Key 2 is never seen.
  for_each_mode([](auto mode) {
    using Mode = decltype(mode);
    using Matrix = typename Mode::Matrix;
    using Scalar = typename Matrix::Scalar;
    Input<Matrix> x{Matrix(2, 1), Matrix(3, 1), Matrix(3, 1)};
    x.q << Scalar(1), Scalar(1);
    x.k << Scalar(0), static_cast<Scalar>(std::log(3.0)), Scalar(9);
    x.v << Scalar(8), Scalar(-4), Scalar(1000);
    const auto result = masked<Mode>(x, 1.0, AttentionMask::lower_triangle());
    constexpr auto kTolerance = 32 * std::numeric_limits<typename Mode::Arithmetic>::epsilon();
    EXPECT_EQ(result.output(0, 0), Scalar(8));
    EXPECT_EQ(result.log_sum_exp[0], 0.0);
    EXPECT_NEAR(static_cast<double>(result.output(1, 0)), -1.0, kTolerance) << Mode::kName;
    EXPECT_NEAR(result.log_sum_exp[1], 2 * std::numbers::ln2, kTolerance) << Mode::kName;
  });
}

TEST_P(StreamingSoftmaxCausal, MatchesTheDefinitionAroundEveryTileBoundary) {
  // Blocks of 64 queries, register tiles of 4 or 8, tiles of 192 keys, panels of 3 to 48 keys. The offset moves the
  // diagonal across all of them.
  struct Case {
    Shape shape;
    std::uint64_t offset;
  };
  constexpr Case kCases[] = {{{1, 1, 1, 1}, 0},      {{3, 1, 2, 2}, 0},      {{3, 5, 2, 1}, 0},
                             {{70, 70, 4, 1}, 0},    {{66, 66, 4, 5}, 0},    {{5, 400, 3, 2}, 189},
                             {{5, 400, 3, 1}, 189},  {{9, 200, 3, 2}, 191},  {{5, 400, 3, 2}, 395},
                             {{3, 400, 3, 2}, 1000}, {{200, 197, 3, 17}, 0}, {{130, 20, 3, 2}, 0},
                             {{67, 260, 3, 4}, 125}, {{4, 60, 3, 2}, 44},    {{4, 60, 3, 2}, 47}};
  for_each_mode([&](auto mode) {
    using Mode = decltype(mode);
    Random random(41);
    for (const Case& c : kCases) {
      const auto x = random_input<typename Mode::Matrix>(random, c.shape, 2.0);
      expect_right<Mode>(x, 0.4, AttentionMask::lower_triangle(c.offset),
                         fmt::format("n {} n_k {} offset {}", c.shape.n, c.shape.n_k, c.offset));
    }
  });
}

TEST_P(StreamingSoftmaxCausal, MatchesTheDefinitionOnRandomShapes) {
  rc::check([] {
    const Shape s{*rc::gen::inRange<Eigen::Index>(1, 80), *rc::gen::inRange<Eigen::Index>(1, 250),
                  *rc::gen::inRange<Eigen::Index>(0, 6), *rc::gen::inRange<Eigen::Index>(1, 4)};
    const auto offset = *rc::gen::inRange<std::uint64_t>(0, 260);
    const bool causal = *rc::gen::element(true, true, false);
    Random random(*rc::gen::arbitrary<std::uint64_t>());
    const auto x = random_input<MatrixF>(random, s, 1.5);
    expect_right<Float32>(x, 0.7, {causal, offset}, fmt::format("n {} n_k {} offset {}", s.n, s.n_k, offset));
    RC_ASSERT(!::testing::Test::HasFailure());
  });
}

TEST_P(StreamingSoftmaxCausal, RangesOfKeysThatDoNotFitTheBudgetAreJoined) {
  // 16 MiB hold 192 keys of 6000 coordinates in float64: four ranges, of which the first queries see one or two.
  static const auto x = [] {
    Random random(42);
    return random_input<MatrixD>(random, {70, 700, 6000, 2}, 1.0);
  }();
  const AttentionMask mask = AttentionMask::lower_triangle(350);
  const auto all = masked<Float64>(x, 1.0 / 600, mask);
  for (const Eigen::Index i : {0, 33, 34, 69}) {
    const Eigen::Index seen = i + 351;
    const auto reference = softmax_reference(x.q.row(i), x.k.topRows(seen), x.v.topRows(seen), 1.0 / 600,
                                             streaming_arithmetic<double>(x.k.rows()));
    EXPECT_LE(max_error_ratio(all.output.row(i), reference.output, reference.tolerance), 1) << i;
  }
}

TEST_P(StreamingSoftmaxCausal, BitsDependNeitherOnThreadsNorOnOtherQueriesNorOnUnseenKeys) {
  for_each_mode([](auto mode) {
    using Mode = decltype(mode);
    using Matrix = typename Mode::Matrix;
    Random random(43);
    for (const Eigen::Index d_v : {1, 21}) {
      auto x = random_input<Matrix>(random, {203, 401, 19, d_v}, 2.0);
      const AttentionMask mask = AttentionMask::lower_triangle(100);
      const auto one = masked<Mode>(x, 0.3, mask);
      for (const int threads : {2, 3}) {
        const auto more = masked<Mode>(x, 0.3, mask, threads);
        EXPECT_TRUE(identical<Matrix>(more.output, one.output));
        EXPECT_EQ(more.log_sum_exp, one.log_sum_exp);
      }
      const auto alone = masked<Mode>({x.q.row(77), x.k.topRows(178), x.v.topRows(178)}, 0.3, AttentionMask::none());
      EXPECT_TRUE(identical<Matrix>(alone.output, one.output.row(77))) << Mode::kName;
      x.k.bottomRows(401 - 303).setConstant(7);  // the last query sees 303 keys
      x.v.bottomRows(401 - 303).setConstant(-1000);
      EXPECT_TRUE(identical<Matrix>(masked<Mode>(x, 0.3, mask).output, one.output)) << Mode::kName;
      const auto whole = masked<Mode>(x, 0.3, AttentionMask::none());
      EXPECT_TRUE(identical<Matrix>(masked<Mode>(x, 0.3, AttentionMask::lower_triangle(400)).output, whole.output));
    }
  });
}

TEST_P(StreamingSoftmaxCausal, TheWideRangeLoopKnowsMasksAndLogSums) {
  for_each_mode([](auto mode) {
    using Mode = decltype(mode);
    using Matrix = typename Mode::Matrix;
    using Scalar = typename Matrix::Scalar;
    Input<Matrix> x{Matrix(3, 1), Matrix(3, 1), Matrix(3, 1)};
    x.q.setConstant(Scalar(1e30));
    x.k << Scalar(1e25), Scalar(2e25), Scalar(4e25);
    x.v << Scalar(1), Scalar(2), Scalar(4);
    const auto result = masked<Mode>(x, 1.0, AttentionMask::lower_triangle());
    EXPECT_TRUE(identical<Matrix>(result.output, x.v)) << Mode::kName;
    EXPECT_NEAR(result.log_sum_exp[2] / 4e55, 1, 1e-6) << Mode::kName;
  });
}

TEST(StreamingSoftmaxCausalInterface, LogSumExpsWithoutValuesAndOfTheWrongNumber) {
  Random random(44);
  const auto x = random_input<MatrixD>(random, {5, 7, 3, 2}, 1.0);
  std::vector<double> without(5), with(5);
  MatrixD output(5, 2), nothing(5, 0);
  subquad::attention::streaming_softmax_into(x.q, x.k, x.v, 0.5, {}, output, {}, with);
  subquad::attention::streaming_softmax_into(x.q, x.k, MatrixD(7, 0), 0.5, {}, nothing, {}, without);
  EXPECT_EQ(without, with);
  std::vector<double> four(4);
  expect_error(ErrorKind::parameter, "room for 4 log-sum-exps, expected 0 or 5",
               [&] { subquad::attention::streaming_softmax_into(x.q, x.k, x.v, 0.5, {}, output, {}, four); });
}

TEST(StreamingSoftmaxCausalInterface, TilesThatNobodySeesAreSkipped) {
  // The triangle has half of the pairs. A kernel that computed all of them would take twice as long; take the best of
  // five, so that a disturbed run does not count.
  Random random(45);
  const auto x = random_input<MatrixF>(random, {3072, 3072, 64, 64}, 1.0);
  Execution execution;
  execution.threads = 1;
  MatrixF output(3072, 64);
  const auto best = [&](const AttentionMask& mask) {
    double seconds = 1e9;
    for (int repetition = 0; repetition < 5; ++repetition) {
      const subquad::Stopwatch watch;
      subquad::attention::streaming_softmax_into(x.q, x.k, x.v, 0.125F, execution, output, mask);
      seconds = std::min(seconds, watch.seconds());
    }
    return seconds;
  };
  EXPECT_LE(best(AttentionMask::lower_triangle()), 0.75 * best(AttentionMask::none()));
}

// Planted faults: masks that are off by one, either way, must not pass for the right one.
TEST(StreamingSoftmaxCausalFault, AMaskOffByOneIsCaught) {
  Random random(46);
  const auto x = random_input<MatrixD>(random, {80, 90, 8, 3}, 1.5);
  const auto honest = masked<Float64>(x, 0.5, AttentionMask::lower_triangle(4));
  for (const std::uint64_t wrong : {3, 5}) {
    const auto other = masked<Float64>(x, 0.5, AttentionMask::lower_triangle(wrong));
    for (Eigen::Index i = 0; i < 80; ++i) {
      const auto reference =
          softmax_reference(x.q.row(i), x.k.topRows(i + 5), x.v.topRows(i + 5), 0.5, streaming_arithmetic<double>(90));
      EXPECT_LE(max_error_ratio(honest.output.row(i), reference.output, reference.tolerance), 1);
      EXPECT_FALSE(max_error_ratio(other.output.row(i), reference.output, reference.tolerance) <= 1) << i;
    }
  }
}

}  // namespace
