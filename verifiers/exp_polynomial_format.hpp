// Text format of exp polynomial claims: polynomial, epsilon and certificate in one file (docs/formats.md,
// exp-polynomial).
//
// All numbers are exact: fractions P/Q, whole numbers or finite decimals. A few lines of any language with rational
// numbers can check such a file again; docs/examples/check_exp_polynomial.py does.
#pragma once

#include <subquad/core/provenance.hpp>
#include <subquad/verifiers/exp_polynomial.hpp>

#include <istream>
#include <ostream>
#include <string>

namespace subquad::verifiers {

/// Reads a claim. Throws Error(input) "name:line: what, expected what", also for an empty interval, an epsilon that is
/// not positive (or not below 1 in the relative problem), and numbers of lines that do not fit the degree. Whether the
/// claim is true is not looked at.
ExpPolynomialClaim read_exp_polynomial(std::istream& in, const std::string& name);

/// Writes a claim; read_exp_polynomial gives it back exactly.
void write_exp_polynomial(std::ostream& out, const ExpPolynomialClaim& claim, const Provenance& provenance);

}  // namespace subquad::verifiers
