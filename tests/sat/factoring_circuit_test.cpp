#include "expect_error.hpp"
#include "small_formulas.hpp"

#include <subquad/sat/cadical_solver.hpp>
#include <subquad/sat/factoring_circuit.hpp>

#include <set>

namespace subquad::sat {
namespace {

using test::count_models;
using test::expect_error;
using test::satisfies;

using Factors = std::set<std::pair<std::uint64_t, std::uint64_t>>;

/// All ordered pairs of factors, by multiplying.
Factors factor_pairs(const FactoringCircuit& parameters) {
  Factors pairs;
  const std::uint64_t first = parameters.allow_trivial ? 0 : 2;
  for (std::uint64_t a = first; a < std::uint64_t{1} << parameters.a_bits; ++a) {
    for (std::uint64_t b = first; b < std::uint64_t{1} << parameters.b_bits; ++b) {
      if (a * b == parameters.number) pairs.emplace(a, b);
    }
  }
  return pairs;
}

/// Finds all factor pairs with the solver, blocking each one found; every projection must come once.
Factors pairs_by_solver(const FactoringCircuit& parameters) {
  Cnf formula = factoring_circuit(parameters);
  Factors pairs;
  for (;;) {
    const CnfSat::Answer answer = solve_with_cadical(formula);
    if (!answer.model) return pairs;
    EXPECT_TRUE(pairs.insert(decode_factors(parameters, *answer.model)).second);
    std::vector<Literal> blocking;
    for (std::uint32_t v = 0; v < parameters.a_bits + parameters.b_bits; ++v)
      blocking.emplace_back(v, (*answer.model)[v]);
    formula.add_clause(blocking);
  }
}

TEST(FactoringCircuit, ThirtyFiveIsFiveTimesSeven) {
  const FactoringCircuit parameters{.number = 35, .a_bits = 3, .b_bits = 3};
  EXPECT_EQ(pairs_by_solver(parameters), (Factors{{5, 7}, {7, 5}}));
  const Cnf formula = factoring_circuit(parameters);
  EXPECT_EQ(formula.num_variables(), 16U);
  EXPECT_EQ(count_models(formula), 2U);
}

TEST(FactoringCircuit, EveryNumberOfEverySmallCircuit) {
  for (std::uint32_t a_bits = 1; a_bits <= 4; ++a_bits) {
    for (std::uint32_t b_bits = 1; b_bits <= 3; ++b_bits) {
      for (std::uint64_t number = 0; number < std::uint64_t{1} << (a_bits + b_bits); ++number) {
        for (const bool allow_trivial : {false, true}) {
          const FactoringCircuit parameters{number, a_bits, b_bits, allow_trivial};
          SCOPED_TRACE(::testing::Message()
                       << number << ", " << a_bits << " x " << b_bits << " bits, " << allow_trivial);
          ASSERT_EQ(pairs_by_solver(parameters), factor_pairs(parameters));
        }
      }
    }
  }
}

TEST(FactoringCircuit, OneModelAPairOfFactors) {
  for (std::uint64_t number = 0; number < 64; ++number) {
    const FactoringCircuit parameters{number, 3, 3, true};
    const Cnf formula = factoring_circuit(parameters);
    if (formula.num_variables() > 18) continue;
    EXPECT_EQ(count_models(formula), factor_pairs(parameters).size()) << number;
  }
}

TEST(FactoringCircuit, LargerNumbers) {
  const FactoringCircuit composite{.number = std::uint64_t{251} * 241, .a_bits = 8, .b_bits = 8};
  EXPECT_EQ(pairs_by_solver(composite), (Factors{{251, 241}, {241, 251}}));
  const FactoringCircuit prime{.number = 65521, .a_bits = 9, .b_bits = 9};
  EXPECT_TRUE(pairs_by_solver(prime).empty());
  const FactoringCircuit widest{.number = std::uint64_t{0xffffffff} * 0xffffffff, .a_bits = 32, .b_bits = 32};
  EXPECT_EQ(factoring_circuit(widest).kept_comments.size(), 64U);
}

TEST(FactoringCircuit, RefusesBadParameters) {
  expect_error(ErrorKind::parameter, "a factor of 0 bits",
               [] { factoring_circuit({.number = 6, .a_bits = 0, .b_bits = 3}); });
  expect_error(ErrorKind::parameter, "a factor of 33 bits",
               [] { factoring_circuit({.number = 6, .a_bits = 3, .b_bits = 33}); });
  expect_error(ErrorKind::parameter, "64 is not below 2^6",
               [] { factoring_circuit({.number = 64, .a_bits = 3, .b_bits = 3}); });
  expect_error(ErrorKind::parameter, "a model with 5 values, expected at least 6",
               [] { decode_factors({.number = 35, .a_bits = 3, .b_bits = 3}, Model(5)); });
}

}  // namespace
}  // namespace subquad::sat
