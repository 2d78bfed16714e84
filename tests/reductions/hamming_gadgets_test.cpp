#include <subquad/core/error.hpp>
#include <subquad/reductions/hamming_gadgets.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

namespace subquad::reductions {
namespace {

using Table = std::vector<GadgetDistances>;

TEST(HammingGadgets, TheGadgetOfTheReductionByHand) {
  GadgetDistances distances;
  ASSERT_TRUE(measure(kOvGadget, distances));
  EXPECT_EQ(distances, (GadgetDistances{1, 2}));
  EXPECT_EQ(std::popcount(kOvGadget.f0), 1);
  EXPECT_EQ(std::popcount(kOvGadget.f1), 1);
  EXPECT_EQ(std::popcount(kOvGadget.g0), 2);
  EXPECT_EQ(std::popcount(kOvGadget.g1), 2);
  const HammingGadget mirrored = complement(kOvGadget);
  EXPECT_EQ(mirrored, (HammingGadget{3, 0b110, 0b101, 0b100, 0b010}));
  ASSERT_TRUE(measure(mirrored, distances));
  EXPECT_EQ(distances, (GadgetDistances{1, 2}));
}

// The optimality table: which (c, delta) exist at each length, found by exhaustion.
TEST(HammingGadgets, AttainableDistancesUpToSixBits) {
  EXPECT_EQ(attainable_distances(1), Table{});
  EXPECT_EQ(attainable_distances(2), Table{});
  EXPECT_EQ(attainable_distances(3), (Table{{1, 2}}));
  EXPECT_EQ(attainable_distances(4), (Table{{1, 2}, {2, 2}}));
  EXPECT_EQ(attainable_distances(5), (Table{{1, 2}, {2, 2}, {3, 2}}));
  EXPECT_EQ(attainable_distances(6), (Table{{1, 2}, {2, 2}, {2, 4}, {3, 2}, {4, 2}}));
}

TEST(HammingGadgets, NoGadgetBeatsTwiceTheBaseDistance) {
  for (unsigned length = 1; length <= 7; ++length)
    for (const GadgetDistances& d : attainable_distances(length)) EXPECT_LE(d.gap, 2 * d.base) << "L = " << length;
}

TEST(HammingGadgets, FixingTheFirstCodeWordLosesNothing) {
  // All four code words free, L = 4: the same table as with f(0) = 0000.
  Table found;
  for (std::uint32_t code = 0; code < (1U << 16); ++code) {
    GadgetDistances d;
    const HammingGadget gadget{4, code & 15U, (code >> 4) & 15U, (code >> 8) & 15U, (code >> 12) & 15U};
    if (measure(gadget, d) && std::find(found.begin(), found.end(), d) == found.end()) found.push_back(d);
  }
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, attainable_distances(4));
}

TEST(HammingGadgets, ConstantWeightGadgetsOfThreeBits) {
  const auto found = constant_weight_gadgets(3, {1, 2});
  EXPECT_NE(std::find(found.begin(), found.end(), kOvGadget), found.end());
  // Up to swapping positions (6 ways) and complementing (2 ways) it is the only one.
  EXPECT_EQ(found.size(), 12U);
  EXPECT_TRUE(constant_weight_gadgets(2, {1, 2}).empty());
}

TEST(HammingGadgets, BalancedPerCoordinateNeedsMoreBits) {
  const auto balanced = [](unsigned length, GadgetDistances distances) {
    const auto found = constant_weight_gadgets(length, distances);
    return std::any_of(found.begin(), found.end(), [&](const HammingGadget& g) {
      return 2U * static_cast<unsigned>(std::popcount(g.f0)) == length &&
             2U * static_cast<unsigned>(std::popcount(g.g0)) == length;
    });
  };
  EXPECT_FALSE(balanced(4, {1, 2}));
  EXPECT_TRUE(balanced(4, {2, 2}));
  EXPECT_TRUE(balanced(6, {2, 4}));  // ratio 2 again, at twice the length: why odd coordinates are complemented instead
}

TEST(HammingGadgets, MeasureRefusesWhatIsNoGadget) {
  GadgetDistances distances;
  EXPECT_FALSE(measure({3, 0b001, 0b010, 0b011, 0b100}, distances));  // one bit of g(1) flipped
  EXPECT_FALSE(measure({3, 0, 0, 0, 0}, distances));                  // no gap
  EXPECT_THROW(attainable_distances(0), Error);
  EXPECT_THROW(attainable_distances(9), Error);
  EXPECT_THROW(constant_weight_gadgets(7, {1, 2}), Error);
}

}  // namespace
}  // namespace subquad::reductions
