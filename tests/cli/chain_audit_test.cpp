// The audit of the chain, and the small parts around it: sampling, policies, planted faults, resource guard, names.
#include "chain_audit.hpp"

#include "chain_report.hpp"
#include "chain_run.hpp"
#include "planted_fault.hpp"
#include "resource_guard.hpp"
#include "variable_names.hpp"

#include <subquad/attention/kernel.hpp>
#include <subquad/core/error.hpp>

#include <gtest/gtest.h>

#include <set>

namespace subquad::drivers {
namespace {

// One query, two keys with equal logits, values 1 and 0: the exact output is 1/2.
problems::Attention::Instance half() {
  problems::Attention::Instance instance;
  instance.q = problems::MatrixD::Zero(4, 1);
  instance.k = problems::MatrixD::Zero(2, 1);
  instance.v = problems::MatrixD::Zero(2, 1);
  instance.v(0, 0) = 1;
  instance.entry_bound = 1;
  return instance;
}

AuditTask task_for(const problems::Attention::Instance& instance, const problems::Attention::Answer& answer,
                   std::vector<WrongFlag> wrong) {
  AuditTask task{instance, answer, 0.1, false, static_cast<std::uint64_t>(instance.q.rows()), 1, {}, {}};
  task.read_flags = [&instance] { return std::vector<bool>(static_cast<std::size_t>(instance.q.rows()), true); };
  task.wrong_flags = [wrong](const std::vector<bool>&, const std::optional<std::vector<std::uint64_t>>& rows) {
    std::vector<WrongFlag> seen;
    for (const WrongFlag& flag : wrong)
      if (!rows || std::find(rows->begin(), rows->end(), flag.row) != rows->end()) seen.push_back(flag);
    return seen;
  };
  return task;
}

TEST(ChainAudit, CertifiesARightOutput) {
  const auto instance = half();
  const problems::Attention::Answer answer{problems::MatrixD::Constant(4, 1, 0.59), {}};
  const ChainAudit audit = audit_kernel(task_for(instance, answer, {}), {}, 1, {});
  EXPECT_EQ(audit.verdict, Verdict::certified);
  EXPECT_TRUE(audit.complete());
  EXPECT_EQ(audit.rows_value_checked, 4U);
  EXPECT_GE(audit.largest_error_bound, 0.0899);
}

TEST(ChainAudit, RefutesAValueBeyondTheToleranceWithAnEnclosure) {
  const auto instance = half();
  problems::Attention::Answer answer{problems::MatrixD::Constant(4, 1, 0.5), {}};
  answer.output(2, 0) = 0.61;
  const ChainAudit audit = audit_kernel(task_for(instance, answer, {}), {}, 1, {});
  EXPECT_EQ(audit.verdict, Verdict::refuted);
  ASSERT_EQ(audit.faults.size(), 1U);
  EXPECT_EQ(audit.faults[0].row, 2U);
  EXPECT_EQ(audit.faults[0].candidate, 0.61);
  ASSERT_TRUE(audit.faults[0].truth);
  EXPECT_LE(audit.faults[0].truth->low, 0.5);
  EXPECT_GE(audit.faults[0].truth->high, 0.5);
}

TEST(ChainAudit, RefutesNaNInfinityAndValuesOutsideTheHull) {
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1.2, -0.2}) {
    const auto instance = half();
    problems::Attention::Answer answer{problems::MatrixD::Constant(4, 1, 0.5), {}};
    answer.output(3, 0) = bad;
    const ChainAudit audit = audit_kernel(task_for(instance, answer, {}), {AuditMode::sample, 0}, 1, {});
    EXPECT_EQ(audit.verdict, Verdict::refuted) << bad;
    ASSERT_EQ(audit.faults.size(), 1U);
    EXPECT_TRUE(audit.flags.empty()) << "flags must not be read from garbage";
    EXPECT_TRUE(audit.faults[0].truth);
  }
}

TEST(ChainAudit, SampleCoversTheRowsInDoubt) {
  const auto instance = half();
  const problems::Attention::Answer answer{problems::MatrixD::Constant(4, 1, 0.5), {}};
  const ChainAudit audit = audit_kernel(task_for(instance, answer, {{3, "wrong"}}), {AuditMode::sample, 0}, 1, {});
  EXPECT_EQ(audit.verdict, Verdict::refuted);
  EXPECT_EQ(audit.rows_value_checked, 1U);
  ASSERT_EQ(audit.faults.size(), 1U);
  EXPECT_EQ(audit.faults[0].what, "wrong");
}

TEST(ChainAudit, FlagsAreSampledOnlyBeyondTheLimitAndSaySo) {
  const auto instance = half();
  const problems::Attention::Answer answer{problems::MatrixD::Constant(4, 1, 0.5), {}};
  AuditTask task = task_for(instance, answer, {});
  task.flag_row_operations = Count(kMostFlagOperations);
  const ChainAudit sampled = audit_kernel(task, {AuditMode::automatic, 2}, 1, {});
  EXPECT_EQ(sampled.rows_flag_checked, 2U);
  EXPECT_FALSE(sampled.complete());
  EXPECT_TRUE(audit_kernel(task, {AuditMode::full, 2}, 1, {}).complete());
  task.flag_row_operations = Count(kMostFlagOperations) / 4;
  EXPECT_TRUE(audit_kernel(task, {AuditMode::automatic, 2}, 1, {}).complete());
}

TEST(ChainAudit, WithoutAnAuditNothingIsCertified) {
  const auto instance = half();
  const problems::Attention::Answer answer{problems::MatrixD::Constant(4, 1, 0.9), {}};
  const ChainAudit audit = audit_kernel(task_for(instance, answer, {}), {AuditMode::none, 0}, 1, {});
  EXPECT_EQ(audit.verdict, Verdict::undecided);
  EXPECT_FALSE(audit.complete());
}

TEST(ChainAudit, RefusesAnAnswerOfTheWrongShape) {
  const auto instance = half();
  const problems::Attention::Answer answer{problems::MatrixD::Zero(3, 1), {}};
  EXPECT_THROW(audit_kernel(task_for(instance, answer, {}), {}, 1, {}), Error);
}

TEST(SampleRows, DistinctAscendingInRangeAndSeeded) {
  for (const std::uint64_t count : {0, 1, 5, 1000}) {
    for (const std::uint64_t wanted : {0, 1, 4, 5, 2000}) {
      const auto rows = sample_rows(count, wanted, 3);
      EXPECT_EQ(rows.size(), std::min(count, wanted));
      EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
      EXPECT_EQ(std::set<std::uint64_t>(rows.begin(), rows.end()).size(), rows.size());
      if (!rows.empty()) {
        EXPECT_LT(rows.back(), count);
      }
      EXPECT_EQ(rows, sample_rows(count, wanted, 3));
    }
  }
  EXPECT_NE(sample_rows(1000, 5, 3), sample_rows(1000, 5, 4));
}

TEST(SampleRows, EveryRowIsDrawnAboutEquallyOften) {
  std::vector<int> drawn(10, 0);
  for (std::uint64_t seed = 0; seed < 3000; ++seed)
    for (const std::uint64_t r : sample_rows(10, 3, seed)) ++drawn[r];
  for (const int times : drawn) EXPECT_NEAR(times, 900, 130) << "more than five standard deviations";
}

TEST(AuditPolicy, Words) {
  EXPECT_EQ(parse_audit_policy("auto"), (AuditPolicy{AuditMode::automatic, 256}));
  EXPECT_EQ(parse_audit_policy("full").mode, AuditMode::full);
  EXPECT_EQ(parse_audit_policy("none").mode, AuditMode::none);
  EXPECT_EQ(parse_audit_policy("sample:7"), (AuditPolicy{AuditMode::sample, 7}));
  for (const char* bad : {"", "sample", "sample:", "sample:-1", "sample:x", "Full"})
    EXPECT_THROW(parse_audit_policy(bad), Error) << bad;
}

TEST(PlantedFault, Words) {
  EXPECT_EQ(parse_planted_fault("drop-key:4"), (PlantedFault{PlantedFault::Kind::drop_key, 4, 0}));
  EXPECT_EQ(parse_planted_fault("add:2:-0.5"), (PlantedFault{PlantedFault::Kind::add, 2, -0.5}));
}

TEST(PlantedFault, ChangesWhatItSays) {
  const auto instance = half();
  const auto& exact = attention::kernel("exact");
  EXPECT_EQ(with_planted_fault(exact, {PlantedFault::Kind::add, 1, 0.25}).run(instance, {}).output(1, 0), 0.75);
  EXPECT_EQ(with_planted_fault(exact, {PlantedFault::Kind::drop_key, 1, 0}).run(instance, {}).output(0, 0), 1.0);
  EXPECT_EQ(with_planted_fault(exact, {PlantedFault::Kind::drop_key, 0, 0}).run(instance, {}).output(0, 0), 0.0);
  EXPECT_THROW(with_planted_fault(exact, {PlantedFault::Kind::drop_key, 2, 0}).run(instance, {}), Error);
  EXPECT_THROW(with_planted_fault(exact, {PlantedFault::Kind::add, 4, 1}).run(instance, {}), Error);
}

TEST(ResourceGuard, RefusesBeyondEitherLimitUnlessForced) {
  const ResourceLimits limits{100, 1000};
  EXPECT_NO_THROW(check_resources("x", {100, 1000, "operations"}, false, limits));
  EXPECT_THROW(check_resources("x", {101, 0, "operations"}, false, limits), Error);
  EXPECT_THROW(check_resources("x", {0, 1001, "operations"}, false, limits), Error);
  EXPECT_NO_THROW(check_resources("x", {101, 1001, "operations"}, true, limits));
  EXPECT_NO_THROW(check_resources("x", {Count(1) << 100, 0, "operations"}, false, {0, 1000})) << "0: memory is unknown";
  try {
    check_resources("x", {pow2(40), 0, "operations"}, false, limits);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::resource);
    EXPECT_NE(std::string(error.what()).find("1.0 TiB"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("--force"), std::string::npos);
  }
}

TEST(ChainPlan, FiftyVariablesFromSizesAlone) {
  sat::Cnf formula(50);
  for (int c = 0; c < 213; ++c) formula.add_clause({1, 2, 3});
  const ChainPlan plan = plan_chain(formula, {}, attention::kernel("exact"));
  EXPECT_EQ(size_field(plan.stages[1].sizes, "num_a"), pow2(25));
  EXPECT_EQ(size_field(plan.stages[2].sizes, "num_keys"), pow2(25) + 1);
  EXPECT_EQ(plan.kernel.operations, pow2(25) * (pow2(25) + 1) * 215);
  EXPECT_THROW(run_chain_on(formula, {}, attention::kernel("exact"), {}), Error);
}

TEST(ChainRun, StopsOnRequest) {
  const std::atomic<bool> stop{true};
  sat::Cnf formula(20);
  formula.add_clause({1});
  try {
    run_chain_on(formula, {}, attention::kernel("exact"), Execution{1, &stop, nullptr});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::interrupted);
  }
}

TEST(CompetitionText, WrapsAt78AndEndsWithZero) {
  ChainResult result;
  result.verdict = ChainVerdict::satisfiable;
  result.model = sat::Model(200, true);
  const std::string text = competition_text(result, {"note"});
  EXPECT_EQ(text.rfind("c note\ns SATISFIABLE\nv 1 2 3", 0), 0U);
  EXPECT_EQ(text.substr(text.size() - 7), " 200 0\n");
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; begin = end + 1, end = text.find('\n', begin))
    EXPECT_LE(end - begin, 78U);
  result.model = sat::Model();
  EXPECT_EQ(competition_text(result, {}), "s SATISFIABLE\nv 0\n");
}

TEST(VariableNames, ColouringNumbersAndPlainNames) {
  sat::Cnf formula(6);
  formula.kept_comments = {"c varname 1 v(0,0)", "c varname 2 v(0,1)", "c varname 3 a(0)",
                           "c varname 4 a(1)",   "c varname 5 rain",   "c varname 9 beyond",
                           "c varname x y",      "c ind 1 2 0",        "c varname 6 gap(3)"};
  const auto lines = decode_model(formula, {false, true, true, true, true, true});
  EXPECT_EQ(lines, (std::vector<std::string>{"vertex 0 = green", "a = 3", "rain", "gap(3)"}));
  EXPECT_TRUE(decode_model(sat::Cnf(2), {true, false}).empty());
}

}  // namespace
}  // namespace subquad::drivers
