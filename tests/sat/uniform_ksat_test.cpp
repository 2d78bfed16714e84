#include "expect_error.hpp"

#include <subquad/sat/uniform_ksat.hpp>

#include <map>
#include <set>

namespace subquad::sat {
namespace {

using test::expect_error;

RC_GTEST_PROP(UniformKSat, ClausesHaveDistinctAscendingVariables, (std::uint64_t seed)) {
  const auto n = *rc::gen::inRange<std::uint64_t>(1, 12);
  const auto k = *rc::gen::inRange<std::uint64_t>(1, n + 1);
  const auto m = *rc::gen::inRange<std::uint64_t>(0, 40);
  const Cnf formula = uniform_ksat({.num_variables = n, .clause_width = k, .num_clauses = m}, seed);
  RC_ASSERT(formula.num_variables() == n);
  RC_ASSERT(formula.num_clauses() == m);
  for (std::uint64_t c = 0; c < m; ++c) {
    const auto clause = formula.clause(c);
    RC_ASSERT(clause.size() == k);
    for (std::size_t i = 1; i < k; ++i) RC_ASSERT(clause[i - 1].variable() < clause[i].variable());
  }
  RC_ASSERT(uniform_ksat({.num_variables = n, .clause_width = k, .num_clauses = m}, seed) == formula);
}

TEST(UniformKSat, AllClausesAreEquallyLikely) {
  // 2^2 binom(5,2) = 40 clauses, 40000 draws: 1000 each with standard deviation 31.2. Six of them allow for 40 trials.
  const Cnf formula = uniform_ksat({.num_variables = 5, .clause_width = 2, .num_clauses = 40000}, 1);
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> times;
  for (std::uint64_t c = 0; c < formula.num_clauses(); ++c)
    ++times[{formula.clause(c)[0].code(), formula.clause(c)[1].code()}];
  EXPECT_EQ(times.size(), 40U);
  for (const auto& entry : times) EXPECT_NEAR(entry.second, 1000, 6 * 31.2);
}

TEST(UniformKSat, FewerClausesAreAPrefixAndSeedsDiffer) {
  const Cnf longer = uniform_ksat({.num_variables = 9, .clause_width = 3, .num_clauses = 30}, 0);
  const Cnf shorter = uniform_ksat({.num_variables = 9, .clause_width = 3, .num_clauses = 10}, 0);
  for (std::uint64_t c = 0; c < 10; ++c) {
    const auto a = longer.clause(c);
    const auto b = shorter.clause(c);
    EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
  }
  EXPECT_NE(uniform_ksat({.num_variables = 9, .clause_width = 3, .num_clauses = 30}, 1), longer);
}

TEST(UniformKSat, RefusesBadParameters) {
  expect_error(ErrorKind::parameter,
               "uniform k-SAT: clause width 3 needs that many distinct variables, but there are only 2",
               [] { uniform_ksat({.num_variables = 2, .clause_width = 3, .num_clauses = 1}, 1); });
  expect_error(ErrorKind::parameter, "clause width 0",
               [] { uniform_ksat({.num_variables = 2, .clause_width = 0, .num_clauses = 1}, 1); });
  expect_error(ErrorKind::parameter, "1073741824 variables",
               [] { uniform_ksat({.num_variables = kMaxVariables + 1, .clause_width = 3, .num_clauses = 1}, 1); });
}

}  // namespace
}  // namespace subquad::sat
