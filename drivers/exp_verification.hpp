// Exp verification: an exp-polynomial file through its verifier, with the verdict in words and as JSON.
#pragma once

#include <subquad/core/verdict.hpp>
#include <subquad/verifiers/exp_polynomial.hpp>

#include <nlohmann/json.hpp>

#include <string>

namespace subquad::drivers {

struct ExpVerification {
  Report report;
  nlohmann::ordered_json evidence;  ///< measure, interval, epsilon, degree, proved bounds, witness, minimal
};

/// Judges a claim by verifiers/exp_polynomial.
ExpVerification verify_exp_claim(const verifiers::ExpPolynomialClaim& claim);

/// Reads and judges a file ("-": standard input). Throws Error(input) for a malformed one.
ExpVerification verify_exp_file(const std::string& path);

}  // namespace subquad::drivers
