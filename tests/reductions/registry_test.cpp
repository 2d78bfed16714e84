#include <subquad/core/error.hpp>
#include <subquad/problems/gap_ann.hpp>
#include <subquad/problems/orthogonal_vectors.hpp>
#include <subquad/reductions/registry.hpp>
#include <subquad/sat/cnf.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

namespace subquad::reductions {
namespace {

using problems::OrthogonalVectors;

template <class F>
std::string message_of(F&& f, ErrorKind kind) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

AnyInstance small_formula() {
  sat::Cnf formula(2);
  formula.add_clause({1, 2});
  formula.add_clause({-1});
  return {"cnf", formula};
}

const std::string& first_name(const std::vector<const ReductionEntry*>& path) {
  return path.front()->info.name;
}

TEST(Registry, HoldsTheProblemsAndReductionsOfTheChain) {
  std::set<std::string> ids;
  for (const ProblemEntry& entry : problems()) ids.insert(entry.id);
  EXPECT_EQ(ids, (std::set<std::string>{"cnf", "ov", "p-ov", "gap-ann", "ann", "attention"}));
  std::set<std::string> names;
  for (const ReductionEntry& entry : reductions()) names.insert(entry.info.name);
  for (const char* name : {"cnf_to_ov", "cnf_to_p_ov", "ov_to_gap_ann", "ann_to_gap_ann"})
    EXPECT_TRUE(names.contains(name));
  EXPECT_EQ(ids.size(), problems().size());
  EXPECT_EQ(names.size(), reductions().size());
}

TEST(Registry, EveryEntryIsWellFormed) {
  for (const ReductionEntry& entry : reductions()) {
    SCOPED_TRACE(entry.info.name);
    const ProblemEntry& source = problem(entry.info.source);
    const ProblemEntry& target = problem(entry.info.target);
    EXPECT_FALSE(entry.info.title.empty());
    EXPECT_FALSE(entry.info.citation.empty());
    EXPECT_FALSE(entry.info.claim.empty());
    EXPECT_FALSE(entry.info.hypothesis.empty());
    const auto made = entry.make({});
    std::set<std::string> bounded;
    for (const SizeBound& bound : made->size_bounds()) {
      bounded.insert(bound.field);
      for (const std::string& used : bound.expression.variables())
        EXPECT_EQ(std::count(source.size_fields.begin(), source.size_fields.end(), used), 1) << used;
    }
    EXPECT_EQ(bounded, std::set<std::string>(target.size_fields.begin(), target.size_fields.end()));
    // Every default of the table is accepted when it is spelled out, unless its mode gives it no meaning.
    for (const ParameterSpec& spec : entry.parameters) {
      EXPECT_FALSE(spec.help.empty());
      EXPECT_FALSE(spec.range.empty());
      try {
        entry.make({{spec.name, spec.default_value}});
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("no meaning"), std::string::npos) << error.what();
      }
    }
  }
}

TEST(Registry, TheErasedFormRunsAReduction) {
  const auto made = reduction("cnf_to_ov").make({});
  const AnyInstance source = small_formula();
  const AnyInstance target = made->reduce(source, {});
  EXPECT_EQ(target.problem, "ov");
  const ProblemEntry& ov = problem("ov");
  const AnyAnswer answer = ov.solve_brute_force(target, {});
  const AnyAnswer lifted = made->lift(source, target, answer);
  const auto model = std::any_cast<const sat::CnfSat::Answer&>(lifted.value).model;
  ASSERT_TRUE(model);
  EXPECT_EQ(*model, (sat::Model{false, true}));
  const AnyAnswer solved = made->solve(source, [&](const AnyInstance& i) { return ov.solve_brute_force(i, {}); }, {});
  EXPECT_EQ(std::any_cast<const sat::CnfSat::Answer&>(solved.value).model, model);
}

TEST(Registry, RefusesInstancesOfOtherProblemsAndForgedLabels) {
  const auto made = reduction("ov_to_gap_ann").make({});
  EXPECT_EQ(message_of([&] { made->reduce(small_formula(), {}); }, ErrorKind::parameter),
            "instance of problem 'cnf', expected one of 'ov'");
  message_of([&] { made->reduce(AnyInstance{"ov", sat::Cnf(1)}, {}); }, ErrorKind::internal);
  message_of(
      [&] {
        made->lift(AnyInstance{"ov", OrthogonalVectors::Instance{}}, AnyInstance{"ov", 1}, AnyAnswer{"ov", 1});
      },
      ErrorKind::parameter);
}

TEST(Registry, TuringReductionsCannotBeReduced) {
  const auto made = reduction("ann_to_gap_ann").make({});
  EXPECT_EQ(reduction("ann_to_gap_ann").info.kind, ReductionKind::turing);
  EXPECT_NE(message_of(
                [&] {
                  made->reduce(AnyInstance{"ann", 0}, {});
                },
                ErrorKind::unsupported)
                .find("Turing"),
            std::string::npos);
  message_of(
      [&] {
        made->lift(AnyInstance{"ann", 0}, AnyInstance{"gap-ann", 0}, AnyAnswer{"gap-ann", 0});
      },
      ErrorKind::unsupported);
}

TEST(Registry, ParametersAreCheckedWithASuggestion) {
  const ReductionEntry& entry = reduction("cnf_to_ov");
  EXPECT_EQ(message_of(
                [&] {
                  entry.make({{"left_variable", "3"}});
                },
                ErrorKind::parameter),
            "cnf_to_ov: unknown parameter 'left_variable', did you mean 'left_variables'?");
  EXPECT_EQ(message_of(
                [&] {
                  entry.make({{"left_variables", "-3"}});
                },
                ErrorKind::parameter),
            "cnf_to_ov: left_variables = '-3', expected balanced or 0..n");
  message_of([&] { entry.make({{"left_variables", "99999999999999999999"}}); }, ErrorKind::parameter);
  message_of([&] { entry.make({{"drop_duplicates", "yes"}}); }, ErrorKind::parameter);
  message_of([&] { reduction("cnf_to_p_ov").make({{"parts", "0"}}); }, ErrorKind::parameter);
}

TEST(Registry, LookUpSuggestsTheNearestName) {
  EXPECT_EQ(message_of([] { problem("atention"); }, ErrorKind::parameter),
            "no problem 'atention', did you mean 'attention'?");
  EXPECT_NE(message_of([] { problem("knapsack"); }, ErrorKind::parameter).find("known: cnf"), std::string::npos);
  EXPECT_EQ(message_of([] { reduction("cnf-to-ov"); }, ErrorKind::parameter),
            "no reduction 'cnf-to-ov', did you mean 'cnf_to_ov'?");
}

TEST(Registry, NearestName) {
  const std::vector<std::string> names = {"reduce", "lift", "solve", "verify", "gap-ann"};
  EXPECT_EQ(nearest_name("redcue", names), "reduce");  // a transposition is one slip
  EXPECT_EQ(nearest_name("SOLVE", names), "solve");
  EXPECT_EQ(nearest_name("gap_ann", names), "gap-ann");
  EXPECT_EQ(nearest_name("lif", names), "lift");
  EXPECT_EQ(nearest_name("explain", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name("reduce", {}), "");
}

TEST(Registry, PathsAreSimpleAndShortestFirst) {
  const auto to_gap = paths("cnf", "gap-ann");
  ASSERT_EQ(to_gap.size(), 1U);
  EXPECT_EQ(to_gap[0].size(), 2U);
  EXPECT_EQ(first_name(to_gap[0]), "cnf_to_ov");
  EXPECT_TRUE(paths("gap-ann", "cnf").empty());
  ASSERT_EQ(paths("ov", "ov").size(), 1U);
  EXPECT_TRUE(paths("ov", "ov")[0].empty());
  message_of([] { paths("cnf", "nowhere"); }, ErrorKind::parameter);
  for (const ProblemEntry& from : problems()) {
    for (const ProblemEntry& to : problems()) {
      std::size_t last = 0;
      for (const auto& path : paths(from.id, to.id)) {
        EXPECT_LE(last, path.size());
        last = path.size();
        std::string at = from.id;
        std::set<std::string> seen = {at};
        for (const ReductionEntry* step : path) {
          EXPECT_EQ(step->info.source, at);
          at = step->info.target;
          EXPECT_TRUE(seen.insert(at).second) << "visited twice: " << at;
        }
        EXPECT_EQ(at, to.id);
      }
    }
  }
}

TEST(Registry, BoundsComposeAlongEveryPath) {
  // Sizes of 50 variables and 218 clauses through OV and the gadget, all exact.
  const auto path = paths("cnf", "gap-ann").front();
  const auto bounds = compose(path[0]->make({})->size_bounds(), path[1]->make({})->size_bounds());
  const Sizes source = {{"num_variables", 50}, {"num_clauses", 218}, {"max_width", 3}};
  const Sizes expected = {
      {"num_queries", Count(1) << 25}, {"num_keys", Count(1) << 25}, {"dim", 654}, {"r_yes", 218}, {"r_no", 220}};
  EXPECT_TRUE(violations(bounds, source, expected).empty());
  for (const SizeBound& bound : bounds) EXPECT_EQ(bound.kind, BoundKind::exact);
  EXPECT_EQ(bounds[0].expression.to_string(), "2^ceil(num_variables/2)");
  EXPECT_EQ(bounds[2].expression.to_string(), "3 num_clauses");
  // Evaluable for any n that has 2^(n/2) as a size at all, and a resource error beyond.
  EXPECT_NO_THROW(bounds[0].expression.evaluate({{"num_variables", 1'000'000}}));
  message_of([&] { bounds[0].expression.evaluate({{"num_variables", sat::kMaxVariables}}); }, ErrorKind::resource);
}

TEST(Registry, ProblemEntriesReadAndWrite) {
  const ProblemEntry& cnf = problem("cnf");
  std::ostringstream out;
  cnf.write_instance(out, small_formula(), {});
  std::istringstream in(out.str());
  const AnyInstance back = cnf.read_instance(in, "test");
  EXPECT_EQ(cnf.digest(back), cnf.digest(small_formula()));
  EXPECT_EQ(cnf.size(back), cnf.size(small_formula()));
}

}  // namespace
}  // namespace subquad::reductions
