// subquad verify: the independent verifiers, for answers from anywhere.
#include "anna_verification.hpp"
#include "answer_verification.hpp"
#include "attention_verification.hpp"
#include "causal_option.hpp"
#include "exit_status.hpp"
#include "exp_verification.hpp"
#include "instance_reading.hpp"
#include "verbs.hpp"

#include <subquad/core/error.hpp>
#include <subquad/problems/attention.hpp>

#include <nlohmann/json.hpp>

#include <iostream>

namespace subquad::drivers {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kExpPolynomial = "exp-polynomial";
constexpr std::string_view kAnna = "anna";

Verification verify_with_instance(const reductions::ProblemEntry& problem, const std::string& instance_path,
                                  const std::string& answer_path, VerbCommand& command) {
  require(!(instance_path == "-" && answer_path == "-"), ErrorKind::parameter,
          "verify: instance and answer cannot both be standard input");
  InputSource instance_file(instance_path);
  const reductions::AnyInstance instance = read_any_instance(problem, instance_file, command);
  InputSource answer_file(answer_path);
  const reductions::AnyAnswer answer = read_any_answer(problem, instance, answer_file, command);
  return verify_answer(problem, instance, answer, command.shared.force, command.execution());
}

/// Prints the verdict and returns the exit status.
int say(std::string_view kind, const Verification& outcome, const VerbCommand& command) {
  const int status = exit_status(outcome.report.verdict);
  if (command.shared.json) {
    const Json report = {{"schema", "subquad.verify/1"},
                         {"version", version()},
                         {"problem", kind},
                         {"verdict", to_string(outcome.report.verdict)},
                         {"reason", outcome.report.reason},
                         {"verified_by", outcome.by},
                         {"evidence", outcome.evidence},
                         {"exit_status", status}};
    std::cout << report.dump(2) << '\n';
  } else {
    std::cout << to_string(outcome.report.verdict) << ": " << outcome.report.reason << '\n';
  }
  return status;
}

int verify_exp_polynomial_file(const std::vector<std::string>& files, const AttentionVerificationOptions& attention,
                               const VerbCommand& command) {
  require(files.size() == 1, ErrorKind::parameter, "verify {}: {} files given, expected FILE", kExpPolynomial,
          files.size());
  require(!attention.tolerance && !attention.scale, ErrorKind::parameter,
          "--tolerance and --scale are for attention only");
  const ExpVerification verification = verify_exp_file(files[0]);
  return say(kExpPolynomial, {verification.report, "verifiers/exp_polynomial", verification.evidence}, command);
}

}  // namespace

int run_verify(const Invocation& invocation) {
  VerbCommand command(
      invocation, "Certifies or refutes an answer from anywhere.",
      {Effective::json, Effective::force, Effective::threads},
      {{"verify KIND INSTANCE ANSWER                        cnf, ov, p-ov, gap-ann, ann, attention",
        "  Models, ov, gap-ann and attention have verifiers that share no code with any solver or kernel. cnf",
        "  'UNSATISFIABLE', p-ov and ann are decided by brute force from the problem's definition.",
        "verify attention Q.npy K.npy V.npy OUT.npy --tolerance T [--scale S] [--causal [--causal-offset N]]",
        "  Q: n x d, K: n_k x d, V: n_k x d_v, OUT: n x d_v, float32 or float64; OUT is compared with softmax(S Q K^T) "
        "V",
        "  entry by entry: certified iff every entry is proved to be within T, refuted iff one is proved not to be.",
        "verify anna Q.npy K.npy [V.npy OUT.npy] WEIGHTS [--radius R] [--ratio C] [--strict]",
        "  Do the counts of an anna-weights file satisfy ANNA's definition? Is OUT the weighted mean, up to rounding?",
        "verify exp-polynomial FILE                         a polynomial for e^x with its certificate ('subquad exp')"},
       {"0 certified", "1 refuted, with the evidence", "2 bad usage or input", "3 resource guard", "4 undecided"},
       {"subquad verify cnf f.cnf f.cnf.answer",
        "subquad verify attention q.npy k.npy v.npy out.npy --tolerance 1e-3 --scale 0.125"}});
  std::string kind;
  std::vector<std::string> files;
  AttentionVerificationOptions attention;
  command.app.add_option("KIND", kind, "Problem")->required();
  command.app.add_option("FILES", files, "Instance and answer, .npy files, or one exp-polynomial file")->required();
  command.app
      .add_option("--tolerance", attention.tolerance,
                  "attention: allowed error a entry (default for .attention: its eps_a)")
      ->check(CLI::Range(0.0, 1e300));
  command.app.add_option("--scale", attention.scale, "attention from .npy: factor of the logits (default 1/d)");
  CausalOption causal;
  causal.add_to(command.app);
  AnnaVerificationOptions anna;
  command.app.add_option("--radius", anna.radius, "anna: this r instead of the file's");
  command.app.add_option("--ratio", anna.ratio, "anna: this c instead of the file's");
  command.app.add_flag("--strict", anna.strict, "anna: no row may be empty, even if it has no key within r");
  if (!command.parse()) return kDone;
  attention.mask = causal.mask();
  require(!causal.given() || kind == problems::Attention::kId, ErrorKind::parameter, "--causal is for attention only");

  require(!anna.given() || kind == kAnna, ErrorKind::parameter, "--radius, --ratio and --strict are for anna only");
  if (kind == kAnna) {
    require(!attention.tolerance && !attention.scale, ErrorKind::parameter,
            "--tolerance and --scale are for attention only");
    anna.force = command.shared.force;
    const AnnaVerification verification = verify_anna_files(files, anna, command);
    return say(kAnna, {verification.report, "verifiers/anna", verification.evidence}, command);
  }
  if (kind == kExpPolynomial) return verify_exp_polynomial_file(files, attention, command);
  const auto& problem = reductions::problem(kind);
  const bool is_attention = problem.id == problems::Attention::kId;
  require(files.size() == 2 || (is_attention && files.size() == 4), ErrorKind::parameter,
          "verify {}: {} files given, expected {}", problem.id, files.size(),
          is_attention ? "INSTANCE ANSWER, or Q K V OUT" : "INSTANCE ANSWER");
  require(is_attention || (!attention.tolerance && !attention.scale), ErrorKind::parameter,
          "--tolerance and --scale are for attention only");
  Verification outcome;
  if (is_attention) {
    attention.force = command.shared.force;
    const AttentionVerification verification = files.size() == 4 ? verify_attention_arrays(files, attention, command)
                                                                 : verify_attention_answer(files, attention, command);
    outcome = {verification.report, "verifiers/attention_output", verification.evidence};
  } else {
    outcome = verify_with_instance(problem, files[0], files[1], command);
  }
  return say(problem.id, outcome, command);
}

}  // namespace subquad::drivers
