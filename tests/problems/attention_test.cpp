#include "expect_error.hpp"
#include "text_round_trip.hpp"

#include <subquad/core/random.hpp>
#include <subquad/problems/attention.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

namespace subquad::problems {
namespace {

static_assert(Problem<Attention>);

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

MatrixD matrix(Eigen::Index rows, Eigen::Index cols, std::vector<double> values) {
  return Eigen::Map<const MatrixD>(values.data(), rows, cols);
}

/// Logits ln 3 and 0 for the only query: weights 3/4 and 1/4.
Attention::Instance three_quarters() {
  return {matrix(1, 1, {std::log(3.0)}), matrix(2, 1, {1, 0}), matrix(2, 2, {4, 1, 8, -1}), 1.0, 8.0, std::log(1e-9)};
}

Attention::Instance any_instance() {
  const Eigen::Index n = *rc::gen::inRange<Eigen::Index>(0, 5);
  const Eigen::Index keys = *rc::gen::inRange<Eigen::Index>(1, 6);
  const Eigen::Index d = *rc::gen::inRange<Eigen::Index>(0, 4);
  const Eigen::Index d_v = *rc::gen::inRange<Eigen::Index>(0, 4);
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  const double spread = *rc::gen::element(0.0, 1.0, 30.0, 1e100, 1e-310);
  const auto fill = [&](Eigen::Index rows, Eigen::Index cols) {
    MatrixD result(rows, cols);
    for (Eigen::Index e = 0; e < result.size(); ++e)
      result.data()[e] = random.bernoulli(0.2) ? -0.0 : random.normal() * spread;
    return result;
  };
  Attention::Instance instance{fill(n, d), fill(keys, d), fill(keys, d_v), random.normal(), 0, -random.unit() * 900};
  instance.entry_bound = 10 * spread;
  return instance;
}

TEST(Attention, HandChecked) {
  const Attention::Instance instance = three_quarters();
  const Attention::Answer answer = Attention::solve_brute_force(instance);
  ASSERT_EQ(answer.output.rows(), 1);
  ASSERT_EQ(answer.output.cols(), 2);
  EXPECT_NEAR(answer.output(0, 0), 5.0, 1e-15);  // 3/4 * 4 + 1/4 * 8
  EXPECT_NEAR(answer.output(0, 1), 0.5, 1e-15);  // 3/4 - 1/4
  EXPECT_TRUE(answer.log_column.empty());
  EXPECT_EQ(Attention::size(instance), (Sizes{{"num_queries", 1}, {"num_keys", 2}, {"dim", 1}, {"value_dim", 2}}));
  EXPECT_EQ(Attention::check(instance, answer).verdict, Verdict::certified);
}

TEST(Attention, ExampleFileHasItsKnownAnswer) {
  std::ifstream in(SUBQUAD_SOURCE_DIR "/docs/examples/small.attention");
  const Attention::Instance instance = Attention::read_instance(in, "small.attention");
  const MatrixD output = Attention::solve_brute_force(instance).output;
  EXPECT_NEAR(output(0, 0), 1.0 / 3, 1e-15);
  EXPECT_NEAR(output(1, 0), 1 / (1 + std::exp(2.0) + std::exp(3.0)), 1e-15);  // logits 0, 2, 3
}

TEST(Attention, ExtremeInputsGiveNeitherNanNorInfinity) {
  Attention::Instance instance = three_quarters();
  instance.q(0, 0) = 1e4;
  instance.entry_bound = 1e4;
  EXPECT_EQ(Attention::solve_brute_force(instance).output(0, 0), 4.0);  // e^-10000 is nothing
  instance.q(0, 0) = -1e4;
  EXPECT_EQ(Attention::solve_brute_force(instance).output(0, 0), 8.0);
  instance.q(0, 0) = 1e308;
  instance.k *= 1e308;
  instance.entry_bound = 1e308;
  EXPECT_EQ(Attention::solve_brute_force(instance).output(0, 0), 4.0);
}

TEST(Attention, Edges) {
  const Attention::Instance one_key{matrix(2, 1, {3, -7}), matrix(1, 1, {2}), matrix(1, 2, {0.1, -5}), 1, 8, -20};
  EXPECT_EQ(Attention::solve_brute_force(one_key).output, matrix(2, 2, {0.1, -5, 0.1, -5}));
  const Attention::Instance no_dim{MatrixD(2, 0), MatrixD(2, 0), matrix(2, 1, {1, 2}), 1, 8, -20};  // all logits 0
  EXPECT_EQ(Attention::solve_brute_force(no_dim).output, matrix(2, 1, {1.5, 1.5}));
  const Attention::Instance no_value{matrix(2, 1, {1, 2}), matrix(1, 1, {1}), MatrixD(1, 0), 1, 8, -20};
  EXPECT_EQ(Attention::solve_brute_force(no_value).output.cols(), 0);
  const Attention::Instance no_query{MatrixD(0, 3), MatrixD(0, 3), MatrixD(0, 2), 1, 8, -20};
  EXPECT_EQ(Attention::solve_brute_force(no_query).output.rows(), 0);
  EXPECT_EQ(Attention::check(no_query, Attention::solve_brute_force(no_query)).verdict, Verdict::certified);
}

TEST(Attention, ValidateNamesMatrixAndIndex) {
  const auto message = [](const auto& change) {
    Attention::Instance instance = three_quarters();
    change(instance);
    try {
      validate(instance);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::parameter);
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  using Instance = Attention::Instance;
  EXPECT_EQ(message([](Instance&) {}), "accepted");
  EXPECT_NE(message([](Instance& x) { x.k(1, 0) = kNan; }).find("K[1,0] is nan"), std::string::npos);
  EXPECT_NE(message([](Instance& x) { x.v(0, 1) = -kInfinity; }).find("V[0,1] is -inf"), std::string::npos);
  EXPECT_NE(message([](Instance& x) { x.v(1, 0) = 8.5; }).find("V[1,0] = 8.5 is above the entry bound 8"),
            std::string::npos);
  EXPECT_NE(message([](Instance& x) { x.entry_bound = kNan; }).find("entry bound"), std::string::npos);
  EXPECT_NE(message([](Instance& x) { x.scale = kInfinity; }).find("scale"), std::string::npos);
  EXPECT_NE(message([](Instance& x) { x.log_tolerance = kNan; }).find("tolerance"), std::string::npos);
  EXPECT_NE(message([](Instance& x) { x.k = MatrixD(0, 1); }).find("rows"), std::string::npos);
  EXPECT_NE(message([](Instance& x) { x.q = MatrixD::Zero(1, 2); }).find("columns"), std::string::npos);
  EXPECT_NE(message([](Instance& x) {
              x.k = MatrixD(0, 1);
              x.v = MatrixD(0, 2);
            }).find("no key"),
            std::string::npos);
}

TEST(Attention, CheckKeepsThreeOutcomesApart) {
  Attention::Instance instance = three_quarters();  // output 5, 0.5
  instance.log_tolerance = std::log(0.25);
  const auto judge = [&](double x, double y) { return Attention::check(instance, {matrix(1, 2, {x, y}), {}}).verdict; };
  EXPECT_EQ(judge(5.2, 0.5), Verdict::certified);
  EXPECT_EQ(judge(5.0, 0.3), Verdict::certified);
  EXPECT_EQ(judge(5.3, 0.5), Verdict::refuted);
  EXPECT_EQ(judge(5.0, 0.8), Verdict::refuted);
  EXPECT_EQ(judge(5.0, kNan), Verdict::refuted);
  EXPECT_EQ(judge(kInfinity, 0.5), Verdict::refuted);
  EXPECT_EQ(Attention::check(instance, {matrix(2, 1, {5, 0.5}), {}}).verdict, Verdict::refuted);  // wrong shape
  EXPECT_EQ(Attention::check(instance, {}).verdict, Verdict::refuted);
  // A tolerance below the rounding of the reference itself: right cannot be told from nearly right.
  instance.log_tolerance = -700;
  instance.q(0, 0) = 0;  // weights 1/2, output 6, 0 exactly
  EXPECT_EQ(judge(6.0, 0.0), Verdict::undecided);
  EXPECT_EQ(judge(std::nextafter(6.0, 7.0), 0.0), Verdict::refuted);
}

TEST(Attention, CheckJudgesLogEnclosures) {
  Attention::Instance instance = three_quarters();
  instance.v = matrix(2, 1, {0, 1});  // u = 1/4
  instance.log_tolerance = -700;
  const double truth = -std::log(4.0);
  const auto judge = [&](double low, double high, double output = 0.25) {
    return Attention::check(instance, {matrix(1, 1, {output}), {{low, high}}}).verdict;
  };
  EXPECT_EQ(judge(truth - 1e-10, truth + 1e-10), Verdict::certified);
  EXPECT_EQ(judge(truth + 1e-10, truth + 2e-10), Verdict::refuted);
  EXPECT_EQ(judge(truth - 2e-10, truth - 1e-10), Verdict::refuted);
  EXPECT_EQ(judge(truth + 1e-10, truth - 1e-10), Verdict::refuted);  // empty
  EXPECT_EQ(judge(kNan, truth), Verdict::refuted);
  EXPECT_EQ(judge(truth - 1, truth + 1), Verdict::undecided);              // true, but says too little
  EXPECT_EQ(judge(truth - 1e-10, truth + 1e-10, 0.26), Verdict::refuted);  // the double beside it is wrong
  EXPECT_EQ(Attention::check(instance, {matrix(1, 1, {0.25}), {{truth, truth}, {truth, truth}}}).verdict,
            Verdict::refuted);

  instance.v = matrix(2, 1, {0, 0});  // u = 0, ln u = -inf
  EXPECT_EQ(judge(-kInfinity, -kInfinity, 0), Verdict::certified);
  EXPECT_EQ(judge(-900, -800, 0), Verdict::refuted);

  instance.v = matrix(2, 1, {0, 1});  // u = 1/(1 + e^3000): far below every double
  instance.q(0, 0) = 3000;
  instance.entry_bound = 3000;
  instance.log_tolerance = -5000;
  EXPECT_EQ(judge(-3000 - 1e-9, -3000 + 1e-9, 0), Verdict::certified);
  EXPECT_EQ(judge(-2999, -2998, 0), Verdict::refuted);
}

RC_GTEST_PROP(Attention, ConvexAndCertifiedAtAGenerousTolerance, ()) {
  Attention::Instance instance = any_instance();
  instance.log_tolerance = std::log(1e-6) + std::log(std::max(1.0, instance.entry_bound));
  Execution execution;
  execution.threads = *rc::gen::inRange(1, 4);
  const Attention::Answer answer = Attention::solve_brute_force(instance, execution);
  RC_ASSERT(answer == Attention::solve_brute_force(instance));
  for (Eigen::Index i = 0; i < answer.output.rows(); ++i) {
    for (Eigen::Index c = 0; c < answer.output.cols(); ++c) {
      const double margin = 1e-12 * instance.entry_bound;
      RC_ASSERT(answer.output(i, c) >= instance.v.col(c).minCoeff() - margin);
      RC_ASSERT(answer.output(i, c) <= instance.v.col(c).maxCoeff() + margin);
    }
  }
  if (instance.entry_bound <= 10) RC_ASSERT(Attention::check(instance, answer).verdict == Verdict::certified);
  if (answer.output.size() > 0) {
    Attention::Answer wrong = answer;
    wrong.output.data()[*rc::gen::inRange<Eigen::Index>(0, wrong.output.size())] +=
        1e3 * std::exp(instance.log_tolerance);
    RC_ASSERT(Attention::check(instance, wrong).verdict != Verdict::certified);
  }
}

RC_GTEST_PROP(Attention, SurvivesItsTextFormatBitForBit, ()) {
  const Attention::Instance instance = any_instance();
  RC_ASSERT(test::survives_text<Attention>(instance));
  const Attention::Instance copy = test::read_instance_text<Attention>(test::instance_text<Attention>(instance));
  for (Eigen::Index e = 0; e < instance.v.size(); ++e)
    RC_ASSERT(std::signbit(copy.v.data()[e]) == std::signbit(instance.v.data()[e]));  // -0 too
  Attention::Answer answer = Attention::solve_brute_force(instance);
  RC_ASSERT(test::answer_survives_text<Attention>(instance, answer));
  if (answer.output.size() == 0) return;
  answer.log_column.assign(static_cast<std::size_t>(answer.output.rows()), {-kInfinity, -0x1.fffffffffffffp+9});
  RC_ASSERT(test::answer_survives_text<Attention>(instance, answer));
}

TEST(Attention, EqualInstancesHaveEqualDigests) {
  Attention::Instance x = three_quarters();
  x.k(1, 0) = 0.0;
  Attention::Instance y = x;
  y.k(1, 0) = -0.0;
  EXPECT_EQ(x, y);
  EXPECT_EQ(Attention::digest(x), Attention::digest(y));
  y.scale = 0.5;
  EXPECT_NE(Attention::digest(x), Attention::digest(y));
  y = x;
  y.v(1, 1) = std::nextafter(-1.0, 0.0);
  EXPECT_NE(Attention::digest(x), Attention::digest(y));
  const Attention::Instance wide{MatrixD(0, 2), MatrixD::Zero(1, 2), MatrixD(1, 0), 1, 0, 0};
  const Attention::Instance tall{MatrixD(0, 1), MatrixD::Zero(2, 1), MatrixD(2, 0), 1, 0, 0};
  EXPECT_NE(Attention::digest(wide), Attention::digest(tall));
}

TEST(Attention, AnswersAreReadStrictly) {
  const AnswerFile<Attention::Answer> file =
      test::read_answer_text<Attention>("s OUTPUT 1 2 LOG\n0.5 -0x1p-3\nl -inf -0.5\n");
  EXPECT_EQ(file.answer.output, matrix(1, 2, {0.5, -0.125}));
  ASSERT_EQ(file.answer.log_column.size(), 1u);
  EXPECT_EQ(file.answer.log_column[0].log_low, -kInfinity);
  const std::pair<const char*, const char*> refused[] = {
      {"s OUTPUT 1\n0\n", "t:1: 's OUTPUT 1', expected 's OUTPUT N DV'"},
      {"s OUTPUT 1 1\nnan\n", "t:2: 'nan' is output[0,0]"},
      {"s OUTPUT 2 1\n0\n", "t:2: the file ends after 1 rows of output, expected 2"},
      {"s OUTPUT 1 1\n0\n0\n", "t:3: '0' after the last row"},
      {"s OUTPUT 1 1 LOG\n0\n", "t:2: the file ends after 0 lines of logarithms"},
      {"s OUTPUT 1 1 LOG\n0\nl 2 1\n", "t:3: 'l 2 1', expected 'l LOW HIGH' with LOW <= HIGH for row 0"},
      {"s OUTPUT 1 1 LOG\n0\nl 1 inf\n", "t:3: 'inf'"},
      {"s OUTPUT 1 0 LOG\n-\n", "LOG with N = 1 and DV = 0"},
      {"s OUTPUT 1 1 LIN\n0\n", "expected 's OUTPUT N DV'"},
  };
  for (const auto& [text, part] : refused) {
    const std::string message = test::answer_refusal<Attention>(text);
    EXPECT_NE(message.find(part), std::string::npos) << text << " -> " << message;
  }
  test::expect_error(ErrorKind::parameter, [] {
    test::answer_text<Attention>(three_quarters(), {matrix(1, 2, {kNan, 0}), {}});
  });
}

}  // namespace
}  // namespace subquad::problems
