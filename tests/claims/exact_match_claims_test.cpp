// Claims about exact-match attention: L25.EMA (the case r = 0 of ANNA) and L25.M2 (Match2 in one layer).
#include <subquad/ann/anna_plan.hpp>
#include <subquad/attention/anna.hpp>
#include <subquad/attention/exact_match.hpp>
#include <subquad/core/binomial_bounds.hpp>
#include <subquad/core/random.hpp>
#include <subquad/verifiers/anna.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using namespace subquad::ann;
using namespace subquad::attention;
using subquad::decide_failure_rate;
using subquad::FailureRate;
using subquad::Random;
using subquad::Verdict;
using subquad::problems::MatrixD;
using subquad::verifiers::AnnaReport;
using subquad::verifiers::verify_anna;

subquad::Execution one_thread() {
  subquad::Execution execution;
  execution.threads = 1;
  return execution;
}

MatrixD integers(Random& random, Eigen::Index rows, Eigen::Index cols, std::uint64_t range) {
  MatrixD m(rows, cols);
  for (Eigen::Index e = 0; e < m.size(); ++e) m.data()[e] = static_cast<double>(random.below(range)) - 3;
  return m;
}

/// Draws where some different points collide; where none do, ANNA has to be exact match, bit by bit.
FailureRate false_collisions(const MatrixD& q, const MatrixD& k, const MatrixD& v, const AnnaParameters& parameters,
                             std::uint64_t runs, double bound) {
  const ExactMatchResult exact = exact_match_attention(q, k, v, one_thread());
  std::uint64_t failures = 0;
  AnnaParameters p = parameters;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    p.seed = seed;
    // r = 0, c = 1: near means equal, and everything else is far.
    const AnnaReport report =
        verify_anna(q, k, {0.0, 1.0, p.tables, false}, anna_counts(p, q, k, one_thread()), one_thread());
    EXPECT_EQ(report.missed_pairs, 0u) << "equal points have equal codes";
    const AnnaResult result = anna_attention(p, q, k, v, AnnaMemory::linear, one_thread());
    if (report.false_pairs > 0) {
      ++failures;
      continue;
    }
    EXPECT_EQ(report.verdict, Verdict::certified);
    EXPECT_EQ(result.output, exact.output);
    EXPECT_EQ(result.collisions, exact.matches);
  }
  return decide_failure_rate(failures, runs, bound);
}

TEST(Claims, L25_EMA) {
  Random random(1);
  const MatrixD q = integers(random, 30, 2, 7), k = integers(random, 40, 2, 7);
  MatrixD v(40, 2);
  for (Eigen::Index e = 0; e < v.size(); ++e) v.data()[e] = random.normal();
  const HashFamily family = e2lsh(2, 0.25);
  // Different integer points are at distance at least 1: z with (pairs) p(1)^z <= eta.
  const double eta = 0.02;
  const double pairs = static_cast<double>(q.rows() * k.rows());
  const auto z =
      static_cast<std::uint64_t>(std::ceil(std::log(pairs / eta) / -std::log(family.collision_probability(1))));
  const auto bound = [&](std::uint64_t length) { return anna_instance_failure_bound(family, length, 1, q, k, 0, 1); };
  EXPECT_LE(bound(z), eta);
  // The union bound is loose here (pairs with equal differences collide together), looser at large z.
  const FailureRate planned = false_collisions(q, k, v, {family, z, 1, 0}, 400, eta);
  const FailureRate sharp = false_collisions(q, k, v, {family, 3, 1, 0}, 400, bound(3));
  const FailureRate control = false_collisions(q, k, v, {family, 1, 1, 0}, 400, bound(3));
  fmt::print(
      "claim L25.EMA   z {}: failures {}/400, eta {}; z 3: {}/400, instance bound {:.4f}; control (z 1 at the bound of "
      "3): {}/400, {}\n",
      z, planned.failures, eta, sharp.failures, sharp.delta, control.failures,
      control.refuted ? "refuted" : "NOT REFUTED");
  EXPECT_FALSE(planned.refuted);
  EXPECT_FALSE(sharp.refuted);
  EXPECT_GT(sharp.failures, 0u);
  EXPECT_TRUE(control.refuted);
}

/// Match2 by exact match: does some x_j satisfy x_i + x_j = 0 mod M? A token's query and key are functions of it.
template <class Query, class Key>
std::vector<bool> match2(const std::vector<std::uint64_t>& x, Query&& query, Key&& key) {
  const auto n = static_cast<Eigen::Index>(x.size());
  MatrixD q(n, 1), k(n, 1);
  for (Eigen::Index i = 0; i < n; ++i) {
    q(i, 0) = static_cast<double>(query(x[static_cast<std::size_t>(i)]));
    k(i, 0) = static_cast<double>(key(x[static_cast<std::size_t>(i)]));
  }
  const ExactMatchResult result = exact_match_attention(q, k, MatrixD::Ones(n, 1), one_thread());
  std::vector<bool> answer;
  for (Eigen::Index i = 0; i < n; ++i) answer.push_back(result.output(i, 0) > 0.5);
  return answer;
}

TEST(Claims, L25_M2) {
  std::uint64_t inputs = 0, wrong = 0, wrong_literal = 0, inputs_from_one = 0, literal_from_one = 0;
  for (std::uint64_t modulus = 1; modulus <= 5; ++modulus) {
    for (std::uint64_t n = 1; n <= 5; ++n) {
      std::uint64_t words = 1;
      for (std::uint64_t t = 0; t < n; ++t) words *= modulus;
      for (std::uint64_t word = 0; word < words; ++word) {
        for (const std::uint64_t first : {0u, 1u}) {  // entries in [0, M) and in [1, M]
          std::vector<std::uint64_t> x;
          for (std::uint64_t t = 0, rest = word; t < n; ++t, rest /= modulus) x.push_back(first + rest % modulus);
          std::vector<bool> expected;
          for (const std::uint64_t a : x) {
            bool found = false;
            for (const std::uint64_t b : x) found = found || (a + b) % modulus == 0;
            expected.push_back(found);
          }
          const auto residue = [&](std::uint64_t t) { return t % modulus; };
          const auto opposite = [&](std::uint64_t t) { return (modulus - t % modulus) % modulus; };
          const auto itself = [](std::uint64_t t) { return t; };
          const auto difference = [&](std::uint64_t t) { return modulus - t; };
          const bool right = match2(x, residue, opposite) == expected;
          const bool literal = match2(x, itself, difference) == expected;
          wrong += right ? 0 : 1;
          (first == 0 ? inputs : inputs_from_one) += 1;
          (first == 0 ? wrong_literal : literal_from_one) += literal ? 0 : 1;
        }
      }
    }
  }
  fmt::print("claim L25.M2    {} + {} inputs, {} wrong; control (queries x, keys M - x): {} and {} wrong\n", inputs,
             inputs_from_one, wrong, wrong_literal, literal_from_one);
  EXPECT_EQ(inputs, 5699u);
  EXPECT_EQ(wrong, 0u);
  // Sums are M then, not 0 mod M: wrong for the inputs with residue 0, M^N - (M - 1)^N of them, which telescopes.
  EXPECT_EQ(wrong_literal, 3905u);
  EXPECT_EQ(literal_from_one, 3905u);
}

}  // namespace
