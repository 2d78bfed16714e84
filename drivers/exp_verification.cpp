#include "exp_verification.hpp"

#include "input_source.hpp"

#include <subquad/verifiers/exp_polynomial_format.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace subquad::drivers {

using exact::Rounding;

ExpVerification verify_exp_claim(const verifiers::ExpPolynomialClaim& claim) {
  const verifiers::ExpPolynomialReport found = verify_exp_polynomial(claim);
  ExpVerification result;
  result.report.verdict = found.verdict;
  result.report.reason = found.upper.reason;
  if (claim.lower) result.report.reason += "; " + found.lower.reason;
  if (found.minimal)
    result.report.reason += fmt::format("; degree {} is the least", std::max(claim.polynomial.degree(), 0));
  result.evidence = {{"measure", to_string(claim.problem.measure)},
                     {"interval", {claim.problem.a.str(), claim.problem.b.str()}},
                     {"epsilon", claim.epsilon.str()},
                     {"degree", std::max(claim.polynomial.degree(), 0)},
                     {"upper", {{"verdict", to_string(found.upper.verdict)}, {"reason", found.upper.reason}}}};
  if (found.proved_upper) result.evidence["error_bound"] = to_decimal(*found.proved_upper, 17, Rounding::up);
  if (claim.lower) {
    result.evidence["lower"] = {
        {"verdict", to_string(found.lower.verdict)}, {"reason", found.lower.reason}, {"degree", claim.lower->degree}};
    if (found.proved_lower) result.evidence["lower"]["bound"] = to_decimal(*found.proved_lower, 17, Rounding::down);
  }
  if (found.witness) result.evidence["witness"] = found.witness->str();
  result.evidence["minimal"] = found.minimal;
  return result;
}

ExpVerification verify_exp_file(const std::string& path) {
  InputSource file(path);
  return verify_exp_claim(verifiers::read_exp_polynomial(file.stream(), path));
}

}  // namespace subquad::drivers
