#include "bit_matrices.hpp"
#include "edge_instances.hpp"
#include "expect_error.hpp"

#include <subquad/core/error.hpp>
#include <subquad/reductions/ov_to_gap_ann.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace subquad::reductions {
namespace {

using problems::GapAnn;
using problems::OrthogonalVectors;

OvToGapAnn balanced() {
  return OvToGapAnn(OvToGapAnn::Parameters{true});
}

OrthogonalVectors::Instance random_instance(Random& random, std::uint64_t max_dim) {
  const std::uint64_t dim = random.below(max_dim + 1);
  const double density = random.unit();
  OrthogonalVectors::Instance instance;
  instance.a = test::random_bits(random, random.below(6), dim, density);
  instance.b = test::random_bits(random, random.below(6), dim, density);
  return instance;
}

TEST(OvToGapAnn, WorkedExampleBitForBit) {
  const OrthogonalVectors::Instance instance{test::bits(2, {"10", "11"}), test::bits(2, {"01", "11"})};
  const auto target = OvToGapAnn().reduce(instance);
  EXPECT_EQ(target.queries, test::bits(6, {"010001", "010010"}));
  EXPECT_EQ(target.keys, test::bits(6, {"011101", "101101"}));
  EXPECT_EQ(target.r_yes, 2);
  EXPECT_EQ(target.r_no, 4);
  EXPECT_EQ(hamming_distance(target.queries.row(0), target.keys.row(0)), 2U);  // orthogonal
  EXPECT_EQ(hamming_distance(target.queries.row(0), target.keys.row(1)), 4U);  // one common coordinate
  EXPECT_EQ(hamming_distance(target.queries.row(1), target.keys.row(1)), 6U);  // two
  const auto answer = OvToGapAnn().lift(instance, target, {{true, false}});
  EXPECT_EQ(answer.witness, (std::pair<std::uint64_t, std::uint64_t>{0, 0}));
}

TEST(OvToGapAnn, WorkedNoExample) {
  const OrthogonalVectors::Instance instance{test::bits(2, {"11"}), test::bits(2, {"10", "01"})};
  const auto target = OvToGapAnn().reduce(instance);
  for (std::uint64_t j = 0; j < 2; ++j) EXPECT_EQ(hamming_distance(target.queries.row(0), target.keys.row(j)), 4U);
  EXPECT_FALSE(OvToGapAnn().lift(instance, target, {{false}}).witness);
}

TEST(OvToGapAnn, BalancedWorkedExample) {
  // d = 1 is padded to 2; coordinate 1 uses 110/101 and 100/010.
  const OrthogonalVectors::Instance instance{test::bits(1, {"1"}), test::bits(1, {"0"})};
  const auto target = balanced().reduce(instance);
  EXPECT_EQ(target.queries, test::bits(6, {"010110"}));
  EXPECT_EQ(target.keys, test::bits(6, {"011100"}));
  EXPECT_EQ(target.r_yes, 2);
  EXPECT_EQ(hamming_distance(target.queries.row(0), target.keys.row(0)), 2U);
}

RC_GTEST_PROP(OvToGapAnn, DistanceIsDimensionPlusTwiceTheInnerProduct, (std::uint64_t seed, bool balance)) {
  Random random(seed);
  const auto instance = random_instance(random, random.below(4) == 0 ? 200 : 12);
  const OvToGapAnn reduction(OvToGapAnn::Parameters{balance});
  const auto target = reduction.reduce(instance);
  const std::uint64_t d = balance ? (instance.a.cols() + 1) / 2 * 2 : instance.a.cols();
  RC_ASSERT(target.r_yes == static_cast<std::int64_t>(d));
  RC_ASSERT(target.r_no == static_cast<std::int64_t>(d) + 2);
  RC_ASSERT(target.queries.cols() == 3 * d);
  for (std::uint64_t i = 0; i < instance.a.rows(); ++i) {
    for (std::uint64_t j = 0; j < instance.b.rows(); ++j) {
      std::uint64_t common = 0;
      for (std::uint64_t c = 0; c < instance.a.cols(); ++c)
        common += instance.a.get(i, c) && instance.b.get(j, c) ? 1 : 0;
      std::uint64_t distance = 0;
      for (std::uint64_t c = 0; c < 3 * d; ++c) distance += target.queries.get(i, c) != target.keys.get(j, c) ? 1 : 0;
      RC_ASSERT(distance == d + 2 * common);
      RC_ASSERT(hamming_distance(target.queries.row(i), target.keys.row(j)) == distance);  // padding bits are zero
    }
  }
  for (std::uint64_t i = 0; i < instance.a.rows(); ++i) {
    RC_ASSERT(2 * weight(target.queries.row(i)) == (balance ? 3 * d : 2 * d));
  }
  for (std::uint64_t j = 0; j < instance.b.rows(); ++j) {
    RC_ASSERT(2 * weight(target.keys.row(j)) == (balance ? 3 * d : 4 * d));
  }
  RC_ASSERT(violations(reduction.size_bounds(), OrthogonalVectors::size(instance), GapAnn::size(target)).empty());
}

RC_GTEST_PROP(OvToGapAnn, TheThreadsDoNotShow, (std::uint64_t seed)) {
  Random random(seed);
  OrthogonalVectors::Instance instance;
  instance.a = test::random_bits(random, 300, 130, 0.3);
  instance.b = test::random_bits(random, 300, 130, 0.3);
  Execution one;
  one.threads = 1;
  Execution three;
  three.threads = 3;
  RC_ASSERT(OvToGapAnn().reduce(instance, one) == OvToGapAnn().reduce(instance, three));
}

TEST(OvToGapAnn, Edges) {
  // d = 0: every pair is orthogonal, r_yes = 0, and all points coincide.
  const OrthogonalVectors::Instance flat{BitMatrix(2, 0), BitMatrix(1, 0)};
  for (const OvToGapAnn& reduction : {OvToGapAnn(), balanced()}) {
    const auto target = reduction.reduce(flat);
    EXPECT_EQ(target.r_yes, 0);
    EXPECT_EQ(target.r_no, 2);
    EXPECT_EQ(GapAnn::solve_brute_force(target).near, (std::vector<bool>{true, true}));
    EXPECT_EQ(reduction.lift(flat, target, {{true, true}}).witness, (std::pair<std::uint64_t, std::uint64_t>{0, 0}));
  }
  const OrthogonalVectors::Instance no_keys{test::bits(3, {"000"}), BitMatrix(0, 3)};
  const auto target = OvToGapAnn().reduce(no_keys);
  EXPECT_EQ(GapAnn::solve_brute_force(target).near, std::vector<bool>{false});
  EXPECT_FALSE(OvToGapAnn().lift(no_keys, target, {{false}}).witness);
  EXPECT_THROW(OvToGapAnn().lift(no_keys, target, {{true}}), OracleRefuted);
  const OrthogonalVectors::Instance no_queries{BitMatrix(0, 3), test::bits(3, {"000"})};
  EXPECT_FALSE(OvToGapAnn().lift(no_queries, OvToGapAnn().reduce(no_queries), {}).witness);
}

TEST(OvToGapAnn, AFalseFlagIsRefutedWithItsRowAndDistance) {
  const OrthogonalVectors::Instance instance{test::bits(3, {"110", "011"}), test::bits(3, {"111", "110"})};
  const auto target = OvToGapAnn().reduce(instance);
  try {
    OvToGapAnn().lift(instance, target, {{false, true}});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const OracleRefuted& refuted) {
    EXPECT_EQ(refuted.row(), 1U);
    EXPECT_STREQ(refuted.what(), "row 1 was answered near, but its nearest key is at distance 5, far is 5 and beyond");
  }
}

TEST(OvToGapAnn, Refusals) {
  test::expect_error(ErrorKind::parameter, [] { OvToGapAnn().reduce({BitMatrix(1, 2), BitMatrix(1, 3)}); });
  const OrthogonalVectors::Instance instance{BitMatrix(2, 1), BitMatrix(1, 1)};
  const auto target = OvToGapAnn().reduce(instance);
  test::expect_error(ErrorKind::input, [&] { OvToGapAnn().lift(instance, target, {{true}}); });
  const std::uint64_t huge = std::uint64_t{1} << 62;
  test::expect_error(ErrorKind::resource, [&] { OvToGapAnn().reduce({BitMatrix(0, huge), BitMatrix(0, huge)}); });
}

// The control of claim OV.HAM: with one bit of one code word flipped the distances no longer tell.
TEST(OvToGapAnn, AFlippedGadgetBitIsNoticed) {
  const OrthogonalVectors::Instance instance{test::bits(1, {"1"}), test::bits(1, {"0", "1"})};
  auto target = OvToGapAnn().reduce(instance);
  target.keys.set(0, 2, !target.keys.get(0, 2));
  EXPECT_NE(hamming_distance(target.queries.row(0), target.keys.row(0)), 1U);
}

}  // namespace
}  // namespace subquad::reductions
