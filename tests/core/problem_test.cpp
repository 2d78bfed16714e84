#include "expect_error.hpp"

#include <subquad/core/problem.hpp>

#include <gtest/gtest.h>

namespace subquad {
namespace {

TEST(Problem, SizeFieldsAreFoundByName) {
  const Sizes sizes{{"num_a", 3}, {"dim", pow2(70)}};
  EXPECT_EQ(size_field(sizes, "num_a"), 3);
  EXPECT_EQ(size_field(sizes, "dim"), pow2(70));
  test::expect_error(ErrorKind::internal, [&] { size_field(sizes, "num"); });
  test::expect_error(ErrorKind::internal, [] { size_field({}, ""); });
}

struct Nothing {
  struct Instance {};
};
static_assert(!Problem<Nothing>);

}  // namespace
}  // namespace subquad
