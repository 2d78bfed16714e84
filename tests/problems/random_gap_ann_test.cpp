#include "binomial_bound.hpp"
#include "expect_error.hpp"

#include <subquad/problems/random_gap_ann.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

namespace subquad::problems {
namespace {

std::vector<std::uint64_t> sorted_distances(const GapAnn::Instance& instance, std::uint64_t row) {
  std::vector<std::uint64_t> distances;
  for (std::uint64_t j = 0; j < instance.keys.rows(); ++j) {
    std::uint64_t distance = 0;
    for (std::uint64_t c = 0; c < instance.keys.cols(); ++c)
      distance += instance.queries.get(row, c) != instance.keys.get(j, c) ? 1 : 0;
    distances.push_back(distance);
  }
  std::ranges::sort(distances);
  return distances;
}

void expect_inside_promise(const GeneratedGapAnn& generated, std::uint64_t num_near) {
  RC_ASSERT(generated.known.has_value());
  const std::vector<RowPromise> promise = GapAnn::promise(generated.instance);
  std::uint64_t near = 0;
  for (std::uint64_t i = 0; i < promise.size(); ++i) {
    RC_ASSERT(promise[i] == (generated.known->near[i] ? RowPromise::near : RowPromise::far));
    near += generated.known->near[i] ? 1 : 0;
  }
  RC_ASSERT(near == num_near);
}

RC_GTEST_PROP(RandomPromise, EveryRowIsInsideThePromise, ()) {
  const std::uint64_t dim = *rc::gen::element<std::uint64_t>(40, 64, 70, 128);
  const GapAnnShape shape{*rc::gen::inRange<std::uint64_t>(0, 12), *rc::gen::inRange<std::uint64_t>(1, 12), dim,
                          *rc::gen::inRange<std::int64_t>(0, 6), *rc::gen::inRange<std::int64_t>(6, 10)};
  const std::uint64_t num_near = *rc::gen::inRange<std::uint64_t>(0, shape.num_queries + 1);
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  expect_inside_promise(random_promise_gap_ann(shape, num_near, random), num_near);
}

TEST(RandomPromise, RefusesTheImpossible) {
  Random random(1);
  const auto make = [&](const GapAnnShape& shape, std::uint64_t near) { random_promise_gap_ann(shape, near, random); };
  const auto refused = [&](const GapAnnShape& shape, std::uint64_t near, int line = __builtin_LINE()) {
    test::expect_error(
        ErrorKind::parameter, [&] { make(shape, near); }, __FILE__, line);
  };
  refused({1, 40, 8, 1, 8}, 0);  // 40 keys leave no point at distance 8
  refused({1, 1, 8, 1, 9}, 0);
  refused({2, 1, 8, 1, 2}, 3);
  refused({2, 0, 8, 1, 2}, 1);
  refused({2, 1, 8, -1, 2}, 1);
  refused({2, 1, 8, 2, 2}, 0);
  EXPECT_NO_THROW(make({2, 0, 8, 1, 2}, 0));
}

RC_GTEST_PROP(Adversarial, EveryDistanceIsExactlyAtAThreshold, ()) {
  const std::int64_t r_yes = *rc::gen::inRange<std::int64_t>(0, 30);
  const std::int64_t half_gap = *rc::gen::inRange<std::int64_t>(1, 12);
  const bool mixed = *rc::gen::arbitrary<bool>();
  const std::int64_t r_no = mixed ? r_yes + 2 * half_gap : r_yes + half_gap;
  const std::int64_t least_dim = r_no + (mixed ? half_gap : 0);
  GapAnnShape shape{*rc::gen::inRange<std::uint64_t>(1, 9), *rc::gen::inRange<std::uint64_t>(1, 9),
                    static_cast<std::uint64_t>(least_dim) + *rc::gen::inRange<std::uint64_t>(0, 80), r_yes, r_no};
  if (mixed) ++shape.num_queries;
  const std::uint64_t num_near = mixed                         ? *rc::gen::inRange<std::uint64_t>(1, shape.num_queries)
                                 : *rc::gen::arbitrary<bool>() ? shape.num_queries
                                                               : 0;
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  const GeneratedGapAnn generated = adversarial_gap_ann(shape, num_near, random);
  expect_inside_promise(generated, num_near);
  for (std::uint64_t i = 0; i < shape.num_queries; ++i) {
    const std::vector<std::uint64_t> distances = sorted_distances(generated.instance, i);
    RC_ASSERT(distances.front() == static_cast<std::uint64_t>(generated.known->near[i] ? r_yes : r_no));
    for (std::size_t j = 1; j < distances.size(); ++j) RC_ASSERT(distances[j] == static_cast<std::uint64_t>(r_no));
  }
}

TEST(Adversarial, RowsAreDistinctWhereTheDimensionAllows) {
  Random random(2);
  const GeneratedGapAnn generated = adversarial_gap_ann({64, 32, 200, 40, 60}, 64, random);
  std::set<std::string> rows;
  for (std::uint64_t i = 0; i < 64; ++i) rows.insert(generated.instance.queries.row_string(i));
  EXPECT_EQ(rows.size(), 64u);
  rows.clear();
  for (std::uint64_t j = 0; j < 32; ++j) rows.insert(generated.instance.keys.row_string(j));
  EXPECT_EQ(rows.size(), 32u);
}

TEST(Adversarial, OddGapsAndTightDimensions) {
  Random random(3);
  const auto make = [&](const GapAnnShape& shape, std::uint64_t near) { adversarial_gap_ann(shape, near, random); };
  const auto refused = [&](const GapAnnShape& shape, std::uint64_t near, int line = __builtin_LINE()) {
    test::expect_error(
        ErrorKind::parameter, [&] { make(shape, near); }, __FILE__, line);
  };
  refused({4, 3, 20, 5, 8}, 2);  // odd gap, near and far rows, several keys: parity forbids it
  EXPECT_NO_THROW(make({4, 3, 20, 5, 8}, 0));
  EXPECT_NO_THROW(make({4, 3, 20, 5, 8}, 4));
  EXPECT_NO_THROW(make({4, 1, 20, 5, 8}, 2));  // one key has one parity
  refused({4, 3, 8, 4, 8}, 2);                 // mixing needs r_no + half the gap
  EXPECT_NO_THROW(make({4, 3, 10, 4, 8}, 2));
  EXPECT_NO_THROW(make({4, 3, 8, 4, 8}, 4));
  refused({4, 3, 7, 4, 8}, 0);
  refused({4, 3, 8, -1, 8}, 1);
  EXPECT_NO_THROW(make({4, 3, 8, -1, 0}, 0));
  EXPECT_NO_THROW(make({4, 0, 8, 1, 2}, 0));
  const GeneratedGapAnn one_key = adversarial_gap_ann({6, 1, 20, 5, 8}, 2, random);
  for (std::uint64_t i = 0; i < 6; ++i)
    EXPECT_EQ(sorted_distances(one_key.instance, i).front(), one_key.known->near[i] ? 5u : 8u);
}

TEST(Adversarial, ThePlaceOfTheNearKeyIsUniform) {
  Random random(4);
  constexpr std::uint64_t kInstances = 5'000;
  std::uint64_t first = 0;
  for (std::uint64_t k = 0; k < kInstances; ++k) {
    const GapAnn::Instance instance = adversarial_gap_ann({1, 3, 12, 2, 6}, 1, random).instance;
    first += hamming_distance(instance.queries.row(0), instance.keys.row(0)) == 2 ? 1 : 0;
  }
  EXPECT_TRUE(test::compatible(first, kInstances, 1.0 / 3));
}

RC_GTEST_PROP(ExactDistances, AreExact, ()) {
  const std::uint64_t dim = *rc::gen::inRange<std::uint64_t>(0, 90);
  const std::vector<std::uint64_t> distances =
      *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, dim + 1));
  const GapAnnShape shape{*rc::gen::inRange<std::uint64_t>(0, 5), distances.size(), dim,
                          static_cast<std::int64_t>(dim / 3), static_cast<std::int64_t>(dim / 3) + 2};
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  const GeneratedGapAnn generated = gap_ann_at_distances(shape, distances, random);
  for (std::uint64_t i = 0; i < shape.num_queries; ++i)
    for (std::uint64_t j = 0; j < distances.size(); ++j)
      RC_ASSERT(hamming_distance(generated.instance.queries.row(i), generated.instance.keys.row(j)) == distances[j]);
  RC_ASSERT(GapAnn::solve_brute_force(generated.instance) == *generated.known);
}

TEST(ExactDistances, RefusesWhatDoesNotFit) {
  Random random(5);
  test::expect_error(ErrorKind::parameter, [&] { gap_ann_at_distances({1, 2, 4, 1, 2}, {1}, random); });
  test::expect_error(ErrorKind::parameter, [&] { gap_ann_at_distances({1, 1, 4, 1, 2}, {5}, random); });
}

TEST(GapAnnGenerators, SameSeedSameInstance) {
  const auto all = [](std::uint64_t seed) {
    Random random(seed);
    std::vector<Digest> digests;
    digests.push_back(GapAnn::digest(random_promise_gap_ann({5, 6, 70, 3, 9}, 2, random).instance));
    digests.push_back(GapAnn::digest(adversarial_gap_ann({5, 6, 70, 3, 9}, 2, random).instance));
    digests.push_back(GapAnn::digest(gap_ann_at_distances({5, 2, 70, 3, 9}, {4, 50}, random).instance));
    return digests;
  };
  EXPECT_EQ(all(7), all(7));
  EXPECT_NE(all(7), all(8));
}

}  // namespace
}  // namespace subquad::problems
