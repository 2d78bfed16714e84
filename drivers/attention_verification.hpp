// Attention verification: `subquad verify attention`, from an instance file or from arrays of any program.
#pragma once

#include "verb_command.hpp"

#include <subquad/core/execution.hpp>
#include <subquad/core/verdict.hpp>
#include <subquad/problems/attention.hpp>
#include <subquad/problems/attention_mask.hpp>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace subquad::drivers {

struct AttentionVerificationOptions {
  std::optional<double> tolerance;  ///< >= 0; nothing: the instance's eps_a
  std::optional<double> scale;      ///< arrays only; nothing: 1/d
  bool force = false;               ///< beyond the resource guard
  problems::AttentionMask mask{};   ///< row i is compared with softmax over the keys that it sees
};

struct AttentionVerification {
  Report report;
  nlohmann::ordered_json evidence;  ///< rows, entries by method, largest proved error bound, findings
};

/// Judges an output by verifiers/attention_output, with its report in words and as evidence.
/// Errors  Error(resource) beyond the resource guard unless `force`; those of verifiers::verify_attention_output
AttentionVerification verify_attention_output(const problems::Attention::Instance& instance,
                                              const problems::MatrixD& output, double tolerance, bool force,
                                              const Execution& execution, const problems::AttentionMask& mask = {});

/// Verifies files {INSTANCE.attention, ANSWER}. Throws Error(input) for malformed files or an answer to another
/// instance, Error(unsupported) if eps_a underflows (the paper's parameters) and no tolerance is given.
AttentionVerification verify_attention_answer(const std::vector<std::string>& files,
                                              const AttentionVerificationOptions& options, VerbCommand& command);

/// Verifies files {Q.npy, K.npy, V.npy, OUT.npy}.
/// Throws Error(parameter) without a tolerance or for shapes that do not fit.
AttentionVerification verify_attention_arrays(const std::vector<std::string>& files,
                                              const AttentionVerificationOptions& options, VerbCommand& command);

}  // namespace subquad::drivers
