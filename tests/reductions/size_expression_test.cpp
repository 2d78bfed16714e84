#include "expect_error.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/reductions/size_expression.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>

namespace subquad::reductions {
namespace {

const Sizes kSizes = {{"num_variables", 21}, {"num_clauses", 91}, {"x", 0}};

std::string text(const SizeExpression& e) {
  return e.to_string();
}
Count value(const SizeExpression& e) {
  return e.evaluate(kSizes);
}

TEST(SizeExpression, WorkedExampleOfTheSplit) {
  const SizeExpression n = field("num_variables");
  EXPECT_EQ(text(pow2(ceil_div(n, 2))), "2^ceil(num_variables/2)");
  EXPECT_EQ(value(pow2(ceil_div(n, 2))), 2048);  // 2^11
  EXPECT_EQ(value(pow2(floor_div(n, 2))), 1024);
  EXPECT_EQ(text(3 * field("dim")), "3 dim");
}

TEST(SizeExpression, PrintsWithParenthesesOnlyWhereTheyAreNeeded) {
  const SizeExpression a = field("a");
  const SizeExpression b = field("b");
  const SizeExpression c = field("c");
  EXPECT_EQ(text(a + b + c), "a + b + c");
  EXPECT_EQ(text(a + (b + c)), "a + b + c");
  EXPECT_EQ(text(a * b), "a * b");
  EXPECT_EQ(text(a * (b + c)), "a * (b + c)");
  EXPECT_EQ(text((a + b) * c), "(a + b) * c");
  EXPECT_EQ(text(2 * (a + b)), "2 (a + b)");
  EXPECT_EQ(text(3 * pow2(a)), "3 * 2^a");
  EXPECT_EQ(text(pow2(a + 1)), "2^(a + 1)");
  EXPECT_EQ(text(pow2(pow2(a))), "2^(2^a)");
  EXPECT_EQ(text(ceil_div(a + b, c)), "ceil((a + b)/c)");
  EXPECT_EQ(text(ceil_div(3 * a, 2 * b)), "ceil(3 a/(2 b))");
  EXPECT_EQ(text(floor_div(a, pow2(b))), "floor(a/2^b)");
  EXPECT_EQ(text(monus(a, b + c)), "max(a - (b + c), 0)");
  EXPECT_EQ(text(a + monus(b, c)), "a + max(b - c, 0)");
  EXPECT_EQ(text(max(a, min(b, 3))), "max(a, min(b, 3))");
  EXPECT_EQ(text(ceil_log2(a + 1)), "ceil(log2(a + 1))");
}

TEST(SizeExpression, FoldsConstantsSoThatCompositionsStayReadable) {
  const SizeExpression x = field("x");
  EXPECT_EQ(text((x + 1) + 2), "x + 3");
  EXPECT_EQ(text(1 + x), "x + 1");
  EXPECT_EQ(text((x + 1) + (field("y") + 2)), "x + y + 3");
  EXPECT_EQ(text(2 * (3 * x)), "6 x");
  EXPECT_EQ(text((2 * x) * (3 * x)), "6 x * x");
  EXPECT_EQ(text(x * 1 + 0), "x");
  EXPECT_EQ(text(0 * x), "0");
  EXPECT_EQ(text(ceil_div(x, 1)), "x");
  EXPECT_EQ(text(ceil_div(SizeExpression(7), 2)), "4");
  EXPECT_EQ(text(floor_div(SizeExpression(7), 2)), "3");
  EXPECT_EQ(text(monus(SizeExpression(3), 5)), "0");
  EXPECT_EQ(text(max(0, x)), "x");
  EXPECT_EQ(text(min(x, 0)), "0");
  EXPECT_EQ(text(ceil_log2(SizeExpression(5))), "3");
  EXPECT_EQ(text(pow2(SizeExpression(0))), "1");
  EXPECT_EQ(text(pow2(SizeExpression(20))), "2^20");
}

TEST(SizeExpression, EvaluatesExactlyBeyondMachineIntegers) {
  const Sizes big = {{"n", 200}};
  EXPECT_EQ((pow2(field("n")) * pow2(field("n")) + 1).evaluate(big), (Count(1) << 400) + 1);
  EXPECT_EQ(SizeExpression(~std::uint64_t{0}).evaluate({}) + 1, Count(1) << 64);
}

TEST(SizeExpression, Edges) {
  EXPECT_EQ(value(monus(field("x"), field("num_clauses"))), 0);
  EXPECT_EQ(value(monus(field("num_clauses"), field("x"))), 91);
  EXPECT_EQ(value(pow2(field("x"))), 1);
  EXPECT_EQ(value(ceil_log2(field("x"))), 0);
  EXPECT_EQ(value(ceil_log2(pow2(field("num_variables")))), 21);
  EXPECT_EQ(value(ceil_log2(pow2(field("num_variables")) + 1)), 22);
}

TEST(SizeExpression, Refusals) {
  test::expect_error(ErrorKind::internal, [] { field("nowhere").evaluate(kSizes); });
  test::expect_error(ErrorKind::internal, [] { ceil_div(field("num_clauses"), field("x")).evaluate(kSizes); });
  test::expect_error(ErrorKind::resource, [] { pow2(pow2(field("num_clauses"))).evaluate(kSizes); });
  test::expect_error(ErrorKind::resource, [] { pow2(field("n")).evaluate({{"n", (Count(1) << 20) + 1}}); });
  test::expect_error(ErrorKind::internal, [] { SizeExpression(-1); });
}

TEST(SizeExpression, VariablesAndTheirDirection) {
  using Names = std::set<std::string>;
  const SizeExpression e = field("a") + monus(field("b"), field("c"));
  EXPECT_EQ(e.variables(), (Names{"a", "b", "c"}));
  EXPECT_EQ(e.decreasing_variables(), Names{"c"});
  EXPECT_EQ(monus(field("a"), monus(field("b"), field("c"))).decreasing_variables(), Names{"b"});
  EXPECT_EQ(ceil_div(field("a"), field("b")).decreasing_variables(), Names{"b"});
  EXPECT_EQ(monus(field("a"), floor_div(field("b"), field("a"))).decreasing_variables(), Names{"b"});
  EXPECT_TRUE(pow2(max(field("a"), ceil_log2(field("b")))).decreasing_variables().empty());
}

/// A random expression together with an independent evaluator in plain 128-bit integers (sizes are kept small).
struct Twin {
  SizeExpression expression;
  std::function<std::uint64_t(std::uint64_t, std::uint64_t)> plain;
};

Twin random_twin(Random& random, int depth) {
  if (depth == 0) {
    const std::uint64_t which = random.below(3);
    if (which == 0) return {field("x"), [](auto x, auto) { return x; }};
    if (which == 1) return {field("y"), [](auto, auto y) { return y; }};
    const std::uint64_t c = random.below(4);
    return {SizeExpression(c), [c](auto, auto) { return c; }};
  }
  const Twin a = random_twin(random, depth - 1);
  const Twin b = random_twin(random, depth - 1);
  const auto f = a.plain;
  const auto g = b.plain;
  switch (random.below(7)) {
    case 0:
      return {a.expression + b.expression, [=](auto x, auto y) { return f(x, y) + g(x, y); }};
    case 1:
      return {a.expression * b.expression, [=](auto x, auto y) { return f(x, y) * g(x, y); }};
    case 2:
      return {monus(a.expression, b.expression),
              [=](auto x, auto y) { return f(x, y) > g(x, y) ? f(x, y) - g(x, y) : 0; }};
    case 3:
      return {max(a.expression, b.expression), [=](auto x, auto y) { return f(x, y) > g(x, y) ? f(x, y) : g(x, y); }};
    case 4:
      return {min(a.expression, b.expression), [=](auto x, auto y) { return f(x, y) < g(x, y) ? f(x, y) : g(x, y); }};
    case 5:
      return {ceil_div(a.expression, b.expression + 1),
              [=](auto x, auto y) { return (f(x, y) + g(x, y)) / (g(x, y) + 1); }};
    default:
      return {floor_div(a.expression, b.expression + 1), [=](auto x, auto y) { return f(x, y) / (g(x, y) + 1); }};
  }
}

RC_GTEST_PROP(SizeExpression, AgreesWithPlainArithmetic, (std::uint64_t seed)) {
  Random random(seed);
  const Twin twin = random_twin(random, 3);
  for (std::uint64_t x = 0; x < 6; ++x)
    for (std::uint64_t y = 0; y < 6; ++y)
      RC_ASSERT(twin.expression.evaluate({{"x", x}, {"y", y}}) == Count(twin.plain(x, y)));
}

RC_GTEST_PROP(SizeExpression, SubstitutionIsEvaluationOfTheParts, (std::uint64_t seed)) {
  Random random(seed);
  const Twin outer = random_twin(random, 2);
  const Twin inner_x = random_twin(random, 2);
  const Twin inner_y = random_twin(random, 2);
  const SizeExpression composed = outer.expression.substitute([&](std::string_view name) -> const SizeExpression* {
    return name == "x" ? &inner_x.expression : name == "y" ? &inner_y.expression : nullptr;
  });
  for (std::uint64_t x = 0; x < 4; ++x)
    for (std::uint64_t y = 0; y < 4; ++y)
      RC_ASSERT(composed.evaluate({{"x", x}, {"y", y}}) ==
                Count(outer.plain(inner_x.plain(x, y), inner_y.plain(x, y))));
}

RC_GTEST_PROP(SizeExpression, MonotoneInEveryVariableThatIsNotDecreasing, (std::uint64_t seed)) {
  Random random(seed);
  const Twin twin = random_twin(random, 3);
  const std::set<std::string> decreasing = twin.expression.decreasing_variables();
  for (std::uint64_t x = 0; x < 5; ++x) {
    for (std::uint64_t y = 0; y < 5; ++y) {
      const Count here = twin.expression.evaluate({{"x", x}, {"y", y}});
      if (!decreasing.contains("x")) RC_ASSERT(here <= twin.expression.evaluate({{"x", x + 1}, {"y", y}}));
      if (!decreasing.contains("y")) RC_ASSERT(here <= twin.expression.evaluate({{"x", x}, {"y", y + 1}}));
    }
  }
}

TEST(SizeBounds, ViolationsNameFieldValueAndBound) {
  const std::vector<SizeBound> bounds = {{"num_a", BoundKind::exact, pow2(ceil_div(field("num_variables"), 2))},
                                         {"dim", BoundKind::upper_bound, field("num_clauses")}};
  EXPECT_TRUE(violations(bounds, kSizes, {{"num_a", 2048}, {"dim", 91}}).empty());
  EXPECT_TRUE(violations(bounds, kSizes, {{"num_a", 2048}, {"dim", 3}}).empty());
  EXPECT_EQ(violations(bounds, kSizes, {{"num_a", 64}, {"dim", 92}}),
            (std::vector<std::string>{"num_a: 64, bound exact 2^ceil(num_variables/2) = 2048",
                                      "dim: 92, bound at most num_clauses = 91"}));
  EXPECT_EQ(violations(bounds, kSizes, {{"num_a", 2049}}).size(), 2U);  // too large, and dim is missing
  EXPECT_EQ(violations(bounds, kSizes, {{"num_a", 2048}, {"dim", 1}, {"r", 1}}).size(), 1U);  // r has no bound
}

TEST(SizeBounds, ComposeAlongAPath) {
  const std::vector<SizeBound> first = {{"num_a", BoundKind::exact, pow2(ceil_div(field("n"), 2))},
                                        {"dim", BoundKind::upper_bound, field("m")}};
  const std::vector<SizeBound> second = {{"num_queries", BoundKind::exact, field("num_a")},
                                         {"dim", BoundKind::exact, 3 * field("dim")},
                                         {"r_no", BoundKind::exact, field("dim") + 2}};
  const std::vector<SizeBound> composed = compose(first, second);
  ASSERT_EQ(composed.size(), 3U);
  EXPECT_EQ(composed[0].kind, BoundKind::exact);
  EXPECT_EQ(composed[0].expression.to_string(), "2^ceil(n/2)");
  EXPECT_EQ(composed[1].kind, BoundKind::upper_bound);  // exact in dim, but dim itself is only bounded
  EXPECT_EQ(composed[1].expression.to_string(), "3 m");
  EXPECT_EQ(composed[2].expression.to_string(), "m + 2");
}

TEST(SizeBounds, ComposeRefusesWhatItCannotBound) {
  const std::vector<SizeBound> upper = {{"dim", BoundKind::upper_bound, field("m")}};
  const std::vector<SizeBound> exact = {{"dim", BoundKind::exact, field("m")}};
  const std::vector<SizeBound> shrinking = {{"left", BoundKind::exact, monus(10, field("dim"))}};
  test::expect_error(ErrorKind::internal, [&] { compose(upper, shrinking); });
  EXPECT_EQ(compose(exact, shrinking)[0].expression.to_string(), "max(10 - m, 0)");
  test::expect_error(ErrorKind::internal, [&] { compose(exact, {{"r", BoundKind::exact, field("nowhere")}}); });
  const std::vector<SizeBound> quotient = {{"blocks", BoundKind::exact, ceil_div(10, field("dim"))}};
  test::expect_error(ErrorKind::internal, [&] { compose(upper, quotient); });
}

}  // namespace
}  // namespace subquad::reductions
