#include <subquad/core/verdict.hpp>

#include <gtest/gtest.h>

#include <type_traits>

namespace subquad {
namespace {

static_assert(!std::is_convertible_v<Verdict, bool>);

TEST(Verdict, CombinesAsAConjunction) {
  using enum Verdict;
  for (const Verdict v : {certified, refuted, undecided}) {
    EXPECT_EQ(combine(v, refuted), refuted);
    EXPECT_EQ(combine(refuted, v), refuted);
    EXPECT_EQ(combine(v, certified), v);
    EXPECT_EQ(combine(certified, v), v);
    EXPECT_EQ(combine(v, v), v);
  }
  EXPECT_EQ(combine(undecided, certified), undecided);
}

TEST(Verdict, HasNames) {
  EXPECT_EQ(to_string(Verdict::certified), "certified");
  EXPECT_EQ(to_string(Verdict::refuted), "refuted");
  EXPECT_EQ(to_string(Verdict::undecided), "undecided");
  EXPECT_EQ(Report{}.verdict, Verdict::undecided);  // a forgotten verdict never passes
}

}  // namespace
}  // namespace subquad
