#include "attention_enclosure.hpp"
#include "expect_error.hpp"
#include "gap_ann_instances.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/reductions/gap_ann_to_attention.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace subquad::reductions {
namespace {

using problems::Attention;
using problems::GapAnn;
using problems::MatrixD;
using test::enclose_row;
using test::RowEnclosure;

static_assert(ManyOne<GapAnnToAttention> && Turing<GapAnnToAttention>);

GapAnnToAttention refined(const std::string& eps) {
  GapAnnToAttention::Parameters parameters;
  parameters.tolerance = Tolerance(eps);
  return GapAnnToAttention(parameters);
}

Attention::Answer exact_answer(const Attention::Instance& target) {
  Attention::Answer answer;
  answer.output = MatrixD(target.q.rows(), 1);
  for (Eigen::Index i = 0; i < target.q.rows(); ++i) answer.output(i, 0) = enclose_row(target, i).low;
  return answer;
}

/// Checks everything that claim SQ.GAP says about an instance, in enclosures.
void expect_claim(const GapAnn::Instance& gap, const Attention::Instance& target, double eps) {
  const double n = static_cast<double>(std::max<std::uint64_t>(gap.keys.rows(), 1));
  const double log_rho_n = std::log(n) + 2 * std::log((1 + 2 * eps) / (1 - 2 * eps));
  // The formula for B, with the thresholds cut to the distances that occur.
  const auto dim = static_cast<std::int64_t>(gap.queries.cols());
  const std::int64_t width =
      gap.r_no == 0 ? 1 : std::min(gap.r_no, dim + 1) - std::clamp<std::int64_t>(gap.r_yes, 0, dim);
  const double formula =
      std::sqrt(static_cast<double>(target.q.cols()) * log_rho_n / (2.0 * static_cast<double>(width)));
  EXPECT_LE(target.entry_bound, std::max(1.0, 1.001 * formula));
  for (const MatrixD* matrix : {&target.q, &target.k, &target.v}) {
    for (Eigen::Index r = 0; r < matrix->rows(); ++r) {
      for (Eigen::Index c = 0; c < matrix->cols(); ++c) {
        const double x = (*matrix)(r, c);
        ASSERT_LE(std::abs(x), target.entry_bound);
        ASSERT_EQ(x, static_cast<double>(static_cast<float>(x)));
      }
    }
  }
  for (std::uint64_t i = 0; i < gap.queries.rows(); ++i) {
    const RowEnclosure u = enclose_row(target, static_cast<Eigen::Index>(i));
    switch (test::promise_of(gap, i)) {
      case test::Row::near:
        ASSERT_GT(u.low, 0.5 + eps) << "row " << i;
        break;
      case test::Row::far:
        ASSERT_LT(u.high, 0.5 - eps) << "row " << i;
        break;
      case test::Row::outside:
        break;
    }
  }
  const auto size = [](auto x) { return Count(x); };
  const Sizes source_sizes = {{"num_queries", size(gap.queries.rows())},
                              {"num_keys", size(gap.keys.rows())},
                              {"dim", size(gap.queries.cols())},
                              {"r_yes", size(std::max<std::int64_t>(gap.r_yes, 0))},
                              {"r_no", size(gap.r_no)}};
  const Sizes target_sizes = {{"num_queries", size(target.q.rows())},
                              {"num_keys", size(target.k.rows())},
                              {"dim", size(target.q.cols())},
                              {"value_dim", size(target.v.cols())}};
  EXPECT_EQ(violations(GapAnnToAttention().size_bounds(), source_sizes, target_sizes), std::vector<std::string>());
}

TEST(GapAnnToAttention, MatchesAHandComputedExample) {
  // n = d = 1, r_yes = 0, r_no = 1, eps = 1/4: rho = 9, L = ln 9, e = 1, d~ = 2, beta = 2 L/2, s = 3036/2048 (rounded
  // up from 1.482303). Logits are +-X, X = s^2/2 = 1.098787, so that the threshold in the middle is 0.
  const GapAnn::Instance gap{test::bits(1, {"1", "0"}), test::bits(1, {"1"}), 0, 1};
  const Attention::Instance target = refined("0.25").reduce(gap);
  const double s = 3036.0 / 2048.0;
  MatrixD q(2, 2), k(2, 2), v(2, 1);
  q << s, s, -s, s;
  k << s, 0, 0, 0;
  v << 1, 0;
  EXPECT_EQ(target.q, q);
  EXPECT_EQ(target.k, k);
  EXPECT_EQ(target.v, v);
  EXPECT_EQ(target.scale, 0.5);
  EXPECT_EQ(target.entry_bound, s);
  EXPECT_NEAR(target.log_tolerance, std::log(0.25), 1e-15);
  // 1/(1 + e^(-1.098787)) and 1/(1 + e^(1.098787)).
  EXPECT_NEAR(enclose_row(target, 0).low, 0.7500328, 1e-6);
  EXPECT_NEAR(enclose_row(target, 1).low, 0.2499672, 1e-6);
}

TEST(GapAnnToAttention, MatchesTheExampleOfItsPage) {
  const Attention::Instance target =
      GapAnnToAttention().reduce({test::bits(4, {"0000", "1111"}), test::bits(4, {"0001", "0011"}), 1, 2});
  EXPECT_EQ(target.q.cols(), 6);
  EXPECT_EQ(target.entry_bound, 2.125);
  EXPECT_NEAR(target.k(2, 4), 1.55178, 5e-6);
  EXPECT_NEAR(target.k(2, 5), 1.55178, 5e-6);
  EXPECT_NEAR(enclose_row(target, 0).low, 0.64714, 5e-6);
  EXPECT_NEAR(enclose_row(target, 1).low, 0.28932, 5e-6);
}

TEST(GapAnnToAttention, DecidesEveryTinyInstance) {
  // All pairs of one query and two keys of dimension 2, under all thresholds and some beyond the range of distances.
  for (std::int64_t r_yes = -1; r_yes <= 4; ++r_yes) {
    for (std::int64_t r_no = r_yes + 1; r_no <= 5; ++r_no) {
      for (unsigned code = 0; code < 64; ++code) {
        GapAnn::Instance gap{BitMatrix(1, 2), BitMatrix(2, 2), r_yes, r_no};
        for (unsigned bit = 0; bit < 2; ++bit) gap.queries.set(0, bit, ((code >> bit) & 1U) != 0);
        for (unsigned bit = 0; bit < 4; ++bit) gap.keys.set(bit / 2, bit % 2, ((code >> (2 + bit)) & 1U) != 0);
        const Attention::Instance target = refined("0.1").reduce(gap);
        expect_claim(gap, target, 0.1);
        const GapAnn::Answer answer = refined("0.1").lift(gap, target, exact_answer(target));
        const test::Row promise = test::promise_of(gap, 0);
        ASSERT_TRUE(promise == test::Row::outside || answer.near[0] == (promise == test::Row::near))
            << r_yes << " " << r_no << " " << code;
      }
    }
  }
}

RC_GTEST_PROP(GapAnnToAttention, HoldsForRandomInstances, ()) {
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  const auto dim = *rc::gen::inRange<std::uint64_t>(0, 40);
  const auto r_yes = *rc::gen::inRange<std::int64_t>(-1, static_cast<std::int64_t>(dim) + 3);
  const auto r_no = r_yes + *rc::gen::inRange<std::int64_t>(1, static_cast<std::int64_t>(dim) + 5);
  const auto eps = *rc::gen::element(std::pair("0.01", 0.01), std::pair("0.1", 0.1), std::pair("0.4", 0.4));
  const GapAnn::Instance gap = test::random_gap(random, {.num_queries = *rc::gen::inRange<std::uint64_t>(0, 6),
                                                         .num_keys = *rc::gen::inRange<std::uint64_t>(0, 12),
                                                         .dim = dim,
                                                         .r_yes = r_yes,
                                                         .r_no = r_no});
  const Attention::Instance target = refined(eps.first).reduce(gap);
  expect_claim(gap, target, eps.second);
  RC_ASSERT(!::testing::Test::HasFailure());
  // Any output within eps_a gives right flags: push every row as far towards 1/2 as it may go.
  Attention::Answer answer = exact_answer(target);
  for (Eigen::Index i = 0; i < target.q.rows(); ++i)
    answer.output(i, 0) += answer.output(i, 0) > 0.5 ? -eps.second : eps.second;
  const GapAnn::Answer lifted = refined(eps.first).lift(gap, target, answer);
  for (std::uint64_t i = 0; i < gap.queries.rows(); ++i) {
    const test::Row promise = test::promise_of(gap, i);
    if (promise == test::Row::near) RC_ASSERT(lifted.near[i]);
    if (promise == test::Row::far) RC_ASSERT(!lifted.near[i]);
  }
}

TEST(GapAnnToAttention, GapIsAttainedByAdversarialInputs) {
  for (const auto& [text, eps] :
       {std::pair("0.01", 0.01), std::pair("0.1", 0.1), std::pair("0.25", 0.25), std::pair("0.4", 0.4)}) {
    for (const auto& [r_yes, r_no] : {std::pair(0, 1), std::pair(10, 12), std::pair(3, 9), std::pair(30, 34)}) {
      for (const std::uint64_t n : {1, 2, 50, 300}) {
        const GapAnn::Instance near_gap = test::weakest_near(n, 90, r_yes, r_no);
        const GapAnn::Instance far_gap = test::strongest_far(n, 90, r_yes, r_no);
        const Attention::Instance near_target = refined(text).reduce(near_gap);
        const Attention::Instance far_target = refined(text).reduce(far_gap);
        expect_claim(near_gap, near_target, eps);
        expect_claim(far_gap, far_target, eps);
        const RowEnclosure near = enclose_row(near_target, 0);
        const RowEnclosure far = enclose_row(far_target, 0);
        // No better bound is possible: both rows come within 1 % of it, and their logits within the proved widening.
        EXPECT_LT(near.high, 1.01 * (0.5 + eps));
        EXPECT_GT(far.low, 0.99 * (0.5 - eps));
        const double h = std::log((1 + 2 * eps) / (1 - 2 * eps));
        const double widening = 0.002 * (std::log(static_cast<double>(n)) + 2 * h) + 1e-12;
        EXPECT_LT(near.odds_log_high, h + widening);
        EXPECT_GT(far.odds_log_low, -h - widening);
      }
    }
  }
}

TEST(GapAnnToAttention, PlantedFaultsBreakTheGap) {
  const double eps = 0.1;
  const Attention::Instance near = refined("0.1").reduce(test::weakest_near(4, 90, 10, 12));
  const Attention::Instance far = refined("0.1").reduce(test::strongest_far(4, 90, 10, 12));
  ASSERT_GT(enclose_row(near, 0).low, 0.5 + eps);
  ASSERT_LT(enclose_row(far, 0).high, 0.5 - eps);
  {  // The square of rho dropped: beta from ln n + h instead of ln n + 2h; the threshold at the geometric mean as
     // before.
    const double h = std::log((1 + 2 * eps) / (1 - 2 * eps));
    const double log_n = std::log(4.0);
    const auto total = static_cast<double>(near.q.cols());
    const double s = std::sqrt(total * (log_n + h) / 4);
    const double w = s * s / total * (90 - 22) + log_n / 2;
    Attention::Instance bad_near = near;
    Attention::Instance bad_far = far;
    for (Attention::Instance* bad : {&bad_near, &bad_far}) {
      const double factor = s / near.q(0, 90);
      bad->q *= factor;
      bad->k.topRows(4) *= factor;
      bad->k.row(4).tail(near.q.cols() - 90).setConstant(w * total / (s * (total - 90)));
    }
    EXPECT_LT(enclose_row(bad_near, 0).high, 0.5 + eps);
    EXPECT_GT(enclose_row(bad_far, 0).low, 0.5 - eps);
  }
  {  // The extra key dropped: every output is 1.
    Attention::Instance bad = far;
    bad.k.conservativeResize(4, Eigen::NoChange);
    bad.v.conservativeResize(4, Eigen::NoChange);
    EXPECT_EQ(enclose_row(bad, 0).low, 1.0);
  }
  {  // One far key one step closer, at r_no - 1.
    Attention::Instance bad = far;
    Eigen::Index c = 0;
    while (bad.q(0, c) * bad.k(2, c) > 0) ++c;
    bad.k(2, c) = -bad.k(2, c);
    EXPECT_GT(enclose_row(bad, 0).low, 0.5 - eps);
  }
  {  // The near key one step farther, at r_yes + 1.
    Attention::Instance bad = near;
    Eigen::Index c = 0;
    while (bad.q(0, c) * bad.k(2, c) < 0) ++c;
    bad.k(2, c) = -bad.k(2, c);
    EXPECT_LT(enclose_row(bad, 0).high, 0.5 + eps);
  }
}

TEST(GapAnnToAttention, WorksAtTheEdges) {
  Random random(7);
  for (const std::uint64_t num_queries : {0, 1, 3}) {
    for (const std::uint64_t num_keys : {0, 1, 5}) {
      for (const std::uint64_t dim : {0, 1, 64, 65}) {
        for (const auto& [r_yes, r_no] :
             {std::pair<std::int64_t, std::int64_t>(-1, 0),
              {-1, 1},
              {0, 1},
              {64, 65},
              {65, 66},
              {-1, std::numeric_limits<std::int64_t>::max()},
              {std::numeric_limits<std::int64_t>::max() - 1, std::numeric_limits<std::int64_t>::max()}}) {
          const GapAnn::Instance gap = test::random_gap(
              random, {.num_queries = num_queries, .num_keys = num_keys, .dim = dim, .r_yes = r_yes, .r_no = r_no});
          const Attention::Instance target = GapAnnToAttention().reduce(gap);
          expect_claim(gap, target, 0.1);
          const GapAnn::Answer answer = GapAnnToAttention().lift(gap, target, exact_answer(target));
          ASSERT_EQ(answer.near.size(), num_queries);
          const bool all_far = num_keys == 0 || r_no == 0;
          for (std::uint64_t i = 0; i < num_queries; ++i) EXPECT_TRUE(!all_far || !answer.near[i]);
        }
      }
    }
  }
}

TEST(GapAnnToAttention, RefusesWhatDoesNotFit) {
  using Parameters = GapAnnToAttention::Parameters;
  const auto reduce = [](const GapAnn::Instance& gap) { GapAnnToAttention().reduce(gap); };
  test::expect_error(ErrorKind::parameter, [&] { reduce({BitMatrix(1, 2), BitMatrix(1, 3), 0, 1}); });
  test::expect_error(ErrorKind::parameter, [&] { reduce({BitMatrix(1, 2), BitMatrix(1, 2), 1, 1}); });
  test::expect_error(ErrorKind::parameter, [&] { reduce({BitMatrix(1, 2), BitMatrix(1, 2), -2, 1}); });
  for (const ParameterValues& bad : {ParameterValues{{"mode", "exact"}},
                                     {{"tolerance", "0"}},
                                     {{"mode", "paper"}, {"tolerance", "0.1"}},
                                     {{"small_t_constant", "1"}},
                                     {{"mode", "paper"}, {"small_t_constant", "-1"}},
                                     {{"mode", "paper"}, {"small_t_constant", "nan"}},
                                     {{"modes", "paper"}}}) {
    SCOPED_TRACE(bad.begin()->first);
    test::expect_error(ErrorKind::parameter, [&] { Parameters::parse(bad); });
  }
  EXPECT_EQ(Parameters::parse({}), Parameters());
  EXPECT_EQ(Parameters::parse({{"mode", "paper"}, {"small_t_constant", "0.5"}}).small_t_constant, 0.5);
  Parameters negative;
  negative.small_t_constant = -1;
  test::expect_error(ErrorKind::parameter, [&] { GapAnnToAttention{negative}; });
  const GapAnn::Instance gap = test::strongest_far(3, 20, 2, 4);
  const GapAnn::Instance other = test::strongest_far(4, 20, 2, 4);
  const Attention::Instance target = GapAnnToAttention().reduce(gap);
  test::expect_error(ErrorKind::parameter, [&] { GapAnnToAttention().lift(other, target, exact_answer(target)); });
  Attention::Answer poisoned = exact_answer(target);
  poisoned.output(0, 0) = std::numeric_limits<double>::quiet_NaN();
  test::expect_error(ErrorKind::refuted, [&] { GapAnnToAttention().lift(gap, target, poisoned); });
}

TEST(GapAnnToAttention, SolveAsksTheOracleOnce) {
  const GapAnn::Instance gap = test::weakest_near(5, 20, 2, 4);
  int calls = 0;
  const Oracle<Attention> oracle{"exact", [&](const Attention::Instance& target) {
                                   ++calls;
                                   return exact_answer(target);
                                 }};
  EXPECT_EQ(GapAnnToAttention().solve(gap, oracle).near, std::vector<bool>{true});
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace subquad::reductions
