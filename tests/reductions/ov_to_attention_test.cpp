#include "attention_enclosure.hpp"
#include "bit_matrices.hpp"
#include "expect_error.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/reductions/ov_to_attention.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace subquad::reductions {
namespace {

using problems::Attention;
using problems::MatrixD;
using problems::OrthogonalVectors;
using test::enclose_row;
using test::RowEnclosure;

static_assert(ManyOne<OvToAttention>);

BitMatrix random_rows(Random& random, std::uint64_t count, std::uint64_t cols, double density) {
  BitMatrix matrix(count, cols);
  for (std::uint64_t r = 0; r < count; ++r)
    for (std::uint64_t c = 0; c < cols; ++c) matrix.set(r, c, random.bernoulli(density));
  return matrix;
}

/// Straight from the definition, coordinate by coordinate.
bool has_partner(const OrthogonalVectors::Instance& ov, std::uint64_t i) {
  for (std::uint64_t j = 0; j < ov.b.rows(); ++j) {
    int product = 0;
    for (std::uint64_t c = 0; c < ov.a.cols(); ++c) product += ov.a.get(i, c) && ov.b.get(j, c) ? 1 : 0;
    if (product == 0) return true;
  }
  return false;
}

OvToAttention with(const std::string& eps) {
  return OvToAttention({Tolerance(eps)});
}

/// Checks everything that claim SQ.OV says about an instance, in enclosures.
void expect_claim(const OrthogonalVectors::Instance& ov, const Attention::Instance& target, double eps) {
  const double n = static_cast<double>(std::max<std::uint64_t>(ov.b.rows(), 1));
  const double rho = std::pow((1 + 2 * eps) / (1 - 2 * eps), 2);
  const double formula = std::sqrt(static_cast<double>(ov.a.cols() + 1) * std::log(rho * n));
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
  for (std::uint64_t i = 0; i < ov.a.rows(); ++i) {
    const RowEnclosure u = enclose_row(target, static_cast<Eigen::Index>(i));
    if (has_partner(ov, i)) {
      ASSERT_GT(u.low, 0.5 + eps) << "row " << i;
    } else {
      ASSERT_LT(u.high, 0.5 - eps) << "row " << i;
    }
  }
}

/// The exact output, rounded to double: an oracle that is right.
Attention::Answer exact_answer(const Attention::Instance& target) {
  Attention::Answer answer;
  answer.output = MatrixD(target.q.rows(), 1);
  for (Eigen::Index i = 0; i < target.q.rows(); ++i) answer.output(i, 0) = enclose_row(target, i).low;
  return answer;
}

TEST(OvToAttention, MatchesAHandComputedExample) {
  // n = m = 1, eps = 1/4: rho = 9, L = ln 9 = 2.19722, d~ = 2, beta = 4.39445, sqrt = 2.096294 = 2146.605/1024, rounded
  // up to 2147/1024. X = s^2/2. The threshold in the middle of [-X + ln 3, -ln 3) is w = -X/2, so that c = -s/2.
  const OrthogonalVectors::Instance ov{test::bits(1, {"1", "0"}), test::bits(1, {"1"})};
  const Attention::Instance target = with("0.25").reduce(ov);
  const double s = 2147.0 / 1024.0;
  MatrixD q(2, 2), k(2, 2), v(2, 1);
  q << s, s, 0, s;
  k << -s, 0, 0, -s / 2;
  v << 1, 0;
  EXPECT_EQ(target.q, q);
  EXPECT_EQ(target.k, k);
  EXPECT_EQ(target.v, v);
  EXPECT_EQ(target.scale, 0.5);
  EXPECT_EQ(target.entry_bound, s);
  EXPECT_NEAR(target.log_tolerance, std::log(0.25), 1e-15);
  // u = 1/(1 + e^(s^2/4)) = 1/(1 + 3.00121) for <a,b> = 1 and 1/(1 + e^(-s^2/4)) for 0.
  EXPECT_NEAR(enclose_row(target, 0).low, 0.249924, 1e-6);
  EXPECT_NEAR(enclose_row(target, 1).low, 0.750076, 1e-6);
}

TEST(OvToAttention, MatchesTheExamplesOfItsPage) {
  const Attention::Instance yes =
      OvToAttention().reduce({test::bits(3, {"110", "001"}), test::bits(3, {"100", "110"})});
  EXPECT_EQ(yes.entry_bound, 157.0 / 64.0);
  EXPECT_EQ(yes.scale, 0.25);
  EXPECT_NEAR(yes.k(2, 3), -0.661449, 5e-7);
  EXPECT_NEAR(enclose_row(yes, 0).low, 0.28942, 5e-6);
  EXPECT_NEAR(enclose_row(yes, 1).low, 0.75004, 5e-6);
  const Attention::Instance no = OvToAttention().reduce({test::bits(3, {"110", "010"}), test::bits(3, {"011", "110"})});
  EXPECT_NEAR(enclose_row(no, 0).low, 0.28942, 5e-6);
  EXPECT_NEAR(enclose_row(no, 1).low, 0.39995, 5e-6);
}

TEST(OvToAttention, DecidesEveryTinyInstance) {
  // All pairs of sides with two vectors of dimension 2.
  for (unsigned code = 0; code < 256; ++code) {
    BitMatrix a(2, 2), b(2, 2);
    for (unsigned bit = 0; bit < 4; ++bit) {
      a.set(bit / 2, bit % 2, ((code >> bit) & 1U) != 0);
      b.set(bit / 2, bit % 2, ((code >> (4 + bit)) & 1U) != 0);
    }
    const OrthogonalVectors::Instance ov{a, b};
    const Attention::Instance target = OvToAttention().reduce(ov);
    expect_claim(ov, target, 0.1);
    const auto answer = OvToAttention().lift(ov, target, exact_answer(target));
    const bool first = has_partner(ov, 0);
    ASSERT_EQ(answer.witness.has_value(), first || has_partner(ov, 1)) << code;
    if (answer.witness) {
      EXPECT_EQ(answer.witness->first, first ? 0U : 1U);
      EXPECT_TRUE(orthogonal(a.row(answer.witness->first), b.row(answer.witness->second)));
    }
  }
}

RC_GTEST_PROP(OvToAttention, HoldsForRandomInstances, ()) {
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  const auto num_a = *rc::gen::inRange<std::uint64_t>(0, 6);
  const auto num_b = *rc::gen::inRange<std::uint64_t>(0, 12);
  const auto dim = *rc::gen::inRange<std::uint64_t>(0, 70);
  const double density = *rc::gen::element(0.0, 0.1, 0.3, 0.7, 1.0);
  const auto eps =
      *rc::gen::element(std::pair("0.01", 0.01), std::pair("0.1", 0.1), std::pair("0.25", 0.25), std::pair("0.4", 0.4));
  const OrthogonalVectors::Instance ov{random_rows(random, num_a, dim, density),
                                       random_rows(random, num_b, dim, density)};
  const OvToAttention reduction = with(eps.first);
  const Attention::Instance target = reduction.reduce(ov);
  expect_claim(ov, target, eps.second);
  RC_ASSERT(!::testing::Test::HasFailure());
  // Any output within eps_a gives the same flags: push every row as far towards 1/2 as it may go.
  Attention::Answer answer = exact_answer(target);
  for (std::uint64_t i = 0; i < num_a; ++i) {
    double& u = answer.output(static_cast<Eigen::Index>(i), 0);
    u += u > 0.5 ? -eps.second : eps.second;
  }
  const std::vector<bool> flags = OvToAttention::row_flags(target, answer);
  for (std::uint64_t i = 0; i < num_a; ++i) RC_ASSERT(flags[i] == has_partner(ov, i));
  const auto violations_found = violations(reduction.size_bounds(), {{"num_a", num_a}, {"num_b", num_b}, {"dim", dim}},
                                           {{"num_queries", Count(target.q.rows())},
                                            {"num_keys", Count(target.k.rows())},
                                            {"dim", Count(target.q.cols())},
                                            {"value_dim", Count(target.v.cols())}});
  RC_ASSERT(violations_found.empty());
}

/// Row 0 has one partner and the rest far away; row 1 meets every key exactly once. dim >= 3.
OrthogonalVectors::Instance adversarial(std::uint64_t num_keys, std::uint64_t dim) {
  OrthogonalVectors::Instance ov{BitMatrix(2, dim), BitMatrix(num_keys, dim)};
  for (std::uint64_t c = 0; c + 1 < dim; ++c) ov.a.set(0, c, true);
  ov.a.set(1, dim - 1, true);
  for (std::uint64_t j = 0; j < num_keys; ++j)
    for (std::uint64_t c = 0; c < dim; ++c) ov.b.set(j, c, j != 0 || c + 1 == dim);
  return ov;
}

TEST(OvToAttention, GapIsAttainedByAdversarialInputs) {
  for (const auto& [text, eps] :
       {std::pair("0.01", 0.01), std::pair("0.1", 0.1), std::pair("0.25", 0.25), std::pair("0.4", 0.4)}) {
    for (const std::uint64_t n : {1, 2, 33, 400}) {
      const OrthogonalVectors::Instance ov = adversarial(n, 40);
      const Attention::Instance target = with(text).reduce(ov);
      expect_claim(ov, target, eps);
      const RowEnclosure near = enclose_row(target, 0);
      const RowEnclosure far = enclose_row(target, 1);
      // No better bound is possible: both rows come within 1 % of it, and their logits within the widening 0.002 L that
      // is proved.
      EXPECT_LT(near.high, 1.01 * (0.5 + eps));
      EXPECT_GT(far.low, 0.99 * (0.5 - eps));
      const double h = std::log((1 + 2 * eps) / (1 - 2 * eps));
      const double log_rho_n = std::log(static_cast<double>(n)) + 2 * h;
      EXPECT_LT(near.odds_log_high, h + 0.002 * log_rho_n + 1e-12);
      EXPECT_GT(far.odds_log_low, -h - 0.002 * log_rho_n - 1e-12);
    }
  }
}

TEST(OvToAttention, Float32ArithmeticSuffices) {
  const OrthogonalVectors::Instance ov = adversarial(400, 40);
  const Attention::Instance target = with("0.01").reduce(ov);
  for (Eigen::Index i = 0; i < 2; ++i) {
    float numerator = 0, total = 0;
    for (Eigen::Index j = 0; j < target.k.rows(); ++j) {
      float logit = 0;
      for (Eigen::Index c = 0; c < target.k.cols(); ++c)
        logit += static_cast<float>(target.q(i, c)) * static_cast<float>(target.k(j, c));
      const float weight = std::exp(static_cast<float>(target.scale) * logit);
      total += weight;
      if (target.v(j, 0) != 0) numerator += weight;
    }
    EXPECT_NEAR(numerator / total, enclose_row(target, i).low, 1e-4);
    EXPECT_EQ(numerator / total > 0.5F, i == 0);
  }
}

TEST(OvToAttention, WorksAtTheEdges) {
  struct Edge {
    std::uint64_t num_a, num_b, dim;
    double density;
  };
  for (const Edge& edge : {Edge{0, 0, 0, 0}, Edge{0, 3, 2, 1}, Edge{3, 0, 2, 1}, Edge{3, 0, 0, 0}, Edge{1, 1, 0, 0},
                           Edge{2, 2, 0, 0}, Edge{1, 1, 64, 1}, Edge{3, 5, 65, 1}, Edge{3, 5, 64, 0}}) {
    Random random(1);
    const OrthogonalVectors::Instance ov{random_rows(random, edge.num_a, edge.dim, edge.density),
                                         random_rows(random, edge.num_b, edge.dim, edge.density)};
    const Attention::Instance target = OvToAttention().reduce(ov);
    expect_claim(ov, target, 0.1);
    EXPECT_EQ(target.k.rows(), static_cast<Eigen::Index>(edge.num_b + 1));
    const auto answer = OvToAttention().lift(ov, target, exact_answer(target));
    bool expected = false;
    for (std::uint64_t i = 0; i < edge.num_a; ++i) expected = expected || has_partner(ov, i);
    EXPECT_EQ(answer.witness.has_value(), expected);
  }
}

TEST(OvToAttention, PlantedFaultsBreakTheGap) {
  const double eps = 0.1;
  const OrthogonalVectors::Instance ov = adversarial(33, 40);
  const Attention::Instance good = with("0.1").reduce(ov);
  {  // The square of rho dropped: L = ln n + h instead of ln n + 2h, with c placed as before.
    const double h = std::log((1 + 2 * eps) / (1 - 2 * eps));
    const double s = std::sqrt(41 * (std::log(33.0) + h));
    Attention::Instance bad = good;
    bad.q *= s / good.q(0, 0);
    bad.k.topRows(33) *= s / good.q(0, 0);
    bad.k(33, 40) = -h / 2 * 41 / s;
    EXPECT_LT(enclose_row(bad, 0).high, 0.5 + eps);
    EXPECT_GT(enclose_row(bad, 1).low, 0.5 - eps);
  }
  {  // The extra key dropped: every output is 1.
    Attention::Instance bad = good;
    bad.k.conservativeResize(33, Eigen::NoChange);
    bad.v.conservativeResize(33, Eigen::NoChange);
    EXPECT_EQ(enclose_row(bad, 1).low, 1.0);
  }
  {  // One key's inner product lowered from 1 to 1/2.
    Attention::Instance bad = good;
    bad.k(5, 39) /= 2;
    EXPECT_GT(enclose_row(bad, 1).low, 0.5 - eps);
  }
}

TEST(OvToAttention, LiftRefutesAWrongOracle) {
  const OrthogonalVectors::Instance ov{test::bits(3, {"110", "001"}),
                                       test::bits(3, {"100", "110"})};  // only row 1 has partners
  const OvToAttention reduction;
  const Attention::Instance target = reduction.reduce(ov);
  const Attention::Answer right = exact_answer(target);
  EXPECT_EQ(reduction.lift(ov, target, right).witness, std::pair(std::uint64_t{1}, std::uint64_t{0}));

  Attention::Answer wrong = right;
  wrong.output(0, 0) = 0.8125;
  try {
    reduction.lift(ov, target, wrong);
    ADD_FAILURE() << "a flagged row without partner was lifted";
  } catch (const OracleRefuted& e) {
    EXPECT_EQ(e.row(), 0U);
    EXPECT_NE(std::string(e.what()).find("0.8125"), std::string::npos);
  }
  wrong.output(0, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(reduction.lift(ov, target, wrong), OracleRefuted);
  // A kernel that misses row 1 is not caught here: verifiers scan the rows that are not flagged.
  wrong = right;
  wrong.output(1, 0) = 0.1;
  EXPECT_FALSE(reduction.lift(ov, target, wrong).witness.has_value());
}

TEST(OvToAttention, RefusesWhatDoesNotFit) {
  test::expect_error(ErrorKind::parameter, [] { OvToAttention().reduce({BitMatrix(1, 2), BitMatrix(1, 3)}); });
  const OrthogonalVectors::Instance ov{test::bits(1, {"1"}), test::bits(1, {"1"})};
  const OrthogonalVectors::Instance other{test::bits(2, {"10"}), test::bits(2, {"10"})};
  const Attention::Instance target = OvToAttention().reduce(ov);
  test::expect_error(ErrorKind::parameter, [&] { OvToAttention().lift(other, target, exact_answer(target)); });
  test::expect_error(ErrorKind::parameter, [&] { OvToAttention().lift(ov, target, {MatrixD::Zero(2, 1), {}}); });
  test::expect_error(ErrorKind::parameter, [] { OvToAttention::Parameters::parse({{"tolerance", "0.5"}}); });
  test::expect_error(ErrorKind::parameter, [] { OvToAttention::Parameters::parse({{"epsilon", "0.1"}}); });
  EXPECT_EQ(OvToAttention::Parameters::parse({{"tolerance", "0.25"}}).tolerance, Tolerance("0.25"));
  EXPECT_EQ(OvToAttention::Parameters::parse({}), OvToAttention::Parameters());
  std::atomic<bool> stop = true;
  Execution stopped;
  stopped.stop = &stop;
  test::expect_error(ErrorKind::interrupted, [&] { OvToAttention().reduce(ov, stopped); });
}

}  // namespace
}  // namespace subquad::reductions
