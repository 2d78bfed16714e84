// Claims about low-rank attention: AS23.L3.2 to L3.6, SQ.PROP, AS23.T3.8.
#include "claim.hpp"

#include <subquad/attention/low_rank.hpp>
#include <subquad/attention/low_rank_exact.hpp>
#include <subquad/attention/monomial_basis.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/exact/exp_certification.hpp>
#include <subquad/verifiers/attention_output.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace {

using namespace subquad::attention;
using subquad::Random;
using subquad::exact::Integer;
using subquad::exact::Polynomial;
using subquad::exact::Rational;
using subquad::problems::Attention;
using subquad::problems::MatrixD;
using subquad::test::Claim;

RationalMatrix random_rationals(Random& random, std::size_t rows, std::size_t cols) {
  RationalMatrix m(rows, std::vector<Rational>(cols));
  for (auto& row : m) {
    for (Rational& x : row) x = Rational(Integer(random.below(33)) - 16, Integer(16));
  }
  return m;
}

// P(scale Q K^T) = U_1 U_2^T exactly, and its rank is at most C(g + d, d) for every input.
TEST(Claims, AS23_L3_2) {
  Claim claim("AS23.L3.2");
  Random random(1);
  for (std::size_t dim = 1; dim <= 3; ++dim) {
    for (int degree = 1; degree <= 4; ++degree) {
      std::vector<Rational> c;
      for (int m = 0; m <= degree; ++m) c.push_back(Rational(1, m + 1));
      const Polynomial p(c);
      const auto r = MonomialBasis::count(dim, static_cast<std::uint64_t>(degree)).convert_to<std::size_t>();
      const RationalMatrix q = random_rationals(random, r + 3, dim);
      const RationalMatrix k = random_rationals(random, r + 3, dim);
      const Rational scale(1, static_cast<int>(dim));
      const LowRankFactors f = exact_low_rank_factors(p, q, k, scale);
      RationalMatrix a(q.size());
      double wrong = 0;
      for (std::size_t i = 0; i < q.size(); ++i) {
        for (std::size_t j = 0; j < k.size(); ++j) {
          Rational logit = 0;
          Rational product = 0;
          for (std::size_t l = 0; l < dim; ++l) logit += q[i][l] * k[j][l];
          for (std::size_t l = 0; l < r; ++l) product += f.u1[i][l] * f.u2[j][l];
          a[i].push_back(p(scale * logit));
          wrong += product == a[i].back() ? 0 : 1;
        }
      }
      const auto rank = static_cast<double>(exact_rank(a));
      claim.add(wrong, 0, "entries");
      claim.add(rank, static_cast<double>(r), "rank");
      claim.add_control(rank,
                        static_cast<double>(r) - 1);  // a smaller rank bound is false for points in general position
    }
  }
  claim.finish();
}

// |scale q.k| <= scale d B^2, and <= scale |q| |k|. The paper prints B where B^2 is meant: the control.
TEST(Claims, AS23_L3_3) {
  Claim claim("AS23.L3.3");
  Random random(2);
  for (int i = 0; i < 3000; ++i) {
    const std::size_t d = 1 + random.below(16);
    const double b = std::ldexp(1 + random.unit(), static_cast<int>(random.below(6)) - 2);
    const double scale = 1.0 / static_cast<double>(d);
    long double logit = 0;
    long double qq = 0;
    long double kk = 0;
    for (std::size_t l = 0; l < d; ++l) {
      const double x = i % 3 == 0 ? b : b * (2 * random.unit() - 1);
      const double y = i % 3 == 0 ? b : b * (2 * random.unit() - 1);
      logit += static_cast<long double>(x) * y;
      qq += static_cast<long double>(x) * x;
      kk += static_cast<long double>(y) * y;
    }
    const double measured = static_cast<double>(std::fabs(logit)) * scale;
    claim.add(measured, b * b * (1 + 1e-14), "entry bound");
    claim.add(measured, static_cast<double>(std::sqrt(qq * kk)) * scale * (1 + 1e-14), "Cauchy-Schwarz");
    claim.add_control(measured, b);
  }
  EXPECT_GE(claim.worst_slack(), 0.999999);  // attained
  claim.finish();
}

/// Softmax-like row: weights a_j > 0, perturbed by factors w_j, values v_j; the error of the output, in long double.
struct Reweighted {
  std::vector<long double> a, w, v;
  long double sum(bool perturbed) const {
    long double s = 0;
    for (std::size_t j = 0; j < a.size(); ++j) s += a[j] * (perturbed ? w[j] : 1);
    return s;
  }
  long double output(bool perturbed) const {
    long double s = 0;
    for (std::size_t j = 0; j < a.size(); ++j) s += a[j] * (perturbed ? w[j] : 1) * v[j];
    return s / sum(perturbed);
  }
};

Reweighted random_reweighting(Random& random, double epsilon) {
  Reweighted r;
  const std::size_t n = 2 + random.below(20);
  for (std::size_t j = 0; j < n; ++j) {
    r.a.push_back(std::exp(static_cast<long double>(4 * random.normal())));
    r.w.push_back(1 + epsilon * (random.bernoulli(0.7) ? (random.bernoulli(0.5) ? 1 : -1) : 2 * random.unit() - 1));
    r.v.push_back(random.bernoulli(0.7) ? (random.bernoulli(0.5) ? 1 : -1) : 2 * random.unit() - 1);
  }
  return r;
}

/// The two-level input that attains the tight bound: mass p* has weight 1 + epsilon and value 1, the rest 1 - epsilon
/// and -1.
Reweighted extremal(double epsilon) {
  const long double e = epsilon;
  const long double p = (std::sqrt(1 - e * e) - (1 - e)) / (2 * e);
  return {{p, 1 - p}, {1 + e, 1 - e}, {1, -1}};
}

// Lemma 3.4: with |logits| <= R and the certified P for (R, epsilon), every entry P(x) is within epsilon e^x of e^x.
TEST(Claims, AS23_L3_4) {
  Claim claim("AS23.L3.4");
  Random random(6);
  for (const int radius : {1, 4, 9}) {
    for (const char* text : {"1e-1", "1e-3", "1e-8"}) {
      const Rational epsilon = *subquad::exact::parse_rational(text);
      const subquad::exact::ExpProblem problem{subquad::exact::ErrorMeasure::relative, -radius, radius};
      const Polynomial p = certified_minimal_degree(problem, epsilon).approximant.polynomial;
      std::vector<Rational> c(p.coefficients().begin(), p.coefficients().end());
      c.pop_back();
      const Polynomial shorter(c);  // control: the leading term is lost
      for (int i = 0; i < 300; ++i) {
        const Rational x =
            i == 0 ? Rational(radius) : Rational(radius) * (Rational(Integer(random.below(2001)), 1000) - 1);
        const auto ratio = [&](const Polynomial& q) {
          return to_double(error_at(problem, q, x, 200).high / epsilon, subquad::exact::Rounding::up);
        };
        claim.add(ratio(p), 1, text);
        claim.add_control(ratio(shorter), 1);
      }
    }
  }
  claim.finish();
}

// Lemmas 3.5 and 3.6: entrywise error epsilon gives row sums within epsilon and outputs within 2 epsilon B_V.
TEST(Claims, AS23_L3_5_and_3_6) {
  Claim sums("AS23.L3.5");
  Claim outputs("AS23.L3.6");
  Random random(3);
  for (int i = 0; i < 20000; ++i) {
    const double epsilon = i % 2 == 0 ? 0.3 : std::exp(-8 * random.unit());
    const Reweighted r = i % 10 == 0 ? extremal(epsilon) : random_reweighting(random, epsilon);
    const double sum_error = static_cast<double>(std::fabs(r.sum(true) - r.sum(false)) / r.sum(false));
    const double output_error = static_cast<double>(std::fabs(r.output(true) - r.output(false)));
    sums.add(sum_error, epsilon * (1 + 1e-12), "row sum");
    sums.add_control(sum_error, epsilon / 2);
    outputs.add(output_error, 2 * epsilon, "output");
    outputs.add_control(output_error, 0.999 * epsilon);
  }
  sums.finish();
  outputs.finish();
  // The paper's bound is twice what can happen for small epsilon; the slack (1 - sqrt(1 - eps^2))/eps^2 grows to 1 at
  // epsilon = 1.
  const Reweighted small = extremal(1e-3);
  EXPECT_NEAR(static_cast<double>(std::fabs(small.output(true) - small.output(false))) / (2 * 1e-3), 0.5, 1e-3);
}

// The tight form: 2 (1 - sqrt(1 - eps^2))/eps, never exceeded, attained to 0.999 and more by the two-level input.
TEST(Claims, SQ_PROP) {
  Claim claim("SQ.PROP");
  Random random(4);
  for (int i = 0; i < 20000; ++i) {
    const double epsilon = i % 2 == 0 ? 0.3 : 0.999 * std::exp(-8 * random.unit());
    const Reweighted r = random_reweighting(random, epsilon);
    claim.add(static_cast<double>(std::fabs(r.output(true) - r.output(false))), propagation_factor(epsilon),
              "random reweighting");
  }
  for (const double epsilon : {1e-6, 1e-3, 0.1, 0.3, 0.5, 0.9, 0.99}) {
    const Reweighted r = extremal(epsilon);
    const double error = static_cast<double>(std::fabs(r.output(true) - r.output(false)));
    claim.add(error, propagation_factor(epsilon), "extremal");
    EXPECT_GE(error, 0.999 * propagation_factor(epsilon)) << epsilon;
    claim.add_control(error, 0.999 * propagation_factor(epsilon));
  }
  claim.finish();
}

// Theorem 3.8 as the kernel claims it: the output is within the planned eps_a, rounding included; judged by the
// verifier.
TEST(Claims, AS23_T3_8) {
  Claim claim("AS23.T3.8");
  Random random(5);
  for (int i = 0; i < 120; ++i) {
    const Eigen::Index d = 1 + static_cast<Eigen::Index>(random.below(6));
    const double b = std::sqrt(0.25 * static_cast<double>(1 + random.below(16)));
    Attention::Instance x;
    const auto matrix = [&](Eigen::Index rows) {
      MatrixD m(rows, d);
      for (Eigen::Index e = 0; e < m.size(); ++e)
        m.data()[e] = i % 2 == 0 ? (random.bernoulli(0.5) ? b : -b) : b * (2 * random.unit() - 1);
      return m;
    };
    x.q = matrix(12);
    x.k = matrix(40);
    x.v = matrix(40);
    x.scale = 1.0 / static_cast<double>(d);
    x.entry_bound = b;
    const double tolerance = std::pow(10.0, -1 - static_cast<double>(random.below(7)));
    const auto arithmetic = random.bernoulli(0.5) ? LowRankArithmetic::float64 : LowRankArithmetic::float32;
    LowRankPlan plan;
    try {
      plan = plan_low_rank(low_rank_request(x, tolerance, arithmetic));
    } catch (const subquad::Error&) {
      continue;  // refused: nothing is claimed
    }
    const LowRankResult result = low_rank_attention(plan, x);
    const auto report = subquad::verifiers::verify_attention_output(x, result.output, result.error_bound);
    EXPECT_EQ(report.verdict, subquad::Verdict::certified);
    claim.add(report.largest_error_bound, tolerance, "certified error");
    // Control: the same plan with the leading coefficient of the polynomial lost.
    if (plan.degree >= 1 && plan.propagation_bound > 100 * plan.rounding_bound) {
      std::vector<Rational> c(plan.polynomial.approximant.polynomial.coefficients().begin(),
                              plan.polynomial.approximant.polynomial.coefficients().end());
      c[static_cast<std::size_t>(plan.degree)] = 0;
      plan.polynomial.approximant.polynomial = Polynomial(c);
      const auto control =
          subquad::verifiers::verify_attention_output(x, low_rank_attention(plan, x).output, result.error_bound);
      claim.add_control(control.verdict == subquad::Verdict::refuted ? 1 : 0, 0);
    }
  }
  claim.finish();
}

}  // namespace
