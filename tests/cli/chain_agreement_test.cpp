// The chain agrees with CaDiCaL and with brute force: random formulas of every density, and every degenerate form.
#include "chain_run.hpp"
#include "planted_fault.hpp"

#include <subquad/attention/kernel.hpp>
#include <subquad/core/random.hpp>
#include <subquad/sat/cadical_solver.hpp>
#include <subquad/sat/cnf.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace subquad::drivers {
namespace {

// Literals are drawn with replacement, so that clauses repeat literals and hold tautologies.
sat::Cnf random_formula(std::uint64_t num_variables, std::uint64_t width, std::uint64_t num_clauses, Random& random) {
  sat::Cnf formula(num_variables);
  for (std::uint64_t c = 0; c < num_clauses; ++c) {
    std::vector<sat::Literal> clause;
    for (std::uint64_t i = 0; i < width; ++i)
      clause.emplace_back(static_cast<std::uint32_t>(random.below(num_variables)), random.below(2) == 1);
    formula.add_clause(clause);
  }
  return formula;
}

bool satisfies(const sat::Cnf& formula, const sat::Model& model) {
  if (model.size() != formula.num_variables()) return false;
  for (std::uint64_t c = 0; c < formula.num_clauses(); ++c) {
    bool satisfied = false;
    for (const sat::Literal literal : formula.clause(c))
      satisfied = satisfied || model[literal.variable()] != literal.negative();
    if (!satisfied) return false;
  }
  return true;
}

struct Tally {
  int satisfiable = 0;
  int unsatisfiable = 0;
};

void expect_agreement(const sat::Cnf& formula, const ChainOptions& options, const std::string& kernel, Tally& tally,
                      const std::string& what) {
  const bool expected = sat::solve_with_cadical(formula).model.has_value();
  ASSERT_EQ(expected, sat::CnfSat::solve_brute_force(formula).model.has_value())
      << what << ": CaDiCaL and brute force differ";
  const ChainResult result = run_chain_on(formula, options, attention::kernel(kernel), {});
  EXPECT_EQ(result.verdict, expected ? ChainVerdict::satisfiable : ChainVerdict::unsatisfiable) << what;
  EXPECT_TRUE(result.audit.faults.empty()) << what;
  EXPECT_TRUE(result.fully_audited()) << what;
  if (expected) {
    EXPECT_TRUE(result.model && satisfies(formula, *result.model)) << what;
  }
  for (const BuiltStage& stage : result.stages) EXPECT_TRUE(stage.violations.empty()) << what << ": " << stage.problem;
  ++(expected ? tally.satisfiable : tally.unsatisfiable);
}

struct Degenerate {
  std::string name;
  sat::Cnf formula;
};

std::vector<Degenerate> degenerate_formulas() {
  std::vector<Degenerate> result;
  const auto add = [&result](const std::string& name, std::uint64_t n, const std::vector<std::vector<int>>& clauses) {
    sat::Cnf formula(n);
    for (const auto& clause : clauses) {
      std::vector<sat::Literal> literals;
      for (const int x : clause) literals.push_back(sat::Literal::from_dimacs(x));
      formula.add_clause(literals);
    }
    result.push_back({name, formula});
  };
  add("n = 0, no clause", 0, {});
  add("n = 0, empty clause", 0, {{}});
  add("n = 0, two empty clauses", 0, {{}, {}});
  add("n = 1, no clause", 1, {});
  add("n = 1, empty clause", 1, {{}});
  add("n = 1, unit", 1, {{1}});
  add("n = 1, negative unit", 1, {{-1}});
  add("n = 1, contradiction", 1, {{1}, {-1}});
  add("n = 1, tautology", 1, {{1, -1}});
  add("no clause", 5, {});
  add("empty clause among others", 4, {{1, 2}, {}, {-3, 4}});
  add("unused variables", 6, {{2}, {-5, 2}});
  add("only unused variables beside a contradiction", 6, {{3}, {-3}});
  add("only tautologies", 4, {{1, -1}, {2, 3, -2}, {-4, 4}});
  add("tautologies and a contradiction", 3, {{1, -1}, {2}, {-2}});
  add("duplicate literals", 3, {{1, 1, 1}, {-2, -2}, {3, -1, 3}});
  add("duplicate clauses", 3, {{1, 2}, {1, 2}, {2, 1}, {-1, -2}});
  add("all eight clauses on three variables", 3,
      {{1, 2, 3}, {1, 2, -3}, {1, -2, 3}, {1, -2, -3}, {-1, 2, 3}, {-1, 2, -3}, {-1, -2, 3}, {-1, -2, -3}});
  std::vector<std::vector<int>> many;  // 64, 65: the edges of a word
  for (int c = 0; c < 64; ++c) many.push_back({1 + c % 5, -(1 + (c + 1) % 5)});
  add("64 clauses", 5, many);
  many.push_back({-1, -2, -3, -4, -5});
  add("65 clauses", 5, many);
  return result;
}

class Agreement : public testing::TestWithParam<std::tuple<Via, const char*>> {};

TEST_P(Agreement, RandomFormulasFromUnderToOverConstrained) {
  ChainOptions options;
  options.via = std::get<0>(GetParam());
  Tally tally;
  Random random = Random(20260101).split(std::get<1>(GetParam()));
  for (std::uint64_t n = 2; n <= 14; ++n) {
    for (std::uint64_t k = 1; k <= 5; ++k) {
      // 2^k ln 2 clauses a variable: about where random k-SAT turns unsatisfiable.
      const double threshold = std::exp2(static_cast<double>(k)) * std::log(2.0) * static_cast<double>(n);
      for (const double density : {0.2, 0.6, 0.9, 1.1, 2.5}) {
        const auto num_clauses = static_cast<std::uint64_t>(std::ceil(density * threshold));
        const sat::Cnf formula = random_formula(n, k, num_clauses, random);
        expect_agreement(
            formula, options, std::get<1>(GetParam()), tally,
            "n = " + std::to_string(n) + ", k = " + std::to_string(k) + ", m = " + std::to_string(num_clauses));
      }
    }
  }
  EXPECT_GE(tally.satisfiable + tally.unsatisfiable, 300);
  EXPECT_GE(tally.satisfiable, 100) << "the densities no longer cover both answers";
  EXPECT_GE(tally.unsatisfiable, 60) << "the densities no longer cover both answers";
}

TEST_P(Agreement, DegenerateForms) {
  ChainOptions options;
  options.via = std::get<0>(GetParam());
  Tally tally;
  for (const Degenerate& d : degenerate_formulas())
    expect_agreement(d.formula, options, std::get<1>(GetParam()), tally, d.name);
  EXPECT_GE(tally.satisfiable, 8);
  EXPECT_GE(tally.unsatisfiable, 6);
}

TEST_P(Agreement, EverySplit) {
  ChainOptions options;
  options.via = std::get<0>(GetParam());
  Tally tally;
  Random random(7);
  for (std::uint64_t left = 0; left <= 6; ++left) {
    options.left_variables = left;
    for (const std::uint64_t m : {4, 12, 26})
      expect_agreement(random_formula(6, 3, m, random), options, std::get<1>(GetParam()), tally,
                       "left = " + std::to_string(left) + ", m = " + std::to_string(m));
  }
}

INSTANTIATE_TEST_SUITE_P(Routes, Agreement,
                         testing::Combine(testing::Values(Via::direct, Via::gap_ann),
                                          testing::Values("exact", "exact-f32")),
                         [](const auto& route) {
                           std::string name = std::get<0>(route.param) == Via::direct ? "direct_" : "gap_ann_";
                           for (const char c : std::string(std::get<1>(route.param))) name += c == '-' ? '_' : c;
                           return name;
                         });

// The negative control: 0.6 more in one row, or no threshold key, is never let through.
TEST_P(Agreement, SabotagedKernelsAreAlwaysRefuted) {
  ChainOptions options;
  options.via = std::get<0>(GetParam());
  const attention::Kernel& kernel = attention::kernel(std::get<1>(GetParam()));
  Random random(5);
  int without_threshold_key = 0;
  for (std::uint64_t n = 2; n <= 9; ++n) {
    for (const std::uint64_t m : {n, 5 * n}) {
      const sat::Cnf formula = random_formula(n, 3, m, random);
      const std::uint64_t rows = std::uint64_t{1} << ((n + 1) / 2);
      const std::uint64_t keys = std::uint64_t{1} << (n / 2);
      for (const double amount : {0.6, -0.6, 0.2, 5.0}) {
        const PlantedFault fault{PlantedFault::Kind::add, random.below(rows), amount};
        const ChainResult result = run_chain_on(formula, options, with_planted_fault(kernel, fault), {});
        ASSERT_EQ(result.verdict, ChainVerdict::refuted) << "n = " << n << ", m = " << m << ", amount " << amount;
        ASSERT_EQ(result.audit.faults.size(), 1U);
        EXPECT_EQ(result.audit.faults[0].row, fault.index);
        ASSERT_TRUE(result.audit.faults[0].truth);
        EXPECT_FALSE(result.model);
      }
      // Without its threshold key every row comes out as 1, which is wrong as soon as some row has no partner.
      const ChainResult honest = run_chain_on(formula, options, kernel, {});
      if (honest.rows_flagged == rows) continue;
      const PlantedFault dropped{PlantedFault::Kind::drop_key, keys, 0};
      EXPECT_EQ(run_chain_on(formula, options, with_planted_fault(kernel, dropped), {}).verdict, ChainVerdict::refuted);
      ++without_threshold_key;
    }
  }
  EXPECT_GE(without_threshold_key, 8);
}

TEST(PaperParameters, RandomFormulasWithTheRigorousKernel) {
  ChainOptions options;
  options.via = Via::gap_ann;
  options.parameters = AttentionParameters::paper;
  Tally tally;
  Random random(11);
  for (std::uint64_t n = 2; n <= 8; ++n)
    for (const std::uint64_t k : {2, 3})
      for (const double density : {1.0, 3.0, 6.0})
        expect_agreement(
            random_formula(n, k, static_cast<std::uint64_t>(std::ceil(density * static_cast<double>(n))), random),
            options, "rigorous", tally, "n = " + std::to_string(n) + ", k = " + std::to_string(k));
  EXPECT_GE(tally.satisfiable, 10);
  EXPECT_GE(tally.unsatisfiable, 10);
}

TEST(PaperParameters, DegenerateForms) {
  ChainOptions options;
  options.via = Via::gap_ann;
  options.parameters = AttentionParameters::paper;
  Tally tally;
  for (const Degenerate& d : degenerate_formulas()) expect_agreement(d.formula, options, "rigorous", tally, d.name);
}

TEST(RigorousKernel, RefinedParametersOnBothRoutes) {
  Tally tally;
  Random random(13);
  for (const Via via : {Via::direct, Via::gap_ann}) {
    ChainOptions options;
    options.via = via;
    for (std::uint64_t n = 2; n <= 8; ++n)
      expect_agreement(random_formula(n, 3, 4 * n, random), options, "rigorous", tally, "n = " + std::to_string(n));
  }
}

TEST(Tolerances, EveryToleranceDecides) {
  Tally tally;
  Random random(17);
  for (const Via via : {Via::direct, Via::gap_ann}) {
    for (const char* tolerance : {"0.01", "0.1", "0.25", "0.4", "0.4999"}) {
      ChainOptions options;
      options.via = via;
      options.tolerance = tolerance;
      for (const std::uint64_t m : {10, 30, 60})
        expect_agreement(random_formula(8, 3, m, random), options, "exact-f32", tally, tolerance);
    }
  }
}

}  // namespace
}  // namespace subquad::drivers
