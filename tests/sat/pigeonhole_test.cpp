#include "expect_error.hpp"
#include "small_formulas.hpp"

#include <subquad/sat/cadical_solver.hpp>
#include <subquad/sat/pigeonhole.hpp>

namespace subquad::sat {
namespace {

using test::count_models;
using test::expect_error;

TEST(Pigeonhole, TwoPigeonsOneHole) {
  Cnf expected(2);
  expected.add_clause({1});
  expected.add_clause({2});
  expected.add_clause({-1, -2});
  expected.kept_comments = {"c varname 1 p(1,1)", "c varname 2 p(2,1)"};
  EXPECT_EQ(pigeonhole({.pigeons = 2, .holes = 1}), expected);
}

TEST(Pigeonhole, UnsatisfiableIffMorePigeonsThanHoles) {
  for (std::uint64_t pigeons = 0; pigeons <= 6; ++pigeons) {
    for (std::uint64_t holes = 0; holes <= 6; ++holes) {
      const Cnf formula = pigeonhole({.pigeons = pigeons, .holes = holes});
      EXPECT_EQ(formula.num_variables(), pigeons * holes);
      EXPECT_EQ(formula.num_clauses(), pigeons + holes * (pigeons * (pigeons - (pigeons > 0 ? 1 : 0)) / 2));
      EXPECT_EQ(solve_with_cadical(formula).model.has_value(), pigeons <= holes) << pigeons << " in " << holes;
      if (pigeons * holes <= 16) {
        EXPECT_EQ(count_models(formula) > 0, pigeons <= holes) << pigeons << " in " << holes;
      }
    }
  }
}

TEST(Pigeonhole, PlantedFault) {
  // With one clash clause left out, the smallest unsatisfiable case has a model: the test above would see the slip.
  const Cnf whole = pigeonhole({.pigeons = 4, .holes = 3});
  Cnf faulty(whole.num_variables());
  for (std::uint64_t c = 0; c + 1 < whole.num_clauses(); ++c) faulty.add_clause(whole.clause(c));
  EXPECT_TRUE(solve_with_cadical(faulty).model);
}

TEST(Pigeonhole, RefusesWhatDoesNotFit) {
  expect_error(ErrorKind::parameter, "65536 pigeons and 32768 holes",
               [] { pigeonhole({.pigeons = 1 << 16, .holes = 1 << 15}); });
  expect_error(ErrorKind::parameter, "variables",
               [] { pigeonhole({.pigeons = std::uint64_t{1} << 40, .holes = std::uint64_t{1} << 40}); });
}

}  // namespace
}  // namespace subquad::sat
