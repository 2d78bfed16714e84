#include "binomial_bound.hpp"
#include "expect_error.hpp"

#include <subquad/core/digest.hpp>
#include <subquad/core/random.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace subquad {
namespace {

using test::compatible;

TEST(Random, GoldenNumbers) {
  // Published numbers (examples, seeds in papers) rest on these: they must never change, on any platform.
  EXPECT_EQ(Random(0)(), 7781016569506212876u);
  EXPECT_EQ(Random(1)(), 3428639641476852763u);
  EXPECT_EQ(Random(~std::uint64_t{0})(), 7962344380873614085u);
  Random random(20260101);
  EXPECT_EQ(random.below(1000), 942u);
  EXPECT_EQ(random.unit(), 0x1.737201763418fp-1);
  EXPECT_EQ(random.normal(), 0x1.650a43100c612p-2);
  EXPECT_EQ(Random(1).split("instance")(), 2125953605355604740u);
  EXPECT_EQ(Random(1).split(7)(), 17796366142148037433u);
}

RC_GTEST_PROP(Random, IsTheStandardEngineSeededThroughTheDigest, (std::uint64_t seed)) {
  Random random(seed);
  std::mt19937_64 engine(Digester().add(seed).add("engine").finish().low);
  for (int k = 0; k < 700; ++k) RC_ASSERT(random() == engine());  // beyond one refill of the state
}

RC_GTEST_PROP(Random, SplitIgnoresHowMuchWasDrawn, (std::uint64_t seed, const std::string& name, std::uint64_t index)) {
  Random fresh(seed);
  Random used(seed);
  for (int k = 0; k < 5; ++k) used();
  RC_ASSERT(fresh.split(name)() == used.split(name)());
  RC_ASSERT(fresh.split(index)() == used.split(index)());
}

TEST(Random, SplitsAreDifferentStreams) {
  std::set<std::uint64_t> first;
  const Random parent(5);
  std::size_t streams = 0;
  const auto add = [&](Random random) {
    first.insert(random());
    ++streams;
  };
  add(parent);
  add(Random(parent.seed() + 1));
  add(parent.split(""));  // once the same as split(0): tags keep names and numbers apart
  add(parent.split("a"));
  add(parent.split("b"));
  add(parent.split("a").split("b"));
  add(parent.split("b").split("a"));
  for (std::uint64_t k = 0; k < 1000; ++k) add(parent.split(k));
  EXPECT_EQ(first.size(), streams);
}

TEST(Random, BelowIsUniform) {
  Random random(7);
  constexpr std::uint64_t kDraws = 200'000;
  for (const std::uint64_t bound : {2u, 3u, 10u}) {
    std::vector<std::uint64_t> cells(bound, 0);
    for (std::uint64_t k = 0; k < kDraws; ++k) ++cells.at(random.below(bound));
    for (const std::uint64_t cell : cells) EXPECT_TRUE(compatible(cell, kDraws, 1.0 / static_cast<double>(bound)));
  }
}

TEST(Random, BelowIsUnbiasedForBoundsNearTheRange) {
  // Taking a remainder would put 2/3 of the draws below 2^63 here.
  Random random(8);
  constexpr std::uint64_t kBound = (std::uint64_t{3} << 62);
  constexpr std::uint64_t kDraws = 100'000;
  std::uint64_t lower = 0;
  for (std::uint64_t k = 0; k < kDraws; ++k) {
    const std::uint64_t value = random.below(kBound);
    ASSERT_LT(value, kBound);
    lower += value < kBound / 3 ? 1 : 0;
  }
  EXPECT_TRUE(compatible(lower, kDraws, 1.0 / 3));
  EXPECT_FALSE(compatible(kDraws / 2, kDraws, 1.0 / 3));  // the bound would notice the bias
}

TEST(Random, UnitAndBernoulli) {
  Random random(9);
  constexpr std::uint64_t kDraws = 200'000;
  std::uint64_t low = 0, hits = 0;
  for (std::uint64_t k = 0; k < kDraws; ++k) {
    const double x = random.unit();
    ASSERT_TRUE(x >= 0 && x < 1);
    low += x < 0.1 ? 1 : 0;
    hits += random.bernoulli(0.3) ? 1 : 0;
    ASSERT_TRUE(random.bernoulli(1.0));
    ASSERT_FALSE(random.bernoulli(0.0));
  }
  EXPECT_TRUE(compatible(low, kDraws, 0.1));
  EXPECT_TRUE(compatible(hits, kDraws, 0.3));
}

TEST(Random, NormalHasTheNormalTails) {
  Random random(10);
  constexpr std::uint64_t kDraws = 200'000;
  std::uint64_t positive = 0, within_one = 0, beyond_two = 0;
  for (std::uint64_t k = 0; k < kDraws; ++k) {
    const double x = random.normal();
    positive += x > 0 ? 1 : 0;
    within_one += x > -1 && x < 1 ? 1 : 0;
    beyond_two += x > 2 ? 1 : 0;
  }
  EXPECT_TRUE(compatible(positive, kDraws, 0.5));
  EXPECT_TRUE(compatible(within_one, kDraws, 0.682689492137085898));
  EXPECT_TRUE(compatible(beyond_two, kDraws, 0.0227501319481792072));
}

TEST(Random, Edges) {
  Random random(11);
  EXPECT_EQ(random.below(1), 0u);
  test::expect_error(ErrorKind::parameter, [&] { random.below(0); });
}

}  // namespace
}  // namespace subquad
