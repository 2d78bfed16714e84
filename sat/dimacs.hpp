// DIMACS CNF: reader (strict and lenient) and writer.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include <subquad/core/provenance.hpp>
#include <subquad/sat/cnf.hpp>

namespace subquad::sat {

enum class DimacsMode {
  strict,  ///< what subquad writes: counts match, nothing after the last clause
  lenient  ///< what is found in the wild; each liberty taken is reported
};

/// A formula with what the file said and what the reader forgave.
struct DimacsFile {
  Cnf formula;
  std::uint64_t declared_clauses = 0;      ///< from the header
  std::vector<std::string> liberties;      ///< one line each, `FILE:LINE: what`; empty in strict mode
};

/// Reads one formula. `name` stands in messages.
///
/// Lenient mode accepts (and reports) CRLF, blank lines, leading and repeated spaces, tabs, comments between and inside
/// clauses, clauses over several lines or several on one line, no final newline, a last clause without its 0, a clause
/// count that differs from the header, and SATLIB's trailer: everything from a token starting with `%` on is cut.
/// Throws Error(input) in both modes for: no header, a second header, `p wcnf`, `p inccnf`, `p knf` and other formats, XOR
/// lines (`x`), cubes (`a`), a variable above the header's, numbers that overflow, anything not a number, NUL bytes.
DimacsFile read_dimacs(std::istream& in, const std::string& name, DimacsMode mode = DimacsMode::lenient);

/// Writes provenance and kept comments, the header and the clauses in their order: single spaces, LF, final newline.
void write_dimacs(std::ostream& out, const Cnf& formula, const Provenance& provenance);

}  // namespace subquad::sat
