#include "answer_verification.hpp"

#include "attention_verification.hpp"
#include "resource_guard.hpp"

#include <subquad/problems/attention.hpp>
#include <subquad/problems/gap_ann.hpp>
#include <subquad/problems/orthogonal_vectors.hpp>
#include <subquad/sat/cnf.hpp>
#include <subquad/verifiers/gap_ann_rows.hpp>
#include <subquad/verifiers/ov_witness.hpp>
#include <subquad/verifiers/sat_model.hpp>

#include <fmt/format.h>

#include <cmath>

namespace subquad::drivers {

namespace {

using Json = nlohmann::ordered_json;
using problems::Attention;
using problems::GapAnn;
using problems::OrthogonalVectors;

Verification verify_ov(const OrthogonalVectors::Instance& instance, const OrthogonalVectors::Answer& answer,
                       const Execution& execution) {
  Verification result;
  result.by = "verifiers/ov_witness";
  if (answer.witness) {
    result.report = verifiers::verify_ov_witness(instance, answer.witness->first, answer.witness->second);
    return result;
  }
  const std::vector<bool> none(instance.a.rows(), false);
  const auto wrong = verifiers::verify_ov_rows(instance, none, std::nullopt, 1, execution);
  if (wrong.empty()) {
    result.report = {Verdict::certified,
                     fmt::format("no orthogonal pair among {} x {} vectors", instance.a.rows(), instance.b.rows())};
    return result;
  }
  result.report = {Verdict::refuted, fmt::format("a_{} is orthogonal to b_{}, but the answer says there is no pair",
                                                 wrong[0].row, wrong[0].partner.value_or(0))};
  result.evidence = {{"row", wrong[0].row}, {"partner", wrong[0].partner.value_or(0)}};
  return result;
}

Verification verify_gap(const GapAnn::Instance& instance, const GapAnn::Answer& answer, const Execution& execution) {
  const auto found = verifiers::verify_gap_ann_rows(instance, answer, std::nullopt, 16, execution);
  Verification result;
  result.by = "verifiers/gap_ann_rows";
  result.evidence = {{"rows_checked", found.rows_checked},
                     {"rows_outside_promise", found.rows_outside_promise},
                     {"wrong", Json::array()}};
  for (const auto& wrong : found.wrong)
    result.evidence["wrong"].push_back({{"row", wrong.row},
                                        {"claimed", wrong.claimed_near ? "near" : "far"},
                                        {"nearest_distance", wrong.nearest_distance},
                                        {"nearest_key", wrong.nearest_key}});
  result.report.verdict = found.verdict;
  if (found.wrong.empty())
    result.report.reason = fmt::format("all {} rows are right, {} of them outside the promise", found.rows_checked,
                                       found.rows_outside_promise);
  else
    result.report.reason = fmt::format("row {} says {}, but its nearest key (key {}) is at distance {}",
                                       found.wrong[0].row, found.wrong[0].claimed_near ? "near" : "far",
                                       found.wrong[0].nearest_key, found.wrong[0].nearest_distance);
  return result;
}

Verification verify_attention(const Attention::Instance& instance, const Attention::Answer& answer, bool force,
                              const Execution& execution) {
  Verification result;
  result.by = "verifiers/attention_output";
  const double tolerance = std::exp(instance.log_tolerance);
  if (!(tolerance > 0)) {
    result.report = {Verdict::undecided,
                     fmt::format("eps_a = e^({}) is below every double, so outputs in doubles cannot be judged by it",
                                 instance.log_tolerance)};
    return result;
  }
  AttentionVerification verification = verify_attention_output(instance, answer.output, tolerance, force, execution);
  result.report = std::move(verification.report);
  result.evidence = std::move(verification.evidence);
  return result;
}

}  // namespace

Verification verify_answer(const reductions::ProblemEntry& problem, const reductions::AnyInstance& instance,
                           const reductions::AnyAnswer& answer, bool force, const Execution& execution) {
  if (problem.id == sat::CnfSat::kId) {
    if (const auto& model = std::any_cast<const sat::CnfSat::Answer&>(answer.value).model) {
      Verification result;
      result.by = "verifiers/sat_model";
      result.report = verifiers::verify_model(std::any_cast<const sat::Cnf&>(instance.value), *model);
      return result;
    }
  } else {
    check_resources("verifying the answer of " + problem.id, reference_solver_need(problem.id, problem.size(instance)),
                    force);
  }
  if (problem.id == OrthogonalVectors::kId)
    return verify_ov(std::any_cast<const OrthogonalVectors::Instance&>(instance.value),
                     std::any_cast<const OrthogonalVectors::Answer&>(answer.value), execution);
  if (problem.id == GapAnn::kId)
    return verify_gap(std::any_cast<const GapAnn::Instance&>(instance.value),
                      std::any_cast<const GapAnn::Answer&>(answer.value), execution);
  if (problem.id == Attention::kId)
    return verify_attention(std::any_cast<const Attention::Instance&>(instance.value),
                            std::any_cast<const Attention::Answer&>(answer.value), force, execution);
  Verification result;
  result.by = "the definition of " + problem.id;
  result.report = problem.check(instance, answer);
  return result;
}

}  // namespace subquad::drivers
