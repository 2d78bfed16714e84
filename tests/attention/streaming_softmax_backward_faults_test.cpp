// The backward kernel at the ends of the number range, its schedule, and faults that its tests must catch.
#include "backward_support.hpp"

#include <subquad/attention/streaming_softmax.hpp>
#include <subquad/attention/streaming_softmax_backward_schedule.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace {

using namespace subquad::test;
using subquad::Random;
using subquad::attention::BackwardSchedule;
using subquad::attention::BackwardTile;
using subquad::problems::AttentionMask;
using subquad::problems::MatrixD;
using subquad::problems::MatrixF;
using subquad::problems::RowMajorMatrix;

class StreamingSoftmaxBackwardExtremes : public EveryTarget {};
INSTANTIATE_TEST_SUITE_P(Targets, StreamingSoftmaxBackwardExtremes,
                         ::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()), target_name);

TEST_P(StreamingSoftmaxBackwardExtremes, FiniteInputNeverGivesNaN) {
  rc::check([] {
    Random random(*rc::gen::arbitrary<std::uint64_t>());
    for_each_arithmetic([&](auto scalar) {
      using Scalar = decltype(scalar);
      using Matrix = RowMajorMatrix<Scalar>;
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
            return sign * (random.bernoulli(0.2) ? std::numeric_limits<Scalar>::max() : Scalar(1));
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
      const auto n_k = static_cast<Eigen::Index>(1 + random.below(30)), d = static_cast<Eigen::Index>(random.below(5));
      const BackwardInput<Matrix> x{matrix(4, d), matrix(n_k, d), matrix(n_k, 2), matrix(4, 2)};
      constexpr double kScales[] = {1.0, -1.0, 0.0, 1e30, -1e-30};
      const AttentionMask mask{random.bernoulli(0.3), random.below(4)};
      const auto gradients = backward(x, kScales[random.below(5)], mask);
      RC_ASSERT(!gradients.q.array().isNaN().any());
      RC_ASSERT(!gradients.k.array().isNaN().any());
      RC_ASSERT(!gradients.v.array().isNaN().any());
    });
  });
}

TEST_P(StreamingSoftmaxBackwardExtremes, HugeLogitsWithTiesAreComputedInTheWideRange) {
  // Keys 1 and 2 tie at a logit beyond the range of the arithmetic, key 0 has no weight: P = (0, 1/2, 1/2), O = 2,
  // <G, V> - <G, O> = (., -1, 1), dS = (0, -1/2, 1/2). dQ = dS K = 0, dK = dS^T Q.
  for_each_arithmetic([](auto scalar) {
    using Scalar = decltype(scalar);
    using Matrix = RowMajorMatrix<Scalar>;
    const auto huge = static_cast<Scalar>(sizeof(Scalar) == 4 ? 1e25 : 1e200);
    BackwardInput<Matrix> x{Matrix(1, 1), Matrix(3, 1), Matrix(3, 1), Matrix(1, 1)};
    x.q << huge;
    x.k << -huge, huge, huge;
    x.v << Scalar(9), Scalar(1), Scalar(3);
    x.g << Scalar(1);
    const auto gradients = backward(x, 1.0);
    Matrix k(3, 1), v(3, 1);
    k << Scalar(0), -huge / 2, huge / 2;
    v << Scalar(0), Scalar(0.5), Scalar(0.5);
    EXPECT_EQ(gradients.q(0, 0), Scalar(0));
    EXPECT_TRUE(identical<Matrix>(gradients.k, k));
    EXPECT_TRUE(identical<Matrix>(gradients.v, v));
  });
}

TEST_P(StreamingSoftmaxBackwardExtremes, TheWideRangeLoopAgreesWithTheClosedForm) {
  // Entries of V near the largest float are harmless in themselves but send the call to long double.
  Random random(71);
  auto x = random_backward<float>(random, {9, 14, 3, 2}, 1.5);
  x.v *= 1e37F;
  x.g *= 1e-3F;
  const AttentionMask mask = AttentionMask::lower_triangle(3);
  EXPECT_LE(gradient_error_ratio(backward(x, 0.5, mask, 2), reference_of(x, 0.5, mask)), 1);
  // So do upstream gradients that would vanish among the subnormal numbers.
  auto y = random_backward<float>(random, {9, 14, 3, 2}, 1.5);
  y.g *= 1e-33F;
  y.k *= 1e6F;
  y.q *= 1e-6F;
  const auto gradients = backward(y, 0.5);
  const GradientsReference reference = reference_of(y, 0.5);
  EXPECT_LE(max_error_ratio(gradients.q, reference.value.q, reference.tolerance.q), 1);
  EXPECT_LE(max_error_ratio(gradients.v, reference.value.v, reference.tolerance.v), 1);
}

TEST_P(StreamingSoftmaxBackwardExtremes, PeakedRowsLoseNothing) {
  // Logits up to about a thousand: nearly all weights vanish, and the log-sum-exps are large.
  for_each_arithmetic([](auto scalar) {
    using Scalar = decltype(scalar);
    Random random(72);
    const auto x = random_backward<Scalar>(random, {30, 250, 4, 3}, 16.0);
    EXPECT_LE(gradient_error_ratio(backward(x, 1.0), reference_of(x, 1.0)), 1);
  });
}

TEST(BackwardSchedule, CoversEveryTileOnceAndNeverSharesABlockInAStep) {
  for (const std::size_t query_blocks : {1, 2, 3, 5, 8, 31, 32, 33, 40, 100}) {
    for (const std::size_t key_blocks : {1, 2, 4, 7, 16, 31, 32, 33, 64, 90}) {
      const BackwardSchedule schedule(query_blocks, key_blocks);
      std::set<std::pair<std::size_t, std::size_t>> tiles;
      std::set<std::pair<std::size_t, std::size_t>> part_of_long;
      for (std::size_t step = 0; step < schedule.steps(); ++step) {
        std::set<std::pair<std::size_t, std::size_t>> queries, keys;
        schedule.for_each_tile(step, [&](const BackwardTile& tile) {
          ASSERT_LT(tile.query_block, query_blocks);
          ASSERT_LT(tile.key_block, key_blocks);
          ASSERT_LT(tile.part, schedule.parts());
          EXPECT_TRUE(tiles.emplace(tile.query_block, tile.key_block).second);
          // The short side may be shared by tiles of different parts; the long side never.
          const bool keys_short = schedule.keys_are_short();
          EXPECT_TRUE(queries.emplace(tile.query_block, keys_short ? 0 : tile.part).second);
          EXPECT_TRUE(keys.emplace(tile.key_block, keys_short ? tile.part : 0).second);
          part_of_long.emplace(keys_short ? tile.query_block : tile.key_block, tile.part);
        });
      }
      EXPECT_EQ(tiles.size(), query_blocks * key_blocks);
      EXPECT_EQ(part_of_long.size(), std::max(query_blocks, key_blocks));  // each long block belongs to one part
      EXPECT_LE(schedule.parts() * schedule.short_blocks(),
                std::max(std::min(query_blocks, key_blocks), 2 * BackwardSchedule::kTilesWanted));
    }
  }
}

// Planted faults: gradients that a wrong kernel would give, and the comparison that the tests above use must say no.

struct BackwardFault : ::testing::Test {
  Random random{73};
  BackwardInput<MatrixD> x = random_backward<double>(random, {140, 200, 8, 3}, 1.5);
  double scale = 0.4;
  AttentionMask mask = AttentionMask::lower_triangle(70);
  GradientsReference reference = reference_of(x, scale, mask);
  Gradients<MatrixD> honest = backward(x, scale, mask);

  bool passes(const Gradients<MatrixD>& gradients) const { return gradient_error_ratio(gradients, reference) <= 1; }
};

TEST_F(BackwardFault, TheHonestKernelPasses) {
  EXPECT_TRUE(passes(honest));
}

TEST_F(BackwardFault, AMaskOffByOneIsCaught) {
  EXPECT_FALSE(passes(backward(x, scale, AttentionMask::lower_triangle(69))));
  EXPECT_FALSE(passes(backward(x, scale, AttentionMask::lower_triangle(71))));
}

TEST_F(BackwardFault, AForgottenOutputTermIsCaught) {
  // <G, O> left out: dS = P <G, V>. The saved output is what carries it.
  std::vector<double> log_sum_exp(140);
  MatrixD output(140, 3);
  subquad::attention::streaming_softmax_into(x.q, x.k, x.v, scale, {}, output, mask, log_sum_exp);
  using subquad::attention::streaming_softmax_backward;
  EXPECT_TRUE(passes(streaming_softmax_backward(x.q, x.k, x.v, x.g, output, log_sum_exp, scale, mask)));
  EXPECT_FALSE(passes(streaming_softmax_backward(x.q, x.k, x.v, x.g, MatrixD::Zero(140, 3), log_sum_exp, scale, mask)));
  log_sum_exp[139] += 1e-9;
  EXPECT_FALSE(passes(streaming_softmax_backward(x.q, x.k, x.v, x.g, output, log_sum_exp, scale, mask)));
}

TEST_F(BackwardFault, AForgottenScaleAndASwappedSignAreCaught) {
  Gradients<MatrixD> wrong = honest;
  wrong.k /= scale;
  EXPECT_FALSE(passes(wrong));
  wrong = honest;
  wrong.q = -wrong.q;
  EXPECT_FALSE(passes(wrong));
}

TEST_F(BackwardFault, AMissingTileIsCaught) {
  // The last 8 keys are a tile of their own, seen by the last queries only.
  const BackwardInput<MatrixD> fewer{x.q, x.k.topRows(192), x.v.topRows(192), x.g};
  const auto part = backward(fewer, scale, mask);
  Gradients<MatrixD> wrong = honest;
  wrong.q = part.q;
  EXPECT_FALSE(passes(wrong));
  wrong = honest;
  wrong.v.bottomRows(8).setZero();
  EXPECT_FALSE(passes(wrong));
}

TEST_F(BackwardFault, Float32PassedOffAsFloat64IsCaught) {
  const BackwardInput<MatrixF> rounded{x.q.cast<float>(), x.k.cast<float>(), x.v.cast<float>(), x.g.cast<float>()};
  const auto gradients = backward(rounded, scale, mask);
  EXPECT_FALSE(passes({gradients.q.cast<double>(), gradients.k.cast<double>(), gradients.v.cast<double>()}));
}

TEST_F(BackwardFault, AnUnwrittenEntryIsCaught) {
  Gradients<MatrixD> wrong = honest;
  wrong.v(199, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(passes(wrong));
}

}  // namespace
