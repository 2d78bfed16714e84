#include "battery.hpp"

#include "source_instances.hpp"

#include <subquad/core/error.hpp>
#include <subquad/problems/gap_ann.hpp>
#include <subquad/problems/orthogonal_vectors.hpp>

#include <gtest/gtest.h>

#include <any>
#include <cstdlib>
#include <utility>

namespace subquad::battery {
namespace {

using reductions::AnyAnswer;
using reductions::AnyInstance;
using reductions::AnyOracle;
using reductions::AnyReduction;
using reductions::ReductionEntry;
using reductions::SizeBound;

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const ReductionEntry& entry : reductions::reductions()) all.push_back(entry.info.name);
  return all;
}

/// SUBQUAD_TEST_SCALE multiplies the number of random instances.
Options options() {
  Options result;
  if (const char* scale = std::getenv("SUBQUAD_TEST_SCALE")) {
    const long factor = std::strtol(scale, nullptr, 10);
    if (factor >= 1) result.random_instances *= static_cast<std::uint64_t>(factor);
  }
  return result;
}

class Battery : public ::testing::TestWithParam<std::string> {};

TEST_P(Battery, Passes) {
  const Findings findings = run_battery(reductions::reduction(GetParam()), options());
  RecordProperty("battery", findings.summary());
  EXPECT_TRUE(findings.failures.empty()) << findings.summary();
  EXPECT_GE(findings.instances, 500U) << findings.summary();
  EXPECT_GE(findings.answers + findings.calls, 500U) << findings.summary();
}

TEST_P(Battery, CatchesThePlantedFaults) {
  const auto planted = faults(GetParam());
  ASSERT_FALSE(planted.empty());
  Options more = options();
  more.most_failures = 100'000;  // go on until the check that is meant to find it had its turn
  for (const Fault* fault : planted) {
    const Findings findings = run_battery(reductions::reduction(GetParam()), more, fault);
    EXPECT_TRUE(findings.found_by(fault->caught_by)) << fault->what << ": " << findings.summary().substr(0, 4000);
  }
}

INSTANTIATE_TEST_SUITE_P(Reductions, Battery, ::testing::ValuesIn(names()),
                         [](const ::testing::TestParamInfo<std::string>& tested) { return tested.param; });

TEST(BatteryCoverage, WhatIsNotCoveredFails) {
  ReductionEntry stranger = reductions::reduction("cnf_to_ov");
  stranger.info.name = "cnf_to_nowhere";
  EXPECT_TRUE(run_battery(stranger, {}).found_by("coverage"));
  ReductionEntry sourceless = reductions::reduction("cnf_to_ov");
  sourceless.info.source = "p-ov";  // a problem that nothing reduces from: no generator
  EXPECT_TRUE(run_battery(sourceless, {}).found_by("coverage"));
}

// The checks themselves: each finds the one thing that it is for.

/// ov_to_gap_ann, right but for the one function that is replaced.
class Tampered : public AnyReduction {
 public:
  explicit Tampered(std::shared_ptr<const AnyReduction> right) : right_(std::move(right)) {}
  std::vector<SizeBound> size_bounds() const override { return right_->size_bounds(); }
  AnyInstance reduce(const AnyInstance& source, const Execution& e) const override { return right_->reduce(source, e); }
  AnyAnswer lift(const AnyInstance& s, const AnyInstance& t, const AnyAnswer& a) const override {
    return right_->lift(s, t, a);
  }
  AnyAnswer solve(const AnyInstance& source, const AnyOracle& oracle, const Execution& e) const override {
    return right_->solve(source, oracle, e);
  }

 protected:
  std::shared_ptr<const AnyReduction> right_;
};

struct WrongBound final : Tampered {
  using Tampered::Tampered;
  std::vector<SizeBound> size_bounds() const override {
    auto bounds = right_->size_bounds();
    bounds[2].expression = bounds[2].expression + 1;  // an exact bound that is one too large
    return bounds;
  }
};

struct DependsOnThreads final : Tampered {
  using Tampered::Tampered;
  AnyInstance reduce(const AnyInstance& source, const Execution& e) const override {
    AnyInstance target = right_->reduce(source, e);
    if (e.threads == 3) std::any_cast<problems::GapAnn::Instance&>(target.value).r_no += 1;
    return target;
  }
};

struct Credulous final : Tampered {
  using Tampered::Tampered;
  AnyAnswer lift(const AnyInstance& s, const AnyInstance& t, const AnyAnswer& a) const override {
    try {
      return right_->lift(s, t, a);
    } catch (const reductions::OracleRefuted&) {  // believes the flag instead and names some pair
      return {"ov", problems::OrthogonalVectors::Answer{std::pair<std::uint64_t, std::uint64_t>{0, 0}}};
    }
  }
};

template <class Wrong>
Findings findings_of() {
  const ReductionEntry& entry = reductions::reduction("ov_to_gap_ann");
  const Fault fault{"ov_to_gap_ann", "", "", [](const ReductionEntry& e, const reductions::ParameterValues& values) {
                      return std::make_shared<const Wrong>(e.make(values));
                    }};
  return run_battery(entry, {}, &fault);
}

TEST(BatteryChecks, EachFindsWhatItIsFor) {
  EXPECT_TRUE(findings_of<WrongBound>().found_by("size"));
  EXPECT_TRUE(findings_of<DependsOnThreads>().found_by("determinism"));
  EXPECT_TRUE(findings_of<Credulous>().found_by("refute"));
  EXPECT_TRUE(findings_of<Tampered>().failures.empty());
}

TEST(BatteryInstances, ExhaustiveSetsHaveTheSizesThatCountingGives) {
  // Multisets of at most three of c clause kinds: C(c+3, 3); c = 1, 4, 16.
  EXPECT_EQ(exhaustive_instances("cnf").size(), 4U + 35U + 969U);
  EXPECT_EQ(exhaustive_instances("ov").size(), 9U + 49U + 441U);
  // dim 0, 1, 2: queries x keys x threshold pairs.
  EXPECT_EQ(exhaustive_instances("gap-ann").size(), 9U * 3 + 49U * 6 + 5U * 21 * 10);
  EXPECT_EQ(exhaustive_instances("ann").size(), 4U * (3U * 3 + 7U * 14 + 5U * 84));
  EXPECT_TRUE(exhaustive_instances("nothing").empty());
}

TEST(BatteryInstances, RandomOnesRepeatWithTheirSeed) {
  const auto& cnf = reductions::problem("cnf");
  const auto first = random_instances("cnf", 1, 5);
  const auto again = random_instances("cnf", 1, 5);
  const auto other = random_instances("cnf", 2, 5);
  bool differs = false;
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(cnf.digest(first[i]), cnf.digest(again[i]));
    differs = differs || cnf.digest(first[i]) != cnf.digest(other[i]);
  }
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace subquad::battery
