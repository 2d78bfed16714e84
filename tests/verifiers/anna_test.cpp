// ANNA verifier: right counts, a catalogue of wrong ones, distances at the very boundary, the output check.
#include "expect_error.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/exact/rational.hpp>
#include <subquad/verifiers/anna.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace subquad::verifiers;
using subquad::ErrorKind;
using subquad::Execution;
using subquad::Random;
using subquad::Verdict;
using subquad::exact::from_double;
using subquad::exact::Rational;
using subquad::problems::MatrixD;
using subquad::test::expect_error;

/// One query at 0 on a line; keys at 0.5, 1, 1.5, 3 (r = 1, c = 2: two near, one between, one far).
struct Line {
  MatrixD q = MatrixD::Zero(1, 1);
  MatrixD k{4, 1};
  AnnaClaim claim{1.0, 2.0, 2, false};
  Line() { k << 0.5, 1, 1.5, 3; }
  AnnaReport judge(const AnnaRow& row) const { return verify_anna(q, k, claim, {row}); }
};

TEST(AnnaVerifier, CertifiesRightCounts) {
  const Line line;
  for (const AnnaRow& row :
       {AnnaRow{{0, 1}, {1, 1}}, AnnaRow{{0, 2}, {1, 2}, {2, 2}}, AnnaRow{{0, 1}, {1, 2}, {2, 2}}}) {
    const AnnaReport report = line.judge(row);
    EXPECT_EQ(report.verdict, Verdict::certified);
    EXPECT_EQ(report.near_pairs, 2u);
    EXPECT_TRUE(report.findings.empty());
  }
}

TEST(AnnaVerifier, RefutesEachConditionByOnePair) {
  const Line line;
  const auto refuted = [&](const AnnaRow& row, const std::string& reason) {
    const AnnaReport report = line.judge(row);
    EXPECT_EQ(report.verdict, Verdict::refuted);
    ASSERT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(report.findings[0].reason, reason);
  };
  refuted({{0, 1}, {1, 1}, {3, 1}}, "A1: key 3 has count 1, but is farther than c r = 2");
  refuted({{1, 1}}, "A2: key 0 is within r = 1, but has count 0");
  // l = 2, three keys within c r: a near key needs 1/5 of the weight; 1 of 5 is enough, 1 of 6 is not.
  EXPECT_EQ(line.judge({{0, 1}, {1, 2}, {2, 2}}).verdict, Verdict::certified);
  refuted({{0, 1}, {1, 2}, {2, 3}}, "A2: key 0 is within r = 1 with count 1 of 6, less than 1/((3 - 1) 2 + 1)");
  EXPECT_EQ(line.judge({}).missed_pairs, 2u);
}

TEST(AnnaVerifier, RowsWithoutNeighbour) {
  Line line;
  line.q(0, 0) = -5;  // the nearest key is 5.5 away
  EXPECT_EQ(line.judge({}).verdict, Verdict::certified);
  EXPECT_EQ(line.judge({}).empty_rows, 1u);
  line.claim.strict = true;
  EXPECT_EQ(line.judge({}).verdict, Verdict::refuted);
  line.q(0, 0) = 3.5;  // key 1.5 is at 2 = c r: no near key but a neighbour; weight there is allowed, not asked for
  line.k(3, 0) = 100;
  EXPECT_EQ(line.judge({{2, 7}}).verdict, Verdict::certified);
}

TEST(AnnaVerifier, EqualKeysCountEach) {
  // Two equal keys at the query: each has weight 1/2, which is less than 1 = 1/((1 - 1) l + 1) if keys were a set of
  // vectors.
  const MatrixD q = MatrixD::Zero(1, 1), k = MatrixD::Zero(2, 1);
  EXPECT_EQ(verify_anna(q, k, {0.0, 1.0, 1, true}, {{{0, 1}, {1, 1}}}).verdict, Verdict::certified);
  EXPECT_EQ(verify_anna(q, k, {0.0, 1.0, 1, true}, {{{0, 1}}}).verdict, Verdict::refuted);
}

TEST(AnnaVerifier, DistancesAtTheBoundaryAreDecidedExactly) {
  const auto near = [](const MatrixD& q, const MatrixD& k, double r) {
    return verify_anna(q, k, {r, 1.0, 1, false}, {{}}).near_pairs == 1;
  };
  // 3-4-5, and one unit in the last place beyond.
  MatrixD q = MatrixD::Zero(1, 2), k(1, 2);
  k << 3, 4;
  EXPECT_TRUE(near(q, k, 5));
  EXPECT_FALSE(near(q, k, std::nextafter(5, 0)));
  k(0, 0) = std::nextafter(3, 4);
  EXPECT_FALSE(near(q, k, 5));
  // 0.1 + 0.2 is not 0.3: the key lies at the double 0.1 beyond the query 0.2.
  MatrixD a = MatrixD::Constant(1, 1, 0.2), b = MatrixD::Constant(1, 1, 0.3);
  EXPECT_TRUE(near(a, b, 0.1));  // 0.3 - 0.2 as doubles is 0.09999999999999998
  EXPECT_FALSE(near(MatrixD::Constant(1, 1, -0.2), MatrixD::Constant(1, 1, 0.1), 0.3));
  // c r = 0.1 * 3 as a product of rationals, not of doubles (which would be 0.30000000000000004).
  const AnnaClaim claim{0.1, 3.0, 1, false};
  const MatrixD zero = MatrixD::Zero(1, 1);
  EXPECT_EQ(verify_anna(zero, MatrixD::Constant(1, 1, 0.1 * 3), claim, {{{0, 1}}}).verdict, Verdict::refuted);
  EXPECT_EQ(verify_anna(zero, MatrixD::Constant(1, 1, 0.3), claim, {{{0, 1}}}).verdict, Verdict::certified);
}

TEST(AnnaVerifier, HugeAndTinyNumbers) {
  const MatrixD q = MatrixD::Constant(1, 1, -1e308), k = MatrixD::Constant(1, 1, 1e308);
  EXPECT_EQ(verify_anna(q, k, {1e308, 1.9, 1, false}, {{}}).near_pairs, 0u);
  EXPECT_EQ(verify_anna(q, k, {1e308, 1.9, 1, false}, {{{0, 1}}}).false_pairs, 1u);
  EXPECT_EQ(verify_anna(q, k, {1e308, 2.0, 1, false}, {{{0, 1}}}).false_pairs, 0u);
  const MatrixD tiny = MatrixD::Constant(1, 1, 5e-324), zero = MatrixD::Zero(1, 1);
  EXPECT_EQ(verify_anna(zero, tiny, {0.0, 1.0, 1, false}, {{}}).near_pairs, 0u);
  EXPECT_EQ(verify_anna(zero, tiny, {5e-324, 1.0, 1, false}, {{{0, 1}}}).near_pairs, 1u);
  EXPECT_GE(verify_anna(zero, tiny, {5e-324, 1.0, 1, false}, {{{0, 1}}}).exact_distances, 1u);
}

TEST(AnnaVerifier, LargeCountsDoNotOverflow) {
  const Line line;
  const std::uint64_t big = std::uint64_t{1} << 63;
  EXPECT_EQ(line.judge({{0, big}, {1, big}, {2, big}}).verdict, Verdict::certified);
  EXPECT_EQ(line.judge({{0, 1}, {1, big}, {2, big}}).light_pairs, 1u);
}

TEST(AnnaVerifier, DoesNotDependOnThreads) {
  Random random(1);
  MatrixD q(200, 2), k(60, 2);
  for (Eigen::Index e = 0; e < q.size(); ++e) q.data()[e] = random.normal();
  for (Eigen::Index e = 0; e < k.size(); ++e) k.data()[e] = random.normal();
  std::vector<AnnaRow> rows(200);
  for (AnnaRow& row : rows) {
    for (std::uint64_t j = 0; j < 60; ++j) {
      if (random.bernoulli(0.3)) row.emplace_back(j, 1 + random.below(3));
    }
  }
  Execution one, three;
  one.threads = 1;
  three.threads = 3;
  const AnnaReport a = verify_anna(q, k, {0.5, 2.0, 3, false}, rows, one);
  const AnnaReport b = verify_anna(q, k, {0.5, 2.0, 3, false}, rows, three);
  ASSERT_EQ(a.findings.size(), 16u);
  ASSERT_EQ(b.findings.size(), 16u);
  for (std::size_t f = 0; f < 16; ++f) EXPECT_EQ(a.findings[f].reason, b.findings[f].reason);
  EXPECT_EQ(a.false_pairs, b.false_pairs);
  EXPECT_EQ(a.missed_pairs, b.missed_pairs);
}

TEST(AnnaVerifier, BadInput) {
  const Line line;
  const auto refuse = [&](const char* part, const AnnaClaim& claim, const std::vector<AnnaRow>& rows) {
    expect_error(ErrorKind::parameter, part, [&] { verify_anna(line.q, line.k, claim, rows); });
  };
  const double nan = std::nan("");
  refuse("r = -1", {-1, 2, 1, false}, {{}});
  refuse("r = nan", {nan, 2, 1, false}, {{}});
  refuse("c = 0.5", {1, 0.5, 1, false}, {{}});
  refuse("c = nan", {1, nan, 1, false}, {{}});
  refuse("l = 0", {1, 2, 0, false}, {{}});
  refuse("counts of 2 rows", {1, 2, 1, false}, {{}, {}});
  refuse("key 4 of 4", {1, 2, 1, false}, {{{4, 1}}});
  refuse("ascending", {1, 2, 1, false}, {{{1, 1}, {0, 1}}});
  refuse("ascending", {1, 2, 1, false}, {{{1, 1}, {1, 1}}});
  refuse("count 0", {1, 2, 1, false}, {{{1, 0}}});
  MatrixD bad = line.k;
  bad(2, 0) = nan;
  expect_error(ErrorKind::parameter, "K[2,0] is nan", [&] { verify_anna(line.q, bad, line.claim, {{}}); });
}

TEST(AnnaVerifier, OutputsAreTheWeightedMeans) {
  MatrixD v(3, 2), output(2, 2);
  v << 1, -1, 4, 0.1, 7, 0.3;
  const std::vector<AnnaRow> rows{{{0, 2}, {2, 1}}, {}};
  output << 3, (2 * -1 + 0.3) / 3, 0, 0;
  EXPECT_EQ(verify_anna_output(v, rows, 2, output).verdict, Verdict::certified);
  MatrixD bad = output;
  bad(0, 1) += 1e-12;
  EXPECT_EQ(verify_anna_output(v, rows, 2, bad).verdict, Verdict::refuted);
  bad = output;
  bad(1, 0) = 1e-300;
  EXPECT_EQ(verify_anna_output(v, rows, 2, bad).verdict, Verdict::refuted);
  bad = output;
  bad(0, 0) = std::nan("");
  EXPECT_EQ(verify_anna_output(v, rows, 2, bad).verdict, Verdict::refuted);
  bad(0, 0) = std::numeric_limits<double>::infinity();
  EXPECT_EQ(verify_anna_output(v, rows, 2, bad).verdict, Verdict::refuted);
  expect_error(ErrorKind::parameter, "expected 2 x 2", [&] { verify_anna_output(v, rows, 2, MatrixD::Zero(2, 1)); });
}

TEST(AnnaVerifier, OutputsInTheDenormalRange) {
  // (2^-1074 + 0)/2 is no double: both neighbours are right, the next one is not.
  const double least = std::numeric_limits<double>::denorm_min();
  MatrixD v(2, 1), output(1, 1);
  v << least, 0;
  for (const double found : {0.0, least, 2 * least, -least}) {
    output << found;
    EXPECT_EQ(verify_anna_output(v, {{{0, 1}, {1, 1}}}, 1, output).verdict,
              found == 0 || found == least ? Verdict::certified : Verdict::refuted)
        << found;
  }
}

TEST(AnnaVerifier, OutputsAtTheEdgeOfTheAllowedRounding) {
  // l + n_k = 4: the bound is 4u/(1 - 4u) times 1. One unit in the last place above 1 is 2u, below it is u.
  const MatrixD v = MatrixD::Ones(3, 1);
  const auto verdict = [&](double found) {
    return verify_anna_output(v, {{{0, 1}, {2, 5}}}, 1, MatrixD::Constant(1, 1, found)).verdict;
  };
  EXPECT_EQ(verdict(1 + 4 * 0x1p-53), Verdict::certified);
  EXPECT_EQ(verdict(1 + 6 * 0x1p-53), Verdict::refuted);
  EXPECT_EQ(verdict(1 - 4 * 0x1p-53), Verdict::certified);
  EXPECT_EQ(verdict(1 - 5 * 0x1p-53), Verdict::refuted);
  // Values whose sum overflows, and counts beyond 2^53, go to rationals.
  const MatrixD huge = MatrixD::Constant(2, 1, 1e308);
  EXPECT_EQ(verify_anna_output(huge, {{{0, 9}, {1, 9}}}, 9, MatrixD::Constant(1, 1, 1e308)).verdict,
            Verdict::certified);
  EXPECT_EQ(verify_anna_output(huge, {{{0, 9}, {1, 9}}}, 9, MatrixD::Constant(1, 1, 1.1e308)).verdict,
            Verdict::refuted);
  const std::uint64_t big = std::uint64_t{1} << 63;
  EXPECT_EQ(verify_anna_output(v, {{{0, big}, {1, big + 1}}}, 1, MatrixD::Ones(1, 1)).verdict, Verdict::certified);
}

/// The only pair's class: "near", "middle" or "far", by the counts of the report.
std::string place(const MatrixD& q, const MatrixD& k, double r, double c, AnnaMetric metric) {
  const AnnaReport report = verify_anna(q, k, {r, c, 1, false, metric}, {{{0, 1}}});
  return report.near_pairs == 1 ? "near" : report.false_pairs == 1 ? "far" : "middle";
}

TEST(AnnaVerifier, AngularDistancesAtTheBoundary) {
  const auto below = [](double t) { return std::nextafter(t, 0); };
  MatrixD x(1, 5), y(1, 5);
  x << 1, 1, 0, 0, 0;
  y << 0, 1, 1, 0, 0;  // 60 degrees: distance 1
  for (const double scale : {1.0, 0x1p-900, 0x1p900}) {
    EXPECT_EQ(place(x * scale, y, 1, 1, AnnaMetric::angular), "near");
    EXPECT_EQ(place(x * scale, y, below(1), 1, AnnaMetric::angular), "far");
    EXPECT_EQ(place(x, y * scale, 0.5, 2, AnnaMetric::angular), "middle");
  }
  x << 3, 0, 0, 0, 0;
  y << -1, 7, 3, 2, 1;  // cos = -1/8: distance 3/2
  EXPECT_EQ(place(x, y, 1.5, 1, AnnaMetric::angular), "near");
  EXPECT_EQ(place(x, y, below(1.5), 1, AnnaMetric::angular), "far");
  EXPECT_EQ(place(x, -x, 2, 1, AnnaMetric::angular), "near");
  EXPECT_EQ(place(x, -x, below(2), 1, AnnaMetric::angular), "far");
  EXPECT_EQ(place(y, 3 * y, 0, 1, AnnaMetric::angular), "near");
  expect_error(ErrorKind::parameter, "row 0 of K is zero",
               [&] { place(x, MatrixD::Zero(1, 5), 1, 1, AnnaMetric::angular); });
}

TEST(AnnaVerifier, HammingDistancesAtTheBoundary) {
  MatrixD x(1, 4), y(1, 4);
  x << 0, 1, 0, 1;
  y << 1, 1, 0, 0;
  EXPECT_EQ(place(x, y, 2, 1, AnnaMetric::hamming), "near");
  EXPECT_EQ(place(x, y, std::nextafter(2, 0), 1, AnnaMetric::hamming), "far");
  EXPECT_EQ(place(x, y, 1.5, 4.0 / 3, AnnaMetric::hamming), "far");  // 4/3 as a double is below 4/3
  EXPECT_EQ(place(x, y, 1, 1e300, AnnaMetric::hamming), "middle");
}

TEST(AnnaVerifier, DistancesAgreeWithRationals) {
  // Grids have many ties, and thresholds next to square roots of integers: doubles alone would decide some wrongly.
  Random random(7);
  std::uint64_t rational = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const auto d = static_cast<Eigen::Index>(1 + random.below(5));
    MatrixD q(4, d), k(6, d);
    for (Eigen::Index e = 0; e < q.size(); ++e) q.data()[e] = static_cast<double>(random.below(7)) * 0.1 - 0.3;
    for (Eigen::Index e = 0; e < k.size(); ++e) k.data()[e] = static_cast<double>(random.below(7)) * 0.1 - 0.3;
    const double r = std::sqrt(static_cast<double>(1 + random.below(20))) * 0.1;
    const double c = 1 + static_cast<double>(random.below(3)) * 0.5;
    const Rational near = from_double(r) * from_double(r);
    const Rational far = near * from_double(c) * from_double(c);
    std::uint64_t near_pairs = 0, far_pairs = 0;
    for (Eigen::Index i = 0; i < 4; ++i) {
      for (Eigen::Index j = 0; j < 6; ++j) {
        Rational square = 0;
        for (Eigen::Index t = 0; t < d; ++t) {
          const Rational difference = from_double(q(i, t)) - from_double(k(j, t));
          square += difference * difference;
        }
        near_pairs += square <= near ? 1 : 0;
        far_pairs += square > far ? 1 : 0;
      }
    }
    const AnnaRow all{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}};
    const AnnaReport report = verify_anna(q, k, {r, c, 1, false}, {all, all, all, all});
    EXPECT_EQ(report.near_pairs, near_pairs);
    EXPECT_EQ(report.false_pairs, far_pairs);
    rational += report.exact_distances;
  }
  EXPECT_GT(rational, 100u);
  EXPECT_LT(rational, 300u * 24 / 2);
}

}  // namespace
