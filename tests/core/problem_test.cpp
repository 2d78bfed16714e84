#include "bit_matrices.hpp"

#include <subquad/core/problem.hpp>

#include <gtest/gtest.h>

namespace subquad {
namespace {

TEST(Problem, SizeFieldsAreFoundByName) {
  const Sizes sizes{{"num_a", 3}, {"dim", pow2(70)}};
  EXPECT_EQ(size_field(sizes, "num_a"), 3);
  EXPECT_EQ(size_field(sizes, "dim"), pow2(70));
  EXPECT_EQ(test::kind_thrown([&] { size_field(sizes, "num"); }), "internal");
  EXPECT_EQ(test::kind_thrown([] { size_field({}, ""); }), "internal");
}

struct Nothing {
  struct Instance {};
};
static_assert(!Problem<Nothing>);

}  // namespace
}  // namespace subquad
