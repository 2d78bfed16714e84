#include "battery.hpp"

#include "source_instances.hpp"
#include "target_answers.hpp"

#include <subquad/core/error.hpp>
#include <subquad/problems/orthogonal_vectors.hpp>
#include <subquad/sat/cnf.hpp>

#include <algorithm>
#include <any>
#include <sstream>

namespace subquad::battery {

using reductions::AnyAnswer;
using reductions::AnyInstance;
using reductions::AnyReduction;
using reductions::OracleRefuted;
using reductions::ProblemEntry;
using reductions::ReductionEntry;
using reductions::ReductionKind;
using reductions::SizeBound;

namespace {

/// Yes or no, for problems that ask one question; nothing for problems with an answer a row.
std::optional<bool> decision(const AnyAnswer& answer) {
  if (answer.problem == "cnf") return std::any_cast<const sat::CnfSat::Answer&>(answer.value).model.has_value();
  if (answer.problem == "ov")
    return std::any_cast<const problems::OrthogonalVectors::Answer&>(answer.value).witness.has_value();
  return std::nullopt;
}

std::string text_of(const ProblemEntry& problem, const AnyInstance& instance) {
  std::ostringstream out;
  problem.write_instance(out, instance, {});
  return out.str();
}

AnyInstance reread(const ProblemEntry& problem, const AnyInstance& instance) {
  std::istringstream in(text_of(problem, instance));
  return problem.read_instance(in, "battery");
}

/// One run of the battery over one reduction.
class Run {
 public:
  Run(const ReductionEntry& entry, const Options& options, Findings& findings)
      : entry_(entry),
        options_(options),
        source_(reductions::problem(entry.info.source)),
        target_(reductions::problem(entry.info.target)),
        findings_(findings),
        random_(Random(options.seed).split(entry.info.name)) {
    one_.threads = 1;  // tiny instances: starting threads would take longer than the work
  }

  void variant(const AnyReduction& reduction, const Plan& plan, const Plan::Variant& variant) {
    const auto each = [&](const std::vector<AnyInstance>& instances, bool files) {
      for (const AnyInstance& instance : instances) {
        if (full()) return;
        if (variant.accepts && !variant.accepts(instance)) continue;
        ++findings_.instances;
        current_ = &instance;
        guarded("exception", [&] { one(reduction, plan, variant, instance, files); });
      }
    };
    each(exhaustive_instances(source_.id), false);
    each(degenerate_instances(source_.id), true);
    each(random_instances(source_.id, options_.seed, options_.random_instances), true);
  }

  void fail(const std::string& check, const std::string& message) {
    if (full()) return;
    std::string line = message;
    if (current_ != nullptr) {
      std::string text = text_of(source_, *current_);
      std::replace(text.begin(), text.end(), '\n', '|');
      line += " on " + text.substr(0, 300);
    }
    findings_.failures.push_back({check, line});
  }

 private:
  bool full() const { return findings_.failures.size() >= options_.most_failures; }

  /// Runs `body`; an exception of the library is a failure of `check`.
  template <class Body>
  void guarded(const std::string& check, Body&& body) {
    try {
      body();
    } catch (const std::exception& error) {
      fail(check, std::string("threw: ") + error.what());
    }
  }

  void one(const AnyReduction& reduction, const Plan& plan, const Plan::Variant& variant, const AnyInstance& source,
           bool files) {
    if (entry_.info.kind == ReductionKind::many_one) many_one(reduction, plan, variant, source, files);
    guarded("solve", [&] { oracle_form(reduction, plan, source); });
    if (files) guarded("round trip", [&] { round_trip(reduction, source); });
  }

  void many_one(const AnyReduction& reduction, const Plan& plan, const Plan::Variant& variant,
                const AnyInstance& source, bool files) {
    const AnyInstance target = reduction.reduce(source, one_);
    for (const std::string& line :
         reductions::violations(reduction.size_bounds(), source_.size(source), target_.size(target)))
      fail("size", line);
    if (files) {
      Execution three;
      three.threads = 3;
      if (target_.digest(reduction.reduce(source, three)) != target_.digest(target))
        fail("determinism", "built again, the target differs");
    }
    if (plan.law) {
      const std::string broken = plan.law(variant.values, source, target);
      if (!broken.empty()) fail("law", broken);
    }
    const std::vector<AnyAnswer> answers = valid_answers(target, random_);
    if (answers.empty()) fail("coverage", "no answers known for target problem " + target_.id);
    for (const AnyAnswer& answer : answers)
      guarded("lift", [&] { judge("lift", source, reduction.lift(source, target, answer)); });
    findings_.answers += answers.size();
    if (decision(source_.solve_brute_force(source, one_)).has_value()) {
      for (const AnyAnswer& wrong : wrong_answers(target, random_))
        guarded("refute", [&] {
          try {
            judge("refute", source, reduction.lift(source, target, wrong));
          } catch (const OracleRefuted&) {
            ++findings_.refuted;
          }
        });
    }
  }

  /// The answer is right by the definition, and says yes exactly where brute force does.
  void judge(const std::string& check, const AnyInstance& source, const AnyAnswer& lifted) {
    const Report report = source_.check(source, lifted);
    if (report.verdict != Verdict::certified)
      fail(check, std::string("lifted answer is ") + std::string(to_string(report.verdict)) + ": " + report.reason);
    const auto truth = decision(source_.solve_brute_force(source, one_));
    if (truth != decision(lifted))
      fail(check, truth.value_or(false) ? "says no, the truth is yes" : "says yes, the truth is no");
  }

  void oracle_form(const AnyReduction& reduction, const Plan& plan, const AnyInstance& source) {
    const std::vector<SizeBound> bounds = reduction.size_bounds();
    const Sizes sizes = source_.size(source);
    for (int attempt = 0; attempt < 4; ++attempt) {  // the reference answers, then three moods of a capricious oracle
      CallLog log;
      const auto oracle = [&](const AnyInstance& target) {
        log.sizes.push_back(target_.size(target));
        ++log.calls;
        log.row_questions += to_u64(log.sizes.back().front().second, "rows");
        return attempt == 0 ? valid_answers(target, random_).front() : some_valid_answer(target, random_);
      };
      judge("solve", source, reduction.solve(source, oracle, one_));
      findings_.calls += log.calls;
      for (const Sizes& called : log.sizes)
        for (const std::string& line : reductions::violations(bounds, sizes, called)) fail("size", "call: " + line);
      if (plan.call_law) {
        const std::string broken = plan.call_law(source, log);
        if (!broken.empty()) fail("law", broken);
      }
    }
  }

  void round_trip(const AnyReduction& reduction, const AnyInstance& source) {
    const AnyInstance source_again = reread(source_, source);
    if (source_.digest(source_again) != source_.digest(source)) fail("round trip", "source changed by its file");
    AnyAnswer lifted;
    if (entry_.info.kind == ReductionKind::many_one) {
      const AnyInstance target = reduction.reduce(source_again, one_);
      const AnyInstance target_again = reread(target_, target);
      if (target_.digest(target_again) != target_.digest(target)) fail("round trip", "target changed by its file");
      std::ostringstream answer_text;
      target_.write_answer(answer_text, target_again, some_valid_answer(target_again, random_), {});
      std::istringstream in(answer_text.str());
      const auto [answer, named] = target_.read_answer(in, "battery");
      if (!named || *named != target_.digest(target)) fail("round trip", "the answer file does not name its instance");
      lifted = reduction.lift(source_again, target, answer);
    } else {
      lifted = reduction.solve(
          source_again, [&](const AnyInstance& t) { return some_valid_answer(t, random_); }, one_);
    }
    std::ostringstream lifted_text;
    source_.write_answer(lifted_text, source, lifted, {});
    std::istringstream in(lifted_text.str());
    const auto [final_answer, named] = source_.read_answer(in, "battery");
    if (!named || *named != source_.digest(source))
      fail("round trip", "the lifted answer file does not name its instance");
    judge("round trip", source, final_answer);
  }

  const ReductionEntry& entry_;
  const Options& options_;
  const ProblemEntry& source_;
  const ProblemEntry& target_;
  Findings& findings_;
  Random random_;
  Execution one_;
  const AnyInstance* current_ = nullptr;
};

}  // namespace

std::string Findings::summary() const {
  std::string text =
      fmt::format("{} instances, {} answers lifted, {} wrong answers refuted, {} oracle calls, {} failures", instances,
                  answers, refuted, calls, failures.size());
  for (const Failure& failure : failures) text += fmt::format("\n  [{}] {}", failure.check, failure.message);
  return text;
}

bool Findings::found_by(std::string_view check) const {
  return std::any_of(failures.begin(), failures.end(), [&](const Failure& f) { return f.check == check; });
}

Findings run_battery(const ReductionEntry& entry, const Options& options, const Fault* fault) {
  Findings findings;
  const auto uncovered = [&](const std::string& message) {
    findings.failures.push_back({"coverage", entry.info.name + " " + message});
    return findings;
  };
  const Plan* planned = plan(entry.info.name);
  if (planned == nullptr || planned->variants.empty()) return uncovered("has no plan");
  if (exhaustive_instances(entry.info.source).empty()) return uncovered("has a source without generator");
  if (faults(entry.info.name).empty()) return uncovered("has no planted fault");
  Run run(entry, options, findings);
  for (const Plan::Variant& variant : planned->variants) {
    const auto reduction = fault == nullptr ? entry.make(variant.values) : fault->make(entry, variant.values);
    run.variant(*reduction, *planned, variant);
  }
  return findings;
}

}  // namespace subquad::battery
