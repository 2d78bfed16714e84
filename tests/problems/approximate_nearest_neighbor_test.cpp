#include "bit_matrices.hpp"
#include "expect_error.hpp"
#include "text_round_trip.hpp"

#include <subquad/problems/approximate_nearest_neighbor.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <limits>
#include <vector>

namespace subquad::problems {
namespace {

static_assert(Problem<ApproximateNearestNeighbor>);

using Ann = ApproximateNearestNeighbor;
using test::bits;
constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

const Ann::Instance kSmall{bits(6, {"000000", "111111", "011001"}), bits(6, {"110000", "000001"}), 1, 2};

Ann::Instance any_instance() {
  const std::uint64_t dim = *test::any_dim();
  const std::uint64_t queries = *rc::gen::inRange<std::uint64_t>(0, 8);
  return {test::any_matrix(queries, dim), test::any_matrix(*rc::gen::inRange<std::uint64_t>(1, 9), dim),
          *rc::gen::element<std::uint64_t>(0, 1, 1, 2, 7, kMost >> 1),
          *rc::gen::element<std::uint64_t>(1, 1, 2, 3, 10)};
}

TEST(ApproximateNearestNeighbor, HandChecked) {
  const std::vector<Ann::Answer::Row> expected{{1, 1}, {4, 0}, {2, 1}};
  EXPECT_EQ(Ann::solve_brute_force(kSmall).rows, expected);
  EXPECT_EQ(Ann::size(kSmall), (Sizes{{"num_queries", 3}, {"num_keys", 2}, {"dim", 6}}));
  EXPECT_EQ(Ann::size_fields(), (std::vector<std::string>{"num_queries", "num_keys", "dim"}));
  std::ifstream in(SUBQUAD_SOURCE_DIR "/docs/examples/small.ann");
  EXPECT_EQ(Ann::read_instance(in, "small.ann"), kSmall);
}

RC_GTEST_PROP(ApproximateNearestNeighbor, FindsTheFirstNearestKey, ()) {
  const Ann::Instance instance = any_instance();
  Execution execution;
  execution.threads = *rc::gen::inRange(1, 4);
  const Ann::Answer answer = Ann::solve_brute_force(instance, execution);
  RC_ASSERT(answer.rows.size() == instance.queries.rows());
  for (std::uint64_t i = 0; i < answer.rows.size(); ++i) {
    for (std::uint64_t j = 0; j < instance.keys.rows(); ++j) {
      std::uint64_t distance = 0;
      for (std::uint64_t c = 0; c < instance.keys.cols(); ++c)
        distance += instance.queries.get(i, c) != instance.keys.get(j, c) ? 1 : 0;
      if (j < answer.rows[i].key) RC_ASSERT(distance > answer.rows[i].value);
      if (j == answer.rows[i].key) RC_ASSERT(distance == answer.rows[i].value);
      if (j > answer.rows[i].key) RC_ASSERT(distance >= answer.rows[i].value);
    }
  }
  RC_ASSERT(Ann::check(instance, answer).verdict == Verdict::certified);
}

TEST(ApproximateNearestNeighbor, CheckAcceptsExactlyTheAllowedAnswers) {
  // Keys at distances 4, 5, 6, 7 of the zero query; eps = 1/2: value v allows distances up to floor(3v/2).
  const Ann::Instance instance{bits(8, {"00000000"}), bits(8, {"11110000", "11111000", "11111100", "11111110"}), 1, 2};
  for (std::uint64_t value = 0; value <= 8; ++value) {
    for (std::uint64_t key = 0; key < 5; ++key) {
      const bool right = value <= 4 && 4 <= value + value / 2 && key < 4 && 4 + key <= value + value / 2;
      EXPECT_EQ(Ann::check(instance, {{{value, key}}}).verdict, right ? Verdict::certified : Verdict::refuted)
          << value << ' ' << key;
    }
  }
  EXPECT_EQ(Ann::check(instance, {}).verdict, Verdict::refuted);
  EXPECT_EQ(Ann::check(instance, {{{4, 0}, {4, 0}}}).verdict, Verdict::refuted);
}

TEST(ApproximateNearestNeighbor, RelaxationIsExactAndSaturates) {
  EXPECT_EQ(relaxed(kSmall, 3), 4u);
  EXPECT_EQ(relaxed(kSmall, 0), 0u);
  Ann::Instance large = kSmall;
  large.eps_num = kMost;
  large.eps_den = kMost;
  EXPECT_EQ(relaxed(large, kMost / 2), kMost - 1);
  EXPECT_EQ(relaxed(large, kMost), kMost);
  large.eps_den = 1;
  EXPECT_EQ(relaxed(large, 2), kMost);
  large.eps_den = 0;
  test::expect_error(ErrorKind::parameter, [&] { relaxed(large, 2); });
}

RC_GTEST_PROP(ApproximateNearestNeighbor, SurvivesItsTextFormat, ()) {
  const Ann::Instance instance = any_instance();
  RC_ASSERT(test::survives_text<Ann>(instance));
  RC_ASSERT(test::answer_survives_text<Ann>(instance, Ann::solve_brute_force(instance)));
}

TEST(ApproximateNearestNeighbor, Edges) {
  EXPECT_TRUE(Ann::solve_brute_force({BitMatrix(0, 3), BitMatrix(0, 3), 0, 1}).rows.empty());
  EXPECT_EQ(Ann::solve_brute_force({BitMatrix(1, 0), BitMatrix(2, 0), 0, 1}).rows,
            (std::vector<Ann::Answer::Row>{{0, 0}}));
  for (const Ann::Instance& bad : {Ann::Instance{BitMatrix(1, 3), BitMatrix(0, 3), 0, 1},
                                   {BitMatrix(1, 3), BitMatrix(1, 2), 0, 1},
                                   {BitMatrix(1, 3), BitMatrix(1, 3), 0, 0}}) {
    SCOPED_TRACE(::testing::Message() << bad.keys.rows() << " x " << bad.keys.cols() << ", / " << bad.eps_den);
    test::expect_error(ErrorKind::parameter, [&] { Ann::solve_brute_force(bad); });
  }
  const std::atomic<bool> stop{true};
  Execution execution;
  execution.stop = &stop;
  test::expect_error(ErrorKind::interrupted, [&] { Ann::solve_brute_force(kSmall, execution); });
}

TEST(ApproximateNearestNeighbor, FilesAreReadStrictly) {
  const std::pair<const char*, const char*> refused[] = {
      {"p ann 1 0 2 0 1\n00\n", "t:1: N = 1 queries and no key"},
      {"p ann 1 1 2 1 0\n00\n00\n", "t:1: EPS_DEN is 0, expected at least 1"},
      {"p ann 1 1 2 -1 2\n00\n00\n", "t:1: EPS_NUM is -1"},
      {"p ann 1 1 2 0.5 1\n00\n00\n", "t:1: EPS_NUM is '0.5'"},
      {"p ann 1 1 2 1\n00\n00\n", "t:1: header with 4 numbers, expected 5"},
  };
  for (const auto& [text, part] : refused) {
    std::string message;
    try {
      test::read_instance_text<Ann>(text);
    } catch (const Error& error) {
      message = error.what();
    }
    EXPECT_NE(message.find(part), std::string::npos) << text << " -> " << message;
  }
  EXPECT_NE(test::answer_refusal<Ann>("s ROWS 1\n3\n"), "");
  EXPECT_NE(test::answer_refusal<Ann>("s ROWS 1\n3 4 5\n"), "");
  EXPECT_NE(test::answer_refusal<Ann>("s ROWS 1\n3 -4\n"), "");
  EXPECT_NE(test::answer_refusal<Ann>("s ROWS 2\n3 4\n"), "");
}

}  // namespace
}  // namespace subquad::problems
