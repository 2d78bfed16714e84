#include "expect_error.hpp"
#include "small_formulas.hpp"

#include <subquad/sat/planted_ksat.hpp>

#include <map>

namespace subquad::sat {
namespace {

using test::assignment_number;
using test::expect_error;
using test::satisfies;

RC_GTEST_PROP(PlantedKSat, TheModelSatisfiesTheFormula, (std::uint64_t seed, bool hide_complement)) {
  const auto n = *rc::gen::inRange<std::uint64_t>(2, 12);
  const auto k = *rc::gen::inRange<std::uint64_t>(hide_complement ? 2 : 1, n + 1);
  const auto m = *rc::gen::inRange<std::uint64_t>(0, 80);
  const PlantedKSat parameters{
      .num_variables = n, .clause_width = k, .num_clauses = m, .hide_complement = hide_complement};
  const PlantedFormula planted = planted_ksat(parameters, seed);
  RC_ASSERT(planted.formula.num_clauses() == m);
  RC_ASSERT(planted.formula.max_width() == (m == 0 ? 0 : k));
  RC_ASSERT(planted.model.size() == n);
  const std::uint64_t number = assignment_number(planted.model);
  RC_ASSERT(satisfies(planted.formula, number));
  if (hide_complement) RC_ASSERT(satisfies(planted.formula, ~number & ((std::uint64_t{1} << n) - 1)));
  RC_ASSERT(planted_ksat(parameters, seed).formula == planted.formula);
}

TEST(PlantedKSat, AllowedClausesAreEquallyLikely) {
  // 7 of the 8 sign patterns of each of binom(4,3) = 4 triples: 28 clauses.
  // 28000 draws, 1000 each with standard deviation 31.1.
  const PlantedFormula planted = planted_ksat({.num_variables = 4, .clause_width = 3, .num_clauses = 28000}, 5);
  std::map<std::vector<std::uint32_t>, int> times;
  for (std::uint64_t c = 0; c < planted.formula.num_clauses(); ++c) {
    std::vector<std::uint32_t> codes;
    for (const Literal literal : planted.formula.clause(c)) codes.push_back(literal.code());
    ++times[codes];
  }
  EXPECT_EQ(times.size(), 28U);
  for (const auto& entry : times) EXPECT_NEAR(entry.second, 1000, 6 * 31.1);
}

TEST(PlantedKSat, RefusesBadParameters) {
  expect_error(ErrorKind::parameter, "planted k-SAT: clause width 4",
               [] { planted_ksat({.num_variables = 3, .clause_width = 4, .num_clauses = 1}, 1); });
  expect_error(ErrorKind::parameter, "a clause of width 1 cannot hold under a model and its complement", [] {
    planted_ksat({.num_variables = 3, .clause_width = 1, .num_clauses = 1, .hide_complement = true}, 1);
  });
}

}  // namespace
}  // namespace subquad::sat
