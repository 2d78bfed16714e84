// ANNA verification: counts and outputs through verifiers/anna, with the verdict in words and as JSON.
#pragma once

#include "verb_command.hpp"

#include <subquad/core/execution.hpp>
#include <subquad/core/verdict.hpp>
#include <subquad/problems/attention.hpp>
#include <subquad/verifiers/anna_format.hpp>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace subquad::drivers {

/// Replaces what a weights file claims.
struct AnnaVerificationOptions {
  std::optional<double> radius, ratio;
  bool strict = false;
  bool force = false;  ///< beyond the resource guard

  bool given() const { return radius || ratio || strict; }
};

struct AnnaVerification {
  Report report;
  nlohmann::ordered_json evidence;  ///< the claim, pairs by kind, distances decided by rationals, findings
};

/// Judges counts and, if there is one, an output (with the values v).
/// Errors: those of verifiers::verify_anna and verify_anna_output; Error(resource) beyond the resource guard
AnnaVerification verify_anna_counts(const problems::MatrixD& q, const problems::MatrixD& k,
                                    const verifiers::AnnaClaim& claim, const std::vector<verifiers::AnnaRow>& rows,
                                    bool force, const Execution& execution);
AnnaVerification verify_anna_counts_and_output(const problems::MatrixD& q, const problems::MatrixD& k,
                                               const problems::MatrixD& v, const verifiers::AnnaClaim& claim,
                                               const std::vector<verifiers::AnnaRow>& rows,
                                               const problems::MatrixD& output, bool force, const Execution& execution);

/// Verifies files {Q.npy, K.npy, WEIGHTS} or {Q.npy, K.npy, V.npy, OUT.npy, WEIGHTS}. Throws Error(input) for
/// malformed files, Error(parameter) for sizes that do not fit.
AnnaVerification verify_anna_files(const std::vector<std::string>& files, const AnnaVerificationOptions& options,
                                   VerbCommand& command);

}  // namespace subquad::drivers
