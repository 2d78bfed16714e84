// Answer verification: one table of who checks which problem's answers, for `subquad verify` and `subquad lift`.
#pragma once

#include <subquad/core/execution.hpp>
#include <subquad/core/verdict.hpp>
#include <subquad/reductions/registry.hpp>

#include <nlohmann/json.hpp>

#include <string>

namespace subquad::drivers {

/// What a verifier said: the verdict with its reason, who said it, and evidence for programs.
struct Verification {
  Report report;
  std::string by;  ///< "verifiers/ov_witness", or "the definition of p-ov"
  nlohmann::ordered_json evidence = nlohmann::ordered_json::object();
};

/// Verifies an answer. Independent verifiers: cnf (a model), ov, gap-ann, attention (within the instance's eps_a).
/// By the problem's own definition, that is brute force beside its reference solver: cnf "unsatisfiable", p-ov, ann.
///
/// An attention answer to an instance whose eps_a underflows (the paper's parameters) is undecided.
/// Errors  Error(resource) beyond the resource guard unless `force`
Verification verify_answer(const reductions::ProblemEntry& problem, const reductions::AnyInstance& instance,
                           const reductions::AnyAnswer& answer, bool force, const Execution& execution);

}  // namespace subquad::drivers
