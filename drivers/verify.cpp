// subquad verify: the independent verifiers, for answers from anywhere.
#include "attention_verification.hpp"
#include "exit_status.hpp"
#include "instance_reading.hpp"
#include "resource_guard.hpp"
#include "verbs.hpp"

#include <subquad/core/error.hpp>
#include <subquad/problems/attention.hpp>
#include <subquad/problems/gap_ann.hpp>
#include <subquad/problems/orthogonal_vectors.hpp>
#include <subquad/verifiers/gap_ann_rows.hpp>
#include <subquad/verifiers/ov_witness.hpp>
#include <subquad/verifiers/sat_model.hpp>

#include <nlohmann/json.hpp>

#include <iostream>

namespace subquad::drivers {

namespace {

using Json = nlohmann::ordered_json;
using problems::GapAnn;
using problems::OrthogonalVectors;

// What a verifier said: the verdict with its reason, and evidence for programs.
struct Outcome {
  Report report;
  Json evidence = Json::object();
};

Outcome verify_ov(const OrthogonalVectors::Instance& instance, const OrthogonalVectors::Answer& answer,
                  const Execution& execution) {
  if (answer.witness)
    return {verifiers::verify_ov_witness(instance, answer.witness->first, answer.witness->second), Json::object()};
  const std::vector<bool> none(instance.a.rows(), false);
  const auto wrong = verifiers::verify_ov_rows(instance, none, std::nullopt, 1, execution);
  if (wrong.empty())
    return {{Verdict::certified,
             fmt::format("no orthogonal pair among {} x {} vectors", instance.a.rows(), instance.b.rows())},
            Json::object()};
  return {{Verdict::refuted, fmt::format("a_{} is orthogonal to b_{}, but the answer says there is no pair",
                                         wrong[0].row, wrong[0].partner.value_or(0))},
          {{"row", wrong[0].row}, {"partner", wrong[0].partner.value_or(0)}}};
}

Outcome verify_gap(const GapAnn::Instance& instance, const GapAnn::Answer& answer, const Execution& execution) {
  const auto report = verifiers::verify_gap_ann_rows(instance, answer, std::nullopt, 16, execution);
  Outcome outcome;
  outcome.evidence = {{"rows_checked", report.rows_checked},
                      {"rows_outside_promise", report.rows_outside_promise},
                      {"wrong", Json::array()}};
  for (const auto& wrong : report.wrong)
    outcome.evidence["wrong"].push_back({{"row", wrong.row},
                                         {"claimed", wrong.claimed_near ? "near" : "far"},
                                         {"nearest_distance", wrong.nearest_distance},
                                         {"nearest_key", wrong.nearest_key}});
  outcome.report.verdict = report.verdict;
  if (report.wrong.empty())
    outcome.report.reason = fmt::format("all {} rows are right, {} of them outside the promise", report.rows_checked,
                                        report.rows_outside_promise);
  else
    outcome.report.reason = fmt::format("row {} says {}, but its nearest key (key {}) is at distance {}",
                                        report.wrong[0].row, report.wrong[0].claimed_near ? "near" : "far",
                                        report.wrong[0].nearest_key, report.wrong[0].nearest_distance);
  return outcome;
}

Outcome verify_with_instance(const reductions::ProblemEntry& problem, const std::string& instance_path,
                             const std::string& answer_path, VerbCommand& command) {
  require(!(instance_path == "-" && answer_path == "-"), ErrorKind::parameter,
          "verify: instance and answer cannot both be standard input");
  InputSource instance_file(instance_path);
  const reductions::AnyInstance instance = read_any_instance(problem, instance_file, command);
  InputSource answer_file(answer_path);
  const reductions::AnyAnswer answer = read_any_answer(problem, instance, answer_file, command);
  const Execution execution = command.execution();
  if (problem.id == sat::CnfSat::kId) {
    const auto& model = std::any_cast<const sat::CnfSat::Answer&>(answer.value).model;
    if (model) return {verifiers::verify_model(std::any_cast<const sat::Cnf&>(instance.value), *model), Json::object()};
    return {problem.check(instance, answer), Json::object()};
  }
  check_resources("verifying the answer of " + problem.id, reference_solver_need(problem.id, problem.size(instance)),
                  command.shared.force);
  if (problem.id == OrthogonalVectors::kId)
    return verify_ov(std::any_cast<const OrthogonalVectors::Instance&>(instance.value),
                     std::any_cast<const OrthogonalVectors::Answer&>(answer.value), execution);
  if (problem.id == GapAnn::kId)
    return verify_gap(std::any_cast<const GapAnn::Instance&>(instance.value),
                      std::any_cast<const GapAnn::Answer&>(answer.value), execution);
  return {problem.check(instance, answer), Json::object()};
}

}  // namespace

int run_verify(const Invocation& invocation) {
  VerbCommand command(
      invocation, "Certifies or refutes an answer with verifiers that share no code with what produced it.",
      {Effective::json, Effective::force, Effective::threads},
      {{"verify KIND INSTANCE ANSWER                        cnf (a model), ov, p-ov, gap-ann, ann, attention",
        "verify attention Q.npy K.npy V.npy OUT.npy --tolerance T [--scale S]",
        "  Q: n x d, K: n_k x d, V: n_k x d_v, OUT: n x d_v, float32 or float64; OUT is compared with softmax(S Q K^T) "
        "V",
        "  entry by entry: certified iff every entry is proved to be within T, refuted iff one is proved not to be."},
       {"0 certified", "1 refuted, with the evidence", "2 bad usage or input", "3 resource guard", "4 undecided"},
       {"subquad verify cnf f.cnf f.cnf.answer",
        "subquad verify attention q.npy k.npy v.npy out.npy --tolerance 1e-3 --scale 0.125"}});
  std::string kind;
  std::vector<std::string> files;
  AttentionVerificationOptions attention;
  command.app.add_option("KIND", kind, "Problem")->required();
  command.app.add_option("FILES", files, "Instance and answer, or four .npy files")->required();
  command.app
      .add_option("--tolerance", attention.tolerance,
                  "attention: allowed error a entry (default for .attention: its eps_a)")
      ->check(CLI::Range(0.0, 1e300));
  command.app.add_option("--scale", attention.scale, "attention from .npy: factor of the logits (default 1/d)");
  if (!command.parse()) return kDone;

  const auto& problem = reductions::problem(kind);
  const bool is_attention = problem.id == problems::Attention::kId;
  require(files.size() == 2 || (is_attention && files.size() == 4), ErrorKind::parameter,
          "verify {}: {} files given, expected {}", problem.id, files.size(),
          is_attention ? "INSTANCE ANSWER, or Q K V OUT" : "INSTANCE ANSWER");
  require(is_attention || (!attention.tolerance && !attention.scale), ErrorKind::parameter,
          "--tolerance and --scale are for attention only");
  Outcome outcome;
  if (is_attention) {
    attention.force = command.shared.force;
    const AttentionVerification verification = files.size() == 4 ? verify_attention_arrays(files, attention, command)
                                                                 : verify_attention_answer(files, attention, command);
    outcome.report = verification.report;
    outcome.evidence = verification.evidence;
  } else {
    outcome = verify_with_instance(problem, files[0], files[1], command);
  }
  const int status = exit_status(outcome.report.verdict);
  if (command.shared.json) {
    const Json report = {{"schema", "subquad.verify/1"},
                         {"version", version()},
                         {"problem", problem.id},
                         {"verdict", to_string(outcome.report.verdict)},
                         {"reason", outcome.report.reason},
                         {"evidence", outcome.evidence},
                         {"exit_status", status}};
    std::cout << report.dump(2) << '\n';
  } else {
    std::cout << to_string(outcome.report.verdict) << ": " << outcome.report.reason << '\n';
  }
  return status;
}

}  // namespace subquad::drivers
