// ANNA verifier: right counts, a catalogue of wrong ones, distances at the very boundary, outputs, and the file format.
#include "expect_error.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/verifiers/anna.hpp>
#include <subquad/verifiers/anna_format.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

namespace {

using namespace subquad::verifiers;
using subquad::ErrorKind;
using subquad::Execution;
using subquad::Provenance;
using subquad::Random;
using subquad::Verdict;
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

AnnaWeights read(const std::string& text) {
  std::istringstream in(text);
  return read_anna_weights(in, "w");
}

TEST(AnnaFormat, RoundTrip) {
  AnnaWeights weights{5, {0.1, 3.0000000000000004, 7, true}, {{{0, 1}, {4, 9}}, {}, {{2, 3}}, {}}};
  std::ostringstream out;
  write_anna_weights(out, weights, Provenance{});
  EXPECT_EQ(read(out.str()), weights);
}

TEST(AnnaFormat, MalformedFilesSayWhere) {
  const auto refuse = [](const std::string& text, const char* part) {
    expect_error(ErrorKind::input, part, [&] { read(text); });
  };
  const std::string header = "p anna-weights 2 3 1 2 4 zero 2\n";
  refuse("", "w:1:");
  refuse("p ov 1 1 1\n", "anna-weights");
  refuse("p anna-weights 2 3\n", "header with 4 words");
  refuse("p anna-weights x 3 1 2 4 zero 0\n", "queries 'x'");
  refuse("p anna-weights 99999999999 3 1 2 4 zero 0\n", "queries");
  refuse("p anna-weights 2 3 -1 2 4 zero 0\n", "radius r '-1'");
  refuse("p anna-weights 2 3 nan 2 4 zero 0\n", "radius r 'nan'");
  refuse("p anna-weights 2 3 1 0.5 4 zero 0\n", "ratio c '0.5'");
  refuse("p anna-weights 2 3 1 2 0 zero 0\n", "tables '0'");
  refuse("p anna-weights 2 3 1 2 4 maybe 0\n", "zero or strict");
  refuse("p anna-weights 0 3 1 2 4 zero 1\n0 0 1\n", "no pairs");
  refuse(header + "0 1 1\n", "file ends");
  refuse(header + "0 1 1\n1 0 1\n1 1 1\n", "2 counts");
  refuse(header + "0 1\n0 2 1\n", "w:2:");
  refuse(header + "2 1 1\n0 2 1\n", "query '2'");
  refuse(header + "0 3 1\n0 2 1\n", "key '3'");
  refuse(header + "0 1 0\n0 2 1\n", "count '0'");
  refuse(header + "0 1 1\n0 1 1\n", "ascending");
  refuse(header + "1 1 1\n0 2 1\n", "ascending");
  refuse(header + "0 1 1\n0 2 1", "w:3:");
}

}  // namespace
