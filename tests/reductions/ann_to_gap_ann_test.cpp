#include "bit_matrices.hpp"
#include "edge_instances.hpp"
#include "expect_error.hpp"

#include <subquad/core/count.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/reductions/ann_to_gap_ann.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>

namespace subquad::reductions {
namespace {

using problems::ApproximateNearestNeighbor;
using problems::GapAnn;

AnnToGapAnn with_grid(bool grid) {
  return AnnToGapAnn(AnnToGapAnn::Parameters{grid});
}

struct Log {
  std::uint64_t calls = 0;
  std::uint64_t row_questions = 0;
  std::vector<Sizes> sizes;
};

/// Right inside the promise; outside, a coin decides anew on every call.
Oracle<GapAnn> adversary(std::uint64_t seed, std::shared_ptr<Log> log) {
  auto random = std::make_shared<Random>(seed);
  return {"adversary", [random, log](const GapAnn::Instance& instance) {
            validate(instance);
            ++log->calls;
            log->row_questions += instance.queries.rows();
            log->sizes.push_back(GapAnn::size(instance));
            GapAnn::Answer answer;
            for (std::uint64_t i = 0; i < instance.queries.rows(); ++i) {
              std::int64_t best = std::int64_t{1} << 60;
              for (std::uint64_t j = 0; j < instance.keys.rows(); ++j)
                best = std::min(
                    best, static_cast<std::int64_t>(hamming_distance(instance.queries.row(i), instance.keys.row(j))));
              answer.near.push_back(best <= instance.r_yes || (best < instance.r_no && random->below(2) == 1));
            }
            return answer;
          }};
}

ApproximateNearestNeighbor::Instance random_instance(Random& random) {
  ApproximateNearestNeighbor::Instance instance;
  const std::uint64_t dim = random.below(4) == 0 ? 60 + random.below(80) : random.below(12);
  const double density = random.unit();
  const std::uint64_t rows = random.below(6);
  instance.queries = test::random_bits(random, rows, dim, density);
  instance.keys = test::random_bits(random, (rows == 0 ? 0 : 1) + random.below(9), dim, density);
  instance.eps_num = random.below(4) == 0 ? 0 : random.below(30);
  instance.eps_den = 1 + random.below(15);
  return instance;
}

TEST(AnnToGapAnn, WorkedExample) {
  ApproximateNearestNeighbor::Instance instance;
  instance.queries = test::bits(4, {"0000", "1111"});
  instance.keys = test::bits(4, {"1110", "0011", "1000"});
  instance.eps_num = 0;
  auto log = std::make_shared<Log>();
  const auto answer = AnnToGapAnn().solve(instance, adversary(1, log));
  // Row 0: distances 3, 2, 1. Row 1: distances 1, 2, 3.
  ASSERT_EQ(answer.rows.size(), 2U);
  EXPECT_EQ(answer.rows[0], (ApproximateNearestNeighbor::Answer::Row{1, 2}));
  EXPECT_EQ(answer.rows[1], (ApproximateNearestNeighbor::Answer::Row{1, 0}));
  EXPECT_LE(log->row_questions, 2 * (3 + 2));  // ceil(log2 5) for the value, ceil(log2 3) for the key
}

RC_GTEST_PROP(AnnToGapAnn, CorrectWithAdversarialOracles, (std::uint64_t seed, bool grid)) {
  Random random(seed);
  const auto instance = random_instance(random);
  auto log = std::make_shared<Log>();
  const AnnToGapAnn reduction = with_grid(grid);
  const auto answer = reduction.solve(instance, adversary(random(), log));
  RC_ASSERT(answer.rows.size() == instance.queries.rows());
  for (std::uint64_t i = 0; i < answer.rows.size(); ++i) {
    std::uint64_t dmin = ~std::uint64_t{0};
    for (std::uint64_t j = 0; j < instance.keys.rows(); ++j)
      dmin = std::min(dmin, hamming_distance(instance.queries.row(i), instance.keys.row(j)));
    const auto& row = answer.rows[i];
    const Count allowed = Count(row.value) + Count(row.value) * instance.eps_num / instance.eps_den;
    RC_ASSERT(row.value <= dmin);
    RC_ASSERT(hamming_distance(instance.queries.row(i), instance.keys.row(row.key)) <= allowed);
  }
  RC_ASSERT(ApproximateNearestNeighbor::check(instance, answer).verdict == Verdict::certified);
  const std::uint64_t rounds = ceil_log2(Count(instance.queries.cols() + 1)) + ceil_log2(Count(instance.keys.rows()));
  RC_ASSERT(log->row_questions <= instance.queries.rows() * rounds);
  const Sizes source = ApproximateNearestNeighbor::size(instance);
  for (const Sizes& sizes : log->sizes) RC_ASSERT(violations(reduction.size_bounds(), source, sizes).empty());
}

TEST(AnnToGapAnn, TheGridAsksLess) {
  Random random(3);
  ApproximateNearestNeighbor::Instance instance;
  instance.queries = test::random_bits(random, 1, 20000, 0.5);
  instance.keys = test::random_bits(random, 2, 20000, 0.5);
  instance.eps_num = 1;
  instance.eps_den = 2;
  auto integers = std::make_shared<Log>();
  auto grid = std::make_shared<Log>();
  with_grid(false).solve(instance, adversary(1, integers));
  with_grid(true).solve(instance, adversary(1, grid));
  EXPECT_LE(integers->calls, 15U + 1U);  // ceil(log2 20001) + ceil(log2 2)
  EXPECT_LE(grid->calls, 6U + 1U);       // about 55 thresholds
}

TEST(AnnToGapAnn, Edges) {
  auto log = std::make_shared<Log>();
  ApproximateNearestNeighbor::Instance nothing;
  EXPECT_TRUE(AnnToGapAnn().solve(nothing, adversary(1, log)).rows.empty());
  ApproximateNearestNeighbor::Instance flat;
  flat.queries = BitMatrix(2, 0);
  flat.keys = BitMatrix(3, 0);
  EXPECT_EQ(AnnToGapAnn().solve(flat, adversary(1, log)).rows[1], (ApproximateNearestNeighbor::Answer::Row{0, 0}));
  EXPECT_EQ(log->calls, 0U);
  ApproximateNearestNeighbor::Instance huge_eps;
  huge_eps.queries = test::bits(4, {"1010", "0000"});
  huge_eps.keys = test::bits(4, {"1010", "1111"});
  huge_eps.eps_num = ~std::uint64_t{0};
  const auto answer = AnnToGapAnn().solve(huge_eps, adversary(1, log));
  EXPECT_EQ(answer.rows[0], (ApproximateNearestNeighbor::Answer::Row{0, 0}));  // distance 0 is exact for every eps
  EXPECT_EQ(ApproximateNearestNeighbor::check(huge_eps, answer).verdict, Verdict::certified);
}

TEST(AnnToGapAnn, AnOracleThatLiesInsideThePromiseIsRefuted) {
  ApproximateNearestNeighbor::Instance instance;
  instance.queries = test::bits(6, {"000000", "111111"});
  instance.keys = test::bits(6, {"000000", "000111"});
  const auto always = [](bool answer) {
    return Oracle<GapAnn>{"constant", [answer](const GapAnn::Instance& i) {
                            return GapAnn::Answer{std::vector<bool>(i.queries.rows(), answer)};
                          }};
  };
  // "Always near" claims value 0 for both rows; row 1 has no key at distance 0.
  try {
    AnnToGapAnn().solve(instance, always(true));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const OracleRefuted& refuted) {
    EXPECT_EQ(refuted.row(), 1U);
  }
  EXPECT_THROW(AnnToGapAnn().solve(instance, always(false)), OracleRefuted);
}

TEST(AnnToGapAnn, Refusals) {
  auto log = std::make_shared<Log>();
  ApproximateNearestNeighbor::Instance no_keys;
  no_keys.queries = BitMatrix(1, 2);
  no_keys.keys = BitMatrix(0, 2);
  test::expect_error(ErrorKind::parameter, [&] { AnnToGapAnn().solve(no_keys, adversary(1, log)); });
  ApproximateNearestNeighbor::Instance instance;
  instance.queries = BitMatrix(1, 2);
  instance.keys = BitMatrix(2, 2);
  const Oracle<GapAnn> mute{"mute", [](const GapAnn::Instance&) { return GapAnn::Answer{}; }};
  test::expect_error(ErrorKind::input, [&] { AnnToGapAnn().solve(instance, mute); });
}

}  // namespace
}  // namespace subquad::reductions
