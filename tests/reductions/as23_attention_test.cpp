// Mode paper of gap_ann_to_attention: AS23 Lemma 4.7 with its constants, on instances small enough to enclose.
#include "attention_enclosure.hpp"
#include "gap_ann_instances.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/reductions/as23_parameters.hpp>
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
using test::enclose_row;
using test::RowEnclosure;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

GapAnnToAttention paper(double small_t_constant = 0.25) {
  GapAnnToAttention::Parameters parameters;
  parameters.mode = GapAnnToAttention::Mode::paper;
  parameters.small_t_constant = small_t_constant;
  return GapAnnToAttention(parameters);
}

/// The paper's quantities of an instance, in long double from the numbers stored: s is the largest entry of q.
struct PaperNumbers {
  long double n, t, big_d, t_eps, beta, log_tau, log_t_tilde, log_eps_a;

  PaperNumbers(const GapAnn::Instance& gap, const Attention::Instance& target) {
    const bool shifted = gap.r_no == 0;
    const auto dim = static_cast<std::int64_t>(gap.queries.cols());
    const std::int64_t r_yes = shifted ? 0 : std::clamp<std::int64_t>(gap.r_yes, 0, dim);
    const std::int64_t r_no = shifted ? 1 : std::min(gap.r_no, dim + 1);
    n = static_cast<long double>(std::max<std::uint64_t>(gap.keys.rows(), 2));
    t = static_cast<long double>(2 * r_yes + 1);
    t_eps = static_cast<long double>(2 * r_no) - t;
    big_d = static_cast<long double>(target.q.cols()) / 2;
    const long double s = target.q.maxCoeff();
    beta = 2 * static_cast<long double>(target.scale) * s * s * big_d;
    log_tau = beta / 2;
    log_t_tilde = beta / 4 * (1 - t / big_d) - std::log(6 * n) - log_tau;
    log_eps_a = -2 * std::log(n) - beta * (1 + t / big_d);
  }
};

/// Slack for the long double arithmetic of PaperNumbers: logarithms up to 10^5 with relative error 2^-60.
constexpr double kSlack = 1e-12;

/// Checks every inequality of the lemma's proof.
void expect_lemma(const GapAnn::Instance& gap, const Attention::Instance& target) {
  if (gap.queries.rows() == 0) return;
  const PaperNumbers p(gap, target);
  EXPECT_GE(p.beta * (1 + 1e-15L), 40 * p.big_d * std::log(p.n) / p.t_eps);
  EXPECT_LE(p.beta, 1.001L * 40 * p.big_d * std::log(p.n) / p.t_eps);
  EXPECT_LE(target.log_tolerance, static_cast<double>(p.log_t_tilde));  // eps_a <= t~
  EXPECT_NEAR(target.log_tolerance, static_cast<double>(p.log_eps_a), kSlack * std::abs(target.log_tolerance));
  for (std::uint64_t i = 0; i < 2 * gap.queries.rows(); ++i) {
    const RowEnclosure u = enclose_row(target, static_cast<Eigen::Index>(i));
    if (i >= gap.queries.rows()) {  // padding: all logits 0, its output is ignored
      ASSERT_EQ(target.q.row(static_cast<Eigen::Index>(i)).cwiseAbs().maxCoeff(), 0.0);
      continue;
    }
    // n tau <= D_ii <= 2 n tau
    ASSERT_GE(u.log_total_low, static_cast<double>(std::log(p.n) + p.log_tau) - kSlack * 1e3);
    ASSERT_LE(u.log_total_high, static_cast<double>(std::log(2 * p.n) + p.log_tau) + kSlack * 1e3);
    const test::Row promise = test::promise_of(gap, i);
    if (promise == test::Row::near) {
      ASSERT_GE(u.log_low, static_cast<double>(std::log(3.0L) + p.log_t_tilde) - kSlack * 1e3);
    } else if (promise == test::Row::far) {
      ASSERT_LE(u.log_high, static_cast<double>(std::log(6.0L) + p.log_t_tilde - 9 * std::log(p.n)) + kSlack * 1e3);
    }
  }
  EXPECT_LE(std::max({target.q.cwiseAbs().maxCoeff(), target.k.cwiseAbs().maxCoeff(), target.v.cwiseAbs().maxCoeff()}),
            target.entry_bound);
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
  EXPECT_EQ(violations(paper().size_bounds(), source_sizes, target_sizes), std::vector<std::string>());
}

/// Enclosures of ln(u_i + shift e^log_tolerance): what an oracle with the whole allowed error may return.
Attention::Answer log_answer(const Attention::Instance& target, int shift) {
  Attention::Answer answer;
  answer.output = problems::MatrixD::Zero(target.q.rows(), 1);
  for (Eigen::Index i = 0; i < target.q.rows(); ++i) {
    const RowEnclosure u = enclose_row(target, i);
    const double ratio_low = std::exp(target.log_tolerance - u.log_high);  // eps_a/u
    const double ratio_high = std::exp(target.log_tolerance - u.log_low);
    const auto shifted = [&](double log_u, double ratio) {
      if (log_u == -kInfinity) return shift > 0 ? target.log_tolerance : -kInfinity;
      const double factor = 1 + shift * ratio;
      return factor <= 0 ? -kInfinity : log_u + std::log(factor);
    };
    const double low = shifted(u.log_low, shift < 0 ? ratio_high : ratio_low);
    const double high = shifted(u.log_high, shift < 0 ? ratio_low : ratio_high);
    answer.log_column.push_back({low, high});
  }
  return answer;
}

void expect_right_answer(const GapAnn::Instance& gap, const GapAnn::Answer& answer) {
  ASSERT_EQ(answer.near.size(), gap.queries.rows());
  for (std::uint64_t i = 0; i < gap.queries.rows(); ++i) {
    const test::Row promise = test::promise_of(gap, i);
    ASSERT_TRUE(promise == test::Row::outside || answer.near[i] == (promise == test::Row::near)) << "row " << i;
  }
}

TEST(As23Parameters, MatchHandComputedNumbers) {
  // n = 4 keys, d = 3, r_yes = 0, r_no = 2: D = 6, t = 1, t eps = 3, beta = 40 * 6 ln 4/3 = 110.90355, scale 1/12 so
  // that beta = s^2 up to the rounding of 1/12; sqrt = 10.531075 = 2695.955/256, rounded up to 2696/256.
  const As23Parameters p = as23_parameters(4, 3, 0, 2);
  EXPECT_EQ(p.num_keys, 4U);
  EXPECT_EQ(p.balanced_dim, 6U);
  EXPECT_EQ(p.balanced_t, 1);
  EXPECT_EQ(p.unit, 2696.0F / 256.0F);
  const double beta = 2696.0 * 2696.0 / 65536.0;
  EXPECT_NEAR(p.beta.low(), beta, 1e-12);
  EXPECT_NEAR(p.log_threshold.low(), -beta / 4 * 7 / 6 - std::log(12.0), 1e-12);
  EXPECT_NEAR(p.log_tolerance, -2 * std::log(4.0) - beta * 7 / 6, 1e-11);
  EXPECT_LE(p.log_threshold.width(), 1e-60);
}

TEST(As23Parameters, RefuseWhatIsOutsideTheirRange) {
  for (const auto& [dim, r_yes, r_no] : {std::tuple(0, 0, 1), {3, -1, 1}, {3, 1, 1}, {3, 0, 5}}) {
    try {
      as23_parameters(2, static_cast<std::uint64_t>(dim), r_yes, r_no);
      ADD_FAILURE() << dim << " " << r_yes << " " << r_no;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::parameter);
    }
  }
}

TEST(GapAnnToAttentionPaper, MatchesAHandBuiltInstance) {
  const GapAnn::Instance gap{test::bits(3, {"101"}), test::bits(3, {"100", "011"}), 0, 2};
  const Attention::Instance target = paper().reduce(gap);
  ASSERT_EQ(target.q.rows(), 2);
  ASSERT_EQ(target.k.rows(), 4);
  ASSERT_EQ(target.q.cols(), 12);
  problems::MatrixD q(2, 12), k(4, 12), v(4, 1);
  q << 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1,  //
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0;
  k << 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0,  //
      0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0,   //
      0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1,   //
      0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1;
  v << 1, 1, 0, 0;
  const double s = target.q.maxCoeff();
  EXPECT_EQ(target.q, s * q);
  EXPECT_EQ(target.k, s * k);
  EXPECT_EQ(target.v, v);
  EXPECT_EQ(target.scale, 1.0 / 12);
}

TEST(GapAnnToAttentionPaper, MatchesTheExampleOfItsPage) {
  const Attention::Instance target =
      paper().reduce({test::bits(3, {"100", "111"}), test::bits(3, {"100", "100"}), 0, 2});
  EXPECT_EQ(target.entry_bound, 7.447265625);
  EXPECT_NEAR(target.log_tolerance, -66.09, 5e-3);
  const As23Parameters numbers = as23_parameters(2, 3, 0, 2);
  EXPECT_NEAR(numbers.beta.low(), 55.4618, 5e-5);
  EXPECT_NEAR(numbers.log_threshold.low(), -17.968, 5e-4);
  EXPECT_NEAR(enclose_row(target, 0).log_low, -13.865, 5e-4);
  EXPECT_NEAR(enclose_row(target, 1).log_low, -23.109, 5e-4);
  // D = 60 = 4t: C_a = 2 + 40 (D/(t eps))(1 + t/D) up to the rounding of s.
  const As23Parameters large = as23_parameters(4096, 30, 7, 11);
  EXPECT_NEAR(-large.log_tolerance / std::log(4096.0), 2 + 40 * 60 / 7.0 * 1.25, 1.0);
}

TEST(GapAnnToAttentionPaper, SatisfiesTheLemmaOnEveryTinyInstance) {
  for (std::int64_t r_yes = -1; r_yes <= 3; ++r_yes) {
    for (std::int64_t r_no = r_yes + 1; r_no <= 4; ++r_no) {
      for (unsigned code = 0; code < 64; ++code) {
        GapAnn::Instance gap{BitMatrix(1, 2), BitMatrix(2, 2), r_yes, r_no};
        for (unsigned bit = 0; bit < 2; ++bit) gap.queries.set(0, bit, ((code >> bit) & 1U) != 0);
        for (unsigned bit = 0; bit < 4; ++bit) gap.keys.set(bit / 2, bit % 2, ((code >> (2 + bit)) & 1U) != 0);
        const Attention::Instance target = paper().reduce(gap);
        expect_lemma(gap, target);
        for (const int shift : {-1, 0, 1})
          expect_right_answer(gap, paper().lift(gap, target, log_answer(target, shift)));
      }
    }
  }
}

RC_GTEST_PROP(GapAnnToAttentionPaper, SatisfiesTheLemmaOnRandomInstances, ()) {
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  const auto dim = *rc::gen::inRange<std::uint64_t>(0, 10);
  const auto r_yes = *rc::gen::inRange<std::int64_t>(-1, static_cast<std::int64_t>(dim) + 2);
  const GapAnn::Instance gap = test::random_gap(random, {.num_queries = *rc::gen::inRange<std::uint64_t>(0, 4),
                                                         .num_keys = *rc::gen::inRange<std::uint64_t>(0, 9),
                                                         .dim = dim,
                                                         .r_yes = r_yes,
                                                         .r_no = r_yes + *rc::gen::inRange<std::int64_t>(1, 6)});
  const Attention::Instance target = paper().reduce(gap);
  expect_lemma(gap, target);
  for (const int shift : {-1, 0, 1}) expect_right_answer(gap, paper().lift(gap, target, log_answer(target, shift)));
  RC_ASSERT(!::testing::Test::HasFailure());
}

TEST(GapAnnToAttentionPaper, DuplicatesASingleKeyAndNeedsNone) {
  const GapAnn::Instance one{test::bits(2, {"10", "01"}), test::bits(2, {"10"}), 0, 2};
  const Attention::Instance target = paper().reduce(one);
  EXPECT_EQ(target.k.rows(), 4);
  EXPECT_EQ(target.k.row(0), target.k.row(1));
  EXPECT_EQ(target.v.sum(), 2.0);
  EXPECT_EQ(paper().lift(one, target, log_answer(target, 0)).near, (std::vector<bool>{true, false}));

  const GapAnn::Instance none{test::bits(2, {"10"}), BitMatrix(0, 2), 1, 2};
  const Attention::Instance empty = paper().reduce(none);
  EXPECT_EQ(empty.k.rows(), 4);
  EXPECT_EQ(empty.v.sum(), 0.0);
  EXPECT_EQ(paper().lift(none, empty, log_answer(empty, 1)).near, std::vector<bool>{false});

  const GapAnn::Instance no_query{BitMatrix(0, 2), test::bits(2, {"10"}), 0, 2};
  EXPECT_TRUE(paper().lift(no_query, paper().reduce(no_query), Attention::Answer()).near.empty());
}

TEST(GapAnnToAttentionPaper, LiftRefusesWhatItCannotDecide) {
  const GapAnn::Instance gap{test::bits(3, {"101", "001"}), test::bits(3, {"100", "011"}), 0,
                             2};  // far?: 1, 2 and 2, 1
  const GapAnn::Instance promised{test::bits(3, {"100", "111"}), test::bits(3, {"100", "100"}), 0, 2};
  const auto kind_of = [](const GapAnn::Instance& source, const Attention::Answer& answer) {
    try {
      paper().lift(source, paper().reduce(source), answer);
    } catch (const Error& e) {
      return e.kind();
    }
    return ErrorKind::internal;
  };
  Attention::Answer right = log_answer(paper().reduce(promised), 0);
  EXPECT_EQ(kind_of(promised, right), ErrorKind::internal) << "the right answer must be lifted";

  Attention::Answer plain = right;
  plain.log_column.clear();
  EXPECT_EQ(kind_of(promised, plain), ErrorKind::unsupported);
  Attention::Answer wide = right;
  wide.log_column[1] = {-kInfinity, 0.0};
  EXPECT_EQ(kind_of(promised, wide), ErrorKind::undecided);
  for (const Attention::LogEnclosure bad :
       {Attention::LogEnclosure{std::nan(""), 0.0}, {-1.0, std::nan("")}, {0.0, -1.0}}) {
    Attention::Answer broken = right;
    broken.log_column[0] = bad;
    EXPECT_EQ(kind_of(promised, broken), ErrorKind::refuted);
  }
  Attention::Answer shorter = right;
  shorter.log_column.pop_back();
  EXPECT_EQ(kind_of(promised, shorter), ErrorKind::parameter);
  // Rows outside the promise may stay undecided: any answer is right.
  Attention::Answer vague = log_answer(paper().reduce(gap), 0);
  for (Attention::LogEnclosure& u : vague.log_column) u = {-kInfinity, 0.0};
  EXPECT_EQ(paper().lift(gap, paper().reduce(gap), vague).near, (std::vector<bool>{false, false}));
}

TEST(GapAnnToAttentionPaper, PlantedFaultsAreSeen) {
  const GapAnn::Instance gap{test::bits(4, {"1111", "0000"}), test::bits(4, {"1111", "1111"}), 1, 2};
  const Attention::Instance good = paper().reduce(gap);
  expect_right_answer(gap, paper().lift(gap, good, log_answer(good, 0)));
  // A quarter of beta (s halved): the weights spread too little and the far row passes the threshold.
  Attention::Instance bad = good;
  bad.q /= 2;
  bad.k /= 2;
  EXPECT_TRUE(paper().lift(gap, bad, log_answer(bad, 0)).near[1]);
  // Padding keys dropped (V's zeros): u = 1 for every row.
  bad = good;
  bad.k.bottomRows(2) = bad.k.topRows(2);
  bad.v.setOnes();
  EXPECT_TRUE(paper().lift(gap, bad, log_answer(bad, 0)).near[1]);
}

TEST(GapAnnToAttentionPaper, SmallTIsEnumeratedWithoutAnOracle) {
  const Oracle<Attention> forbidden{
      "none", [](const Attention::Instance&) -> Attention::Answer { throw std::logic_error("the oracle was called"); }};
  Random random(3);
  for (std::int64_t r_yes = -1; r_yes <= 4; ++r_yes) {
    for (const std::uint64_t num_keys : {0, 1, 7}) {
      for (const std::uint64_t dim : {0, 3, 12, 66}) {
        const GapAnn::Instance gap = test::random_gap(
            random, {.num_queries = 9, .num_keys = num_keys, .dim = dim, .r_yes = r_yes, .r_no = r_yes + 1});
        const GapAnn::Answer answer = paper(100).solve(gap, forbidden);
        ASSERT_EQ(answer.near.size(), 9U);
        // Exact also between the thresholds: near iff some distance is at most r_yes.
        for (std::uint64_t i = 0; i < 9; ++i) ASSERT_EQ(answer.near[i], test::promise_of(gap, i) == test::Row::near);
      }
    }
  }
  const GapAnn::Instance large{BitMatrix(1, 200), BitMatrix(1, 200), 50, 60};
  try {
    paper(1e6).solve(large, forbidden);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::resource);
    EXPECT_NE(std::string(e.what()).find("points"), std::string::npos);
  }
}

TEST(GapAnnToAttentionPaper, LargeTAsksTheOracle) {
  const GapAnn::Instance gap{test::bits(3, {"100", "111"}), test::bits(3, {"100", "100"}), 0, 2};
  int calls = 0;
  const Oracle<Attention> oracle{"enclosures", [&](const Attention::Instance& target) {
                                   ++calls;
                                   return log_answer(target, 0);
                                 }};
  EXPECT_EQ(paper(0).solve(gap, oracle).near, (std::vector<bool>{true, false}));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace subquad::reductions
