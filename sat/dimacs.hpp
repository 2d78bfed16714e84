// DIMACS CNF: reader (strict and lenient) and writer.
#pragma once

#include <subquad/core/provenance.hpp>
#include <subquad/sat/cnf.hpp>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace subquad::sat {

/// How much a reader forgives.
enum class DimacsMode {
  strict,  ///< what subquad writes: counts match, nothing after the last clause
  lenient  ///< what is found in the wild; each liberty taken is reported
};

/// A formula with what the file said and what the reader forgave.
struct DimacsFile {
  Cnf formula;
  std::uint64_t declared_clauses = 0;  ///< from the header
  std::vector<std::string> liberties;  ///< one line each, `FILE:LINE: what`; empty in strict mode
};

/// Reads one formula. `name` stands in messages ("-" is shown as "standard input").
///
/// Strict mode accepts comment lines, the header `p cnf V C`, then C lines with one clause each, single spaces, LF.
/// Lenient mode accepts and reports each departure from that: a UTF-8 byte order mark, CRLF, blank lines, leading,
/// repeated and trailing spaces, tabs, comments between and inside clauses, clauses over several lines or several on
/// one line, `+3`, leading zeros, no final newline, a last clause without its 0, a clause count that differs from the
/// header, and SATLIB's trailer: everything from a token starting with `%` on is cut. A lone `0` that stands behind the
/// declared number of clauses, with nothing behind it, is what remains of that trailer when its `%` line was deleted;
/// it is cut (and reported) rather than read as an empty clause. Each kind of departure is reported once, with its
/// first line and its frequency.
///
/// Throws Error(input) in both modes for: an unreadable stream (a directory), no header, a second header, `p wcnf`,
/// `p inccnf`, `p knf` and other formats, XOR lines (`x`), cubes (`a`), a variable above the header's, a header above
/// kMaxVariables, numbers that overflow, `-0`, anything else that is not a number, NUL bytes. Error(resource) when
/// memory runs out.
///
/// Cost     one pass, O(bytes) time, memory O(formula) and not O(line) or O(header's counts)
DimacsFile read_dimacs(std::istream& in, const std::string& name, DimacsMode mode = DimacsMode::lenient);

/// Writes provenance and kept comments, the header and the clauses in their order: single spaces, LF, final newline.
/// What it writes, read_dimacs reads back in strict mode as an equal formula. Throws Error(parameter) for a kept
/// comment that is not one line starting with `c`.
void write_dimacs(std::ostream& out, const Cnf& formula, const Provenance& provenance);

}  // namespace subquad::sat
