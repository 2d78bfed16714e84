#include "bit_matrices.hpp"
#include "expect_error.hpp"
#include "text_round_trip.hpp"

#include <subquad/problems/gap_ann.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <vector>

namespace subquad::problems {
namespace {

static_assert(Problem<GapAnn>);

using test::bits;

const GapAnn::Instance kSmall{bits(6, {"000000", "111111", "011001"}), bits(6, {"110000", "000001"}), 1, 4};

RowPromise promise_by_definition(const GapAnn::Instance& instance, std::uint64_t i) {
  bool near = false;
  bool far = true;
  for (std::uint64_t j = 0; j < instance.keys.rows(); ++j) {
    std::int64_t distance = 0;
    for (std::uint64_t c = 0; c < instance.keys.cols(); ++c)
      distance += instance.queries.get(i, c) != instance.keys.get(j, c) ? 1 : 0;
    near = near || distance <= instance.r_yes;
    far = far && distance >= instance.r_no;
  }
  return near ? RowPromise::near : far ? RowPromise::far : RowPromise::outside;
}

GapAnn::Instance any_instance() {
  const std::uint64_t dim = *test::any_dim();
  const auto top = static_cast<std::int64_t>(dim) + 3;
  const std::int64_t r_yes = *rc::gen::inRange<std::int64_t>(-1, top);
  return {test::any_matrix(*rc::gen::inRange<std::uint64_t>(0, 12), dim),
          test::any_matrix(*rc::gen::inRange<std::uint64_t>(0, 12), dim), r_yes,
          *rc::gen::inRange<std::int64_t>(r_yes + 1, r_yes + 1 + top)};
}

TEST(GapAnn, HandChecked) {
  EXPECT_EQ(GapAnn::solve_brute_force(kSmall).near, (std::vector<bool>{true, false, false}));
  EXPECT_EQ(GapAnn::promise(kSmall), (std::vector<RowPromise>{RowPromise::near, RowPromise::far, RowPromise::outside}));
  EXPECT_EQ(GapAnn::size(kSmall), (Sizes{{"num_queries", 3}, {"num_keys", 2}, {"dim", 6}, {"r_yes", 1}, {"r_no", 4}}));
  EXPECT_EQ(GapAnn::size_fields(), (std::vector<std::string>{"num_queries", "num_keys", "dim", "r_yes", "r_no"}));
  std::ifstream in(SUBQUAD_SOURCE_DIR "/docs/examples/small.gap");
  EXPECT_EQ(GapAnn::read_instance(in, "small.gap"), kSmall);
}

RC_GTEST_PROP(GapAnn, AgreesWithTheDefinition, ()) {
  const GapAnn::Instance instance = any_instance();
  Execution execution;
  execution.threads = *rc::gen::inRange(1, 4);
  const std::vector<RowPromise> promise = GapAnn::promise(instance, execution);
  const GapAnn::Answer answer = GapAnn::solve_brute_force(instance, execution);
  RC_ASSERT(promise.size() == instance.queries.rows());
  RC_ASSERT(answer.near.size() == instance.queries.rows());
  for (std::uint64_t i = 0; i < promise.size(); ++i) {
    const RowPromise truth = promise_by_definition(instance, i);
    RC_ASSERT(promise[i] == truth);
    RC_ASSERT(answer.near[i] == (truth == RowPromise::near));
    // Flipping a row is wrong exactly inside the promise.
    GapAnn::Answer flipped = answer;
    flipped.near[i] = !flipped.near[i];
    RC_ASSERT((GapAnn::check(instance, flipped).verdict == Verdict::certified) == (truth == RowPromise::outside));
  }
  RC_ASSERT(GapAnn::check(instance, answer).verdict == Verdict::certified);
}

TEST(GapAnn, ManyKeysAreScannedWholeAndIndependentlyOfThreads) {
  // More keys than a tile: the only near key is the last one.
  Random random(3);
  for (const std::uint64_t dim : {40u, 100u, 150u, 250u}) {
    GapAnn::Instance instance{BitMatrix(130, dim), BitMatrix(5000, dim), 2, static_cast<std::int64_t>(dim)};
    for (std::uint64_t j = 0; j < 5000; ++j)
      for (std::uint64_t c = 0; c < dim; ++c) instance.keys.set(j, c, j < 4999 && c > 3);
    for (const int threads : {1, 4}) {
      Execution execution;
      execution.threads = threads;
      EXPECT_EQ(GapAnn::solve_brute_force(instance, execution).near, std::vector<bool>(130, true));
    }
    instance.keys.set(4999, 0, true);
    instance.keys.set(4999, 1, true);
    instance.keys.set(4999, 2, true);
    EXPECT_EQ(GapAnn::solve_brute_force(instance).near, std::vector<bool>(130, false));
  }
}

RC_GTEST_PROP(GapAnn, SurvivesItsTextFormat, ()) {
  const GapAnn::Instance instance = any_instance();
  RC_ASSERT(test::survives_text<GapAnn>(instance));
  RC_ASSERT(test::answer_survives_text<GapAnn>(instance, GapAnn::solve_brute_force(instance)));
}

TEST(GapAnn, Edges) {
  const GapAnn::Instance no_key{BitMatrix(2, 3), BitMatrix(0, 3), 0, 1};
  EXPECT_EQ(GapAnn::solve_brute_force(no_key).near, (std::vector<bool>{false, false}));
  EXPECT_EQ(GapAnn::promise(no_key), (std::vector<RowPromise>{RowPromise::far, RowPromise::far}));
  EXPECT_EQ(GapAnn::check(no_key, {{true, false}}).verdict, Verdict::refuted);
  const GapAnn::Instance flat{BitMatrix(1, 0), BitMatrix(1, 0), 0, 2};  // d = 0: distance 0
  EXPECT_EQ(GapAnn::solve_brute_force(flat).near, (std::vector<bool>{true}));
  const GapAnn::Instance nothing_near{bits(1, {"1"}), bits(1, {"1"}), -1, 1};
  EXPECT_EQ(GapAnn::promise(nothing_near), (std::vector<RowPromise>{RowPromise::outside}));
  EXPECT_EQ(size_field(GapAnn::size(nothing_near), "r_yes"), 0);
  const GapAnn::Instance beyond{bits(1, {"1"}), bits(1, {"0"}), 0, 2};  // r_no > d: never far
  EXPECT_EQ(GapAnn::promise(beyond), (std::vector<RowPromise>{RowPromise::outside}));
  EXPECT_TRUE(GapAnn::solve_brute_force({}).near.empty());
}

TEST(GapAnn, RefusesInvalidInstances) {
  for (const GapAnn::Instance& bad : {GapAnn::Instance{BitMatrix(1, 2), BitMatrix(1, 3), 0, 1},
                                      {BitMatrix(1, 2), BitMatrix(1, 2), 1, 1},
                                      {BitMatrix(1, 2), BitMatrix(1, 2), -2, 1}}) {
    SCOPED_TRACE(::testing::Message() << bad.keys.cols() << " columns, " << bad.r_yes << " and " << bad.r_no);
    test::expect_error(ErrorKind::parameter, [&] { GapAnn::solve_brute_force(bad); });
  }
  const std::atomic<bool> stop{true};
  Execution execution;
  execution.stop = &stop;
  test::expect_error(ErrorKind::interrupted, [&] { GapAnn::solve_brute_force(kSmall, execution); });
}

TEST(GapAnn, CheckRefutesWrongLengths) {
  EXPECT_EQ(GapAnn::check(kSmall, {{true, false}}).verdict, Verdict::refuted);
  EXPECT_EQ(GapAnn::check(kSmall, {{true, false, false, false}}).verdict, Verdict::refuted);
  EXPECT_EQ(GapAnn::check(kSmall, {}).verdict, Verdict::refuted);
}

TEST(GapAnn, DigestHoldsTheThresholds) {
  GapAnn::Instance other = kSmall;
  other.r_no = 5;
  EXPECT_NE(GapAnn::digest(other), GapAnn::digest(kSmall));
  other = kSmall;
  other.r_yes = -1;
  EXPECT_NE(GapAnn::digest(other), GapAnn::digest(kSmall));
  EXPECT_NE(GapAnn::digest({kSmall.keys, kSmall.queries, 1, 4}), GapAnn::digest(kSmall));
}

TEST(GapAnn, AnswersAreReadStrictly) {
  EXPECT_EQ(test::read_answer_text<GapAnn>("s ROWS 2\nnear\nc between\nfar\n").answer.near,
            (std::vector<bool>{true, false}));
  const std::pair<const char*, const char*> refused[] = {
      {"s ROWS\n", "t:1: 's ROWS', expected 's ROWS N'"},
      {"s ROWS -1\n", "t:1: '-1'"},
      {"s ROWS 2\nnear\n", "t:2: the file ends after 1 rows, expected 2"},
      {"s ROWS 1000000000000000\nnear\n", "the file ends after 1 rows"},
      {"s ROWS 1\nmaybe\n", "t:2: 'maybe', expected 'near' or 'far' for row 0"},
      {"s ROWS 1\nnear \n", "t:2: 'near '"},
      {"s ROWS 1\nnear\nfar\n", "t:3: 'far' after the last row"},
      {"s YES\n", "expected 's ROWS N'"},
  };
  for (const auto& [text, part] : refused) {
    const std::string message = test::answer_refusal<GapAnn>(text);
    EXPECT_NE(message.find(part), std::string::npos) << text << " -> " << message;
  }
}

}  // namespace
}  // namespace subquad::problems
