#include "bit_matrices.hpp"
#include "expect_error.hpp"
#include "text_round_trip.hpp"

#include <subquad/problems/orthogonal_tuples.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <vector>

namespace subquad::problems {
namespace {

static_assert(Problem<OrthogonalTuples>);

using Tuples = OrthogonalTuples;
using Indices = std::vector<std::uint64_t>;
using test::bits;

const Tuples::Instance kSmall{{bits(3, {"110", "111"}), bits(3, {"011", "001"}), bits(3, {"111"})}};

/// All orthogonal tuples: an odometer over the indices and a test coordinate by coordinate.
std::vector<Indices> tuples_by_definition(const Tuples::Instance& instance) {
  std::vector<Indices> found;
  for (const BitMatrix& part : instance.parts)
    if (part.rows() == 0) return found;
  Indices indices(instance.parts.size(), 0);
  for (;;) {
    bool orthogonal_tuple = true;
    for (std::uint64_t c = 0; c < instance.parts[0].cols(); ++c) {
      std::size_t ones = 0;
      for (std::size_t q = 0; q < indices.size(); ++q) ones += instance.parts[q].get(indices[q], c) ? 1 : 0;
      if (ones == indices.size()) orthogonal_tuple = false;
    }
    if (orthogonal_tuple) found.push_back(indices);
    std::size_t q = indices.size();
    while (q > 0 && ++indices[q - 1] == instance.parts[q - 1].rows()) indices[--q] = 0;
    if (q == 0) return found;
  }
}

Tuples::Instance any_instance() {
  const std::uint64_t dim = *rc::gen::element<std::uint64_t>(0, 1, 3, 6, 64, 65, 130);
  Tuples::Instance instance;
  const int parts = *rc::gen::inRange(1, 5);
  for (int q = 0; q < parts; ++q)
    instance.parts.push_back(test::any_matrix(*rc::gen::element<std::uint64_t>(0, 1, 2, 3, 4, 5, 6), dim));
  return instance;
}

TEST(OrthogonalTuples, HandChecked) {
  EXPECT_EQ(Tuples::solve_brute_force(kSmall).witness, (Indices{0, 1, 0}));
  EXPECT_EQ(Tuples::size(kSmall), (Sizes{{"num_parts", 3}, {"max_part", 2}, {"num_tuples", 4}, {"dim", 3}}));
  EXPECT_EQ(Tuples::size_fields(), (std::vector<std::string>{"num_parts", "max_part", "num_tuples", "dim"}));
  std::ifstream in(SUBQUAD_SOURCE_DIR "/docs/examples/small.pov");
  EXPECT_EQ(Tuples::read_instance(in, "small.pov"), kSmall);
}

RC_GTEST_PROP(OrthogonalTuples, AgreesWithTheDefinition, ()) {
  const Tuples::Instance instance = any_instance();
  const std::vector<Indices> truth = tuples_by_definition(instance);
  Execution execution;
  execution.threads = *rc::gen::inRange(1, 4);
  const Tuples::Answer answer = Tuples::solve_brute_force(instance, execution);
  RC_ASSERT(answer.witness == (truth.empty() ? std::nullopt : std::optional(truth.front())));
  std::vector<Indices> visited;
  for_each_orthogonal_tuple(instance, [&](const Indices& indices) {
    visited.push_back(indices);
    return true;
  });
  RC_ASSERT(visited == truth);
  RC_ASSERT(Tuples::check(instance, answer).verdict == Verdict::certified);
}

RC_GTEST_PROP(OrthogonalTuples, SurvivesItsTextFormat, ()) {
  const Tuples::Instance instance = any_instance();
  RC_ASSERT(test::survives_text<Tuples>(instance));
  RC_ASSERT(test::answer_survives_text<Tuples>(instance, Tuples::solve_brute_force(instance)));
}

TEST(OrthogonalTuples, Edges) {
  EXPECT_EQ(Tuples::solve_brute_force({{bits(2, {"10", "00"})}}).witness, (Indices{1}));  // p = 1: a zero vector
  EXPECT_EQ(Tuples::solve_brute_force({{bits(2, {"10", "01"})}}).witness, std::nullopt);
  EXPECT_EQ(Tuples::solve_brute_force({{BitMatrix(2, 0), BitMatrix(2, 0)}}).witness, (Indices{0, 0}));
  EXPECT_EQ(Tuples::solve_brute_force({{BitMatrix(2, 0), BitMatrix(0, 0)}}).witness, std::nullopt);
  test::expect_error(ErrorKind::parameter, [] { Tuples::solve_brute_force({}); });
  test::expect_error(ErrorKind::parameter, [] { Tuples::size({{BitMatrix(1, 2), BitMatrix(1, 3)}}); });
  const Tuples::Instance flat{{BitMatrix(std::uint64_t{1} << 62, 0), BitMatrix(std::uint64_t{1} << 62, 0)}};
  EXPECT_EQ(size_field(Tuples::size(flat), "num_tuples"), pow2(124));
}

TEST(OrthogonalTuples, StopsOnRequest) {
  const std::atomic<bool> stop{true};
  Execution execution;
  execution.stop = &stop;
  test::expect_error(ErrorKind::interrupted, [&] { Tuples::solve_brute_force(kSmall, execution); });
}

TEST(OrthogonalTuples, CheckRefutesWrongAnswers) {
  for (const Indices& wrong : {Indices{1, 1, 0}, Indices{0, 0, 0}, Indices{0, 1}, Indices{0, 1, 0, 0}, Indices{0, 2, 0},
                               Indices{0, 1, 1}, Indices{}})
    EXPECT_EQ(Tuples::check(kSmall, {wrong}).verdict, Verdict::refuted);
  EXPECT_EQ(Tuples::check(kSmall, {std::nullopt}).verdict, Verdict::refuted);
  EXPECT_EQ(Tuples::check({{bits(1, {"1"})}}, {std::nullopt}).verdict, Verdict::certified);
}

TEST(OrthogonalTuples, HeadersAreReadStrictly) {
  const std::pair<const char*, const char*> refused[] = {
      {"p p-ov 2 3 1\n000\n", "t:1: header with 1 part sizes, expected P = 2"},
      {"p p-ov 1000000000000 3\n", "header with 0 part sizes, expected P = 1000000000000"},
      {"p p-ov 0 3\n", "P is 0, expected at least 1"},
      {"p p-ov 1\n", "header with 1 numbers"},
      {"p p-ov 2 2 1 -1\n", "N2 is -1"},
      {"p p-ov 2 2 1 1\n00\n", "the file ends after 0 rows of part 2"},
  };
  for (const auto& [text, part] : refused) {
    std::string message;
    try {
      test::read_instance_text<Tuples>(text);
    } catch (const Error& error) {
      message = error.what();
    }
    EXPECT_NE(message.find(part), std::string::npos) << text << " -> " << message;
  }
  EXPECT_NE(test::answer_refusal<Tuples>("s YES\nw\n"), "");
  EXPECT_NE(test::answer_refusal<Tuples>("s YES\nw 0 x\n"), "");
  EXPECT_NE(test::answer_refusal<Tuples>("s NEVER\n"), "");
}

TEST(OrthogonalTuples, DigestKeepsThePartsApart) {
  const Tuples::Instance joined{{bits(1, {"1", "0"}), BitMatrix(0, 1)}};
  const Tuples::Instance split{{bits(1, {"1"}), bits(1, {"0"})}};
  EXPECT_NE(Tuples::digest(joined), Tuples::digest(split));
}

}  // namespace
}  // namespace subquad::problems
