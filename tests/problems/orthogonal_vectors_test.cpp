#include "bit_matrices.hpp"
#include "expect_error.hpp"
#include "text_round_trip.hpp"

#include <subquad/problems/orthogonal_vectors.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <vector>

namespace subquad::problems {
namespace {

static_assert(Problem<OrthogonalVectors>);

using Ov = OrthogonalVectors;
using Pair = std::pair<std::uint64_t, std::uint64_t>;
using test::bits;

/// All orthogonal pairs, coordinate by coordinate: shares nothing with the word-parallel code.
std::vector<Pair> pairs_by_definition(const Ov::Instance& instance) {
  std::vector<Pair> pairs;
  for (std::uint64_t i = 0; i < instance.a.rows(); ++i) {
    for (std::uint64_t j = 0; j < instance.b.rows(); ++j) {
      bool common = false;
      for (std::uint64_t c = 0; c < instance.a.cols(); ++c)
        common = common || (instance.a.get(i, c) && instance.b.get(j, c));
      if (!common) pairs.emplace_back(i, j);
    }
  }
  return pairs;
}

/// The same in order, with the inner product of core: for instances too large for coordinates.
std::vector<Pair> pairs_by_words(const Ov::Instance& instance) {
  std::vector<Pair> pairs;
  for (std::uint64_t i = 0; i < instance.a.rows(); ++i)
    for (std::uint64_t j = 0; j < instance.b.rows(); ++j)
      if (inner_product(instance.a.row(i), instance.b.row(j)) == 0) pairs.emplace_back(i, j);
  return pairs;
}

Ov::Instance any_instance() {
  const std::uint64_t dim = *test::any_dim();
  return {test::any_matrix(*rc::gen::inRange<std::uint64_t>(0, 20), dim),
          test::any_matrix(*rc::gen::inRange<std::uint64_t>(0, 40), dim)};
}

Execution with_threads(int threads) {
  Execution execution;
  execution.threads = threads;
  return execution;
}

const Ov::Instance kSmall{bits(4, {"1100", "0110", "1011"}), bits(4, {"0111", "1010", "1001"})};

TEST(OrthogonalVectors, HandChecked) {
  EXPECT_EQ(Ov::solve_brute_force(kSmall).witness, Pair(1, 2));
  EXPECT_EQ(count_orthogonal_pairs(kSmall), 1u);
  EXPECT_EQ(find_orthogonal_partner(kSmall, 1), 2u);
  EXPECT_EQ(find_orthogonal_partner(kSmall, 0), std::nullopt);
  EXPECT_EQ(Ov::size_fields(), (std::vector<std::string>{"num_a", "num_b", "dim"}));
  EXPECT_EQ(Ov::size(kSmall), (Sizes{{"num_a", 3}, {"num_b", 3}, {"dim", 4}}));
}

TEST(OrthogonalVectors, ExampleFileHasItsKnownAnswer) {
  std::ifstream in(SUBQUAD_SOURCE_DIR "/docs/examples/small.ov");
  EXPECT_EQ(Ov::read_instance(in, "small.ov"), kSmall);
}

RC_GTEST_PROP(OrthogonalVectors, AgreesWithTheDefinition, ()) {
  const Ov::Instance instance = any_instance();
  const std::vector<Pair> truth = pairs_by_definition(instance);
  const Execution execution = with_threads(*rc::gen::inRange(1, 4));
  const Ov::Answer answer = Ov::solve_brute_force(instance, execution);
  RC_ASSERT(answer.witness == (truth.empty() ? std::nullopt : std::optional(truth.front())));
  RC_ASSERT(count_orthogonal_pairs(instance, execution) == truth.size());
  std::vector<Pair> visited;
  for_each_orthogonal_pair(instance, [&](std::uint64_t i, std::uint64_t j) {
    visited.emplace_back(i, j);
    return true;
  });
  RC_ASSERT(visited == truth);
  for (std::uint64_t i = 0; i < instance.a.rows(); ++i) {
    const auto first = std::find_if(truth.begin(), truth.end(), [&](const Pair& pair) { return pair.first == i; });
    RC_ASSERT(find_orthogonal_partner(instance, i) ==
              (first == truth.end() ? std::nullopt : std::optional(first->second)));
  }
  RC_ASSERT(Ov::check(instance, answer).verdict == Verdict::certified);
}

/// 300 x 2500 vectors without an orthogonal pair but for `planted` ones.
/// More rows than a block of A, more words than a tile of B.
Ov::Instance sparse_witnesses(std::uint64_t dim, std::uint64_t planted, Random& random) {
  Ov::Instance instance{BitMatrix(300, dim), BitMatrix(2500, dim)};
  for (BitMatrix* side : {&instance.a, &instance.b})
    for (std::uint64_t r = 0; r < side->rows(); ++r) side->set(r, 0, true);  // nobody is orthogonal
  for (std::uint64_t k = 0; k < planted; ++k) {
    const std::uint64_t i = random.below(300);
    const std::uint64_t j = random.below(2500);
    std::ranges::fill(instance.a.row(i), std::uint64_t{0});
    instance.a.set(i, 1, true);
    instance.b.set(j, 0, false);
    instance.b.set(j, 2 + j % (dim - 2), true);
  }
  return instance;
}

TEST(OrthogonalVectors, ManyRowsGiveTheFirstWitnessWhateverTheThreads) {
  Random random(1);
  for (const std::uint64_t dim : {60u, 64u, 128u, 192u, 250u, 300u}) {
    for (std::uint64_t planted = 0; planted < 4; ++planted) {
      const Ov::Instance instance = sparse_witnesses(dim, planted, random);
      const std::vector<Pair> truth = pairs_by_words(instance);
      ASSERT_EQ(truth.empty(), planted == 0);
      for (const int threads : {1, 3}) {
        EXPECT_EQ(Ov::solve_brute_force(instance, with_threads(threads)).witness,
                  truth.empty() ? std::nullopt : std::optional(truth.front()));
        EXPECT_EQ(count_orthogonal_pairs(instance, with_threads(threads)), truth.size());
      }
    }
  }
}

TEST(OrthogonalVectors, VisitorStopsWhenTold) {
  const Ov::Instance flat{BitMatrix(3, 0), BitMatrix(3, 0)};
  int visits = 0;
  for_each_orthogonal_pair(flat, [&](std::uint64_t, std::uint64_t) { return ++visits < 4; });
  EXPECT_EQ(visits, 4);
}

TEST(OrthogonalVectors, Edges) {
  EXPECT_EQ(Ov::solve_brute_force({BitMatrix(2, 0), BitMatrix(3, 0)}).witness, Pair(0, 0));  // d = 0: all pairs
  EXPECT_EQ(count_orthogonal_pairs({BitMatrix(2, 0), BitMatrix(3, 0)}), 6u);
  EXPECT_EQ(Ov::solve_brute_force({BitMatrix(0, 5), BitMatrix(3, 5)}).witness, std::nullopt);
  EXPECT_EQ(Ov::solve_brute_force({BitMatrix(3, 5), BitMatrix(0, 5)}).witness, std::nullopt);
  EXPECT_EQ(Ov::solve_brute_force({}).witness, std::nullopt);
  EXPECT_EQ(Ov::solve_brute_force({bits(2, {"11", "11"}), bits(2, {"11", "11"})}).witness, std::nullopt);
  test::expect_error(ErrorKind::parameter, [] { Ov::solve_brute_force({BitMatrix(1, 2), BitMatrix(1, 3)}); });
  test::expect_error(ErrorKind::parameter, [] { find_orthogonal_partner(kSmall, 3); });
}

TEST(OrthogonalVectors, StopsOnRequest) {
  const std::atomic<bool> stop{true};
  Execution execution;
  execution.stop = &stop;
  test::expect_error(ErrorKind::interrupted, [&] { Ov::solve_brute_force(kSmall, execution); });
  test::expect_error(ErrorKind::interrupted, [&] { count_orthogonal_pairs(kSmall, execution); });
}

TEST(OrthogonalVectors, CheckRefutesWrongAnswers) {
  EXPECT_EQ(Ov::check(kSmall, {Pair(1, 2)}).verdict, Verdict::certified);
  for (const Pair& wrong : {Pair(0, 0), Pair(1, 1), Pair(2, 1), Pair(3, 0), Pair(0, 3), Pair(~std::uint64_t{0}, 0)})
    EXPECT_EQ(Ov::check(kSmall, {wrong}).verdict, Verdict::refuted) << wrong.first << ' ' << wrong.second;
  EXPECT_EQ(Ov::check(kSmall, {std::nullopt}).verdict, Verdict::refuted);
  EXPECT_EQ(Ov::check({BitMatrix(0, 4), BitMatrix(2, 4)}, {std::nullopt}).verdict, Verdict::certified);
}

TEST(OrthogonalVectors, DigestIsOfTheMathematicalInstance) {
  const Digest digest = Ov::digest(kSmall);
  EXPECT_EQ(Ov::digest(test::read_instance_text<Ov>("p  ov\t3 3 4\nc x\n1100\n0110\nc\n1011\n0111\n1010\r\n1001\n")),
            digest);
  EXPECT_NE(Ov::digest({kSmall.b, kSmall.a}), digest);
  Ov::Instance changed = kSmall;
  changed.b.set(2, 3, false);
  EXPECT_NE(Ov::digest(changed), digest);
  EXPECT_NE(Ov::digest({BitMatrix(1, 0), BitMatrix(2, 0)}), Ov::digest({BitMatrix(2, 0), BitMatrix(1, 0)}));
  EXPECT_NE(Ov::digest({BitMatrix(0, 1), BitMatrix(0, 1)}), Ov::digest({BitMatrix(0, 2), BitMatrix(0, 2)}));
}

RC_GTEST_PROP(OrthogonalVectors, SurvivesItsTextFormat, ()) {
  const Ov::Instance instance = any_instance();
  RC_ASSERT(test::survives_text<Ov>(instance));
  RC_ASSERT(test::answer_survives_text<Ov>(instance, Ov::solve_brute_force(instance)));
}

TEST(OrthogonalVectors, TextIsAsDocumented) {
  std::ostringstream out;
  Ov::write_instance(out, {bits(3, {"010"}), BitMatrix(0, 3)}, {"test", 5, "", ""});
  EXPECT_EQ(out.str(), "c subquad " + version() + "\nc command: test\nc seed: 5\np ov 1 0 3\nc A\n010\nc B\n");
  std::ostringstream flat;
  Ov::write_instance(flat, {BitMatrix(1, 0), BitMatrix(2, 0)}, {});
  EXPECT_EQ(flat.str(), "c subquad " + version() + "\np ov 1 2 0\nc A\n-\nc B\n-\n-\n");
  test::expect_error(ErrorKind::parameter, [] { test::instance_text<Ov>({BitMatrix(1, 2), BitMatrix(1, 3)}); });
}

TEST(OrthogonalVectors, AnswersAreReadStrictly) {
  const AnswerFile<Ov::Answer> plain = test::read_answer_text<Ov>("c by hand\ns YES\nw 3 17\n");
  EXPECT_EQ(plain.answer.witness, Pair(3, 17));
  EXPECT_EQ(plain.instance, std::nullopt);
  EXPECT_EQ(test::read_answer_text<Ov>("s NO\n").answer.witness, std::nullopt);
  const std::pair<const char*, const char*> refused[] = {
      {"", "t:1: the file ends here, expected 's YES' or 's NO'"},
      {"s MAYBE\n", "t:1: 's MAYBE', expected 's YES' or 's NO'"},
      {"s yes\n", "'s yes'"},
      {"s YES NO\n", "'s YES NO'"},
      {"sNO\n", "'sNO'"},
      {"s YES\n", "t:1: the file ends here, expected the witness 'w I J'"},
      {"s YES\nw 1\n", "t:2: 'w 1'"},
      {"s YES\nw 1 2 3\n", "'w 1 2 3'"},
      {"s YES\n1 2\n", "'1 2'"},
      {"s YES\nw -1 2\n", "t:2: '-1', expected the index of a row of A"},
      {"s YES\nw 1 99999999999999999999\n", "'99999999999999999999'"},
      {"s YES\nw 1 2", "expected a line feed"},
      {"s NO\nw 1 2\n", "t:2: 'w 1 2' after the answer"},
      {"s YES\nw 1 2\nw 3 4\n", "t:3:"},
      {"i 0123\ns NO\n", "t:1: 'i 0123', expected 'i' and a digest of 32 hexadecimal digits"},
      {"i 0123456789abcdef0123456789abcdeg\ns NO\n", "expected 'i' and a digest"},
      {"i 0123456789abcdef0123456789abcdef\ni 0123456789abcdef0123456789abcdef\ns NO\n", "t:2:"},
  };
  for (const auto& [text, part] : refused) {
    const std::string message = test::answer_refusal<Ov>(text);
    EXPECT_NE(message.find(part), std::string::npos) << text << " -> " << message;
    EXPECT_TRUE(test::well_worded(message)) << message;
  }
}

}  // namespace
}  // namespace subquad::problems
