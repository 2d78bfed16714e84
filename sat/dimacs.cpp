#include "dimacs_scanner.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/line_reader.hpp>
#include <subquad/sat/dimacs.hpp>

#include <fmt/format.h>

#include <new>
#include <optional>
#include <ostream>
#include <stdexcept>

namespace subquad::sat {

namespace {

using Word = DimacsScanner::Word;

/// The number that a run of digits stands for.
struct Digits {
  enum class Kind { number, not_a_number, overflow } kind = Kind::not_a_number;
  std::uint64_t value = 0;
  bool leading_zeros = false;
};

Digits parse_digits(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return {};
  Digits result{.kind = Digits::Kind::number, .leading_zeros = text.size() > 1 && text.front() == '0'};
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 58;  // above every legal number, and ten times it still fits
  for (const char digit : text) {
    result.value = 10 * result.value + static_cast<std::uint64_t>(digit - '0');
    if (result.value > kLargest) return {.kind = Digits::Kind::overflow};
  }
  return result;
}

/// What a line that is not CNF probably is, from its first word; empty if there is no guess.
std::string_view foreign_line(std::string_view word) {
  switch (word.front()) {
    case 'x':
      return "an XOR line (CryptoMiniSat's dialect)";
    case 'a':
      return "a cube of `p inccnf`, or a quantifier of QDIMACS";
    case 'e':
      return "a quantifier of QDIMACS, or an edge of a graph";
    case 'k':
      return "a cardinality constraint of `p knf`";
    case 'h':
      return "a hard clause of weighted CNF (WCNF)";
    case 's':
    case 'v':
      return "a solver's answer";
    case '*':
      return "a pseudo-Boolean (OPB) file";
    default:
      return {};
  }
}

std::string_view foreign_header(std::string_view format) {
  if (format == "wcnf") return "weighted CNF (MaxSAT)";
  if (format == "inccnf") return "incremental CNF with cubes";
  if (format == "knf") return "CNF with cardinality constraints";
  if (format == "edge" || format == "col") return "a graph";
  if (format == "qcnf") return "a quantified formula";
  return "unknown";
}

class DimacsReader {
 public:
  DimacsReader(std::istream& in, const std::string& name, DimacsMode mode) : scanner_(in, name, mode) {}

  DimacsFile read() {
    read_header();
    read_body();
    file_.formula.kept_comments = scanner_.take_kept_comments();
    file_.liberties = scanner_.liberties();
    return std::move(file_);
  }

  std::uint64_t clauses_read() const { return file_.formula.num_clauses(); }

 private:
  void read_header();
  std::uint64_t read_header_number(std::string_view what, std::uint64_t largest);
  void read_body();
  void read_literal(const Word& word);
  void end_clause(const Word& zero);
  void cut_trailer();
  void add_clause();
  /// Adds the lone `0` behind the declared clauses after all, since more text stands behind it.
  void keep_surplus_zero();
  void check_count();

  DimacsScanner scanner_;
  DimacsFile file_;
  std::uint64_t header_line_ = 0;
  std::vector<Literal> clause_;    // the open clause
  std::uint64_t clause_line_ = 0;  // line of its first literal
  std::optional<std::uint64_t> surplus_zero_line_;
};

std::uint64_t DimacsReader::read_header_number(std::string_view what, std::uint64_t largest) {
  const Word word = scanner_.next_on_line();
  if (word.text.empty())
    scanner_.fail("the header ends before the number of {}, expected 'p cnf VARIABLES CLAUSES'", what);
  const Digits digits = parse_digits(word.text);
  if (word.truncated || digits.kind == Digits::Kind::not_a_number)
    scanner_.fail("the header's number of {} is {}, expected a non-negative integer", what, quoted(word.text));
  if (digits.kind == Digits::Kind::overflow || digits.value > largest)
    scanner_.fail("the header's number of {} is {}, at most {} is supported", what, word.text, largest);
  if (digits.leading_zeros)
    scanner_.take_liberty(DimacsLiberty::leading_zeros, scanner_.line(), "number with leading zeros");
  return digits.value;
}

void DimacsReader::read_header() {
  Word word = scanner_.next(false);
  if (word.text.empty()) {
    scanner_.fail("no header, expected a line 'p cnf VARIABLES CLAUSES'{}",
                  scanner_.saw_any_byte() ? "" : " (the file is empty)");
  }
  if (word.text != "p" || !word.first_on_line) {
    if (parse_digits(word.text.substr(word.text.front() == '-' ? 1 : 0)).kind != Digits::Kind::not_a_number)
      scanner_.fail("a clause before the header, expected a line 'p cnf VARIABLES CLAUSES' first");
    const std::string_view guess = foreign_line(word.text);
    scanner_.fail("{} before the header, expected a line 'p cnf VARIABLES CLAUSES'{}{}", quoted(word.text),
                  guess.empty() ? "" : "; this looks like ", guess);
  }
  header_line_ = scanner_.line();
  word = scanner_.next_on_line();
  if (word.text != "cnf")
    scanner_.fail("the header names the format {} ({}), expected 'p cnf VARIABLES CLAUSES'", quoted(word.text),
                  foreign_header(word.text));
  file_.formula = Cnf(read_header_number("variables", kMaxVariables));
  file_.declared_clauses = read_header_number("clauses", std::uint64_t{1} << 48);
  word = scanner_.next_on_line();
  if (!word.text.empty())
    scanner_.fail("{} behind the header, expected the line to end after 'p cnf VARIABLES CLAUSES'", quoted(word.text));
}

void DimacsReader::read_body() {
  for (Word word = scanner_.next(true); !word.text.empty(); word = scanner_.next(true)) {
    if (word.text.front() == '%') {
      cut_trailer();
      break;
    }
    keep_surplus_zero();
    read_literal(word);
  }
  if (!clause_.empty()) {
    scanner_.take_liberty(DimacsLiberty::unterminated_clause, clause_line_, "the last clause has no final 0");
    add_clause();
  }
  check_count();
}

void DimacsReader::cut_trailer() {
  keep_surplus_zero();
  const std::uint64_t line = scanner_.line();
  const bool more = scanner_.rest_is_more_than_zero();
  scanner_.take_liberty(DimacsLiberty::percent_trailer, line,
                        more ? "'%': the text from here on is cut, and it is more than SATLIB's trailer '%', '0'"
                             : "'%': SATLIB's trailer, the text from here on is cut");
}

void DimacsReader::keep_surplus_zero() {
  if (!surplus_zero_line_) return;
  surplus_zero_line_.reset();
  file_.formula.add_clause(std::span<const Literal>());
}

void DimacsReader::add_clause() {
  file_.formula.add_clause(clause_);
  clause_.clear();
}

void DimacsReader::read_literal(const Word& word) {
  const std::uint64_t line = scanner_.line();
  const bool has_sign = word.text.front() == '-' || word.text.front() == '+';
  const Digits digits = parse_digits(word.text.substr(has_sign ? 1 : 0));
  if (word.truncated || digits.kind == Digits::Kind::not_a_number) {
    if (word.text == "p") scanner_.fail("a second header, expected one formula in a file");
    const std::string_view guess = foreign_line(word.text);
    if (!guess.empty() && word.first_on_line)
      scanner_.fail("{} is not a literal, expected a clause of plain CNF; this looks like {}", quoted(word.text),
                    guess);
    scanner_.fail("{} is not a literal, expected an integer", quoted(word.text));
  }
  const std::uint32_t n = file_.formula.num_variables();
  if (digits.kind == Digits::Kind::overflow)
    scanner_.fail("literal {} overflows, the header declares {} variables", word.text, n);
  if (digits.value > n) scanner_.fail("literal {} is out of range, the header declares {} variables", word.text, n);
  if (has_sign && digits.value == 0)
    scanner_.fail("{} is neither a literal nor the end of a clause, expected 0 without a sign", quoted(word.text));
  if (word.text.front() == '+') scanner_.take_liberty(DimacsLiberty::plus_sign, line, "literal with a plus sign");
  if (digits.leading_zeros) scanner_.take_liberty(DimacsLiberty::leading_zeros, line, "number with leading zeros");

  if (clause_.empty()) {
    clause_line_ = line;
    if (!word.first_on_line)
      scanner_.take_liberty(DimacsLiberty::clauses_on_one_line, line, "several clauses on one line");
  } else if (word.first_on_line) {
    scanner_.take_liberty(DimacsLiberty::clause_over_lines, line, "a clause over several lines");
  }
  if (digits.value == 0) {
    end_clause(word);
  } else {
    clause_.emplace_back(static_cast<std::uint32_t>(digits.value - 1), word.text.front() == '-');
  }
}

void DimacsReader::end_clause(const Word& zero) {
  // Where SATLIB's `%` line was deleted, its `0` is left behind; read as an empty clause it would make every such
  // formula unsatisfiable. One lone `0` is therefore held back until something else follows.
  if (clause_.empty() && zero.first_on_line && file_.declared_clauses != 0 &&
      clauses_read() == file_.declared_clauses) {
    surplus_zero_line_ = scanner_.line();
    return;
  }
  add_clause();
}

void DimacsReader::check_count() {
  if (surplus_zero_line_) {
    scanner_.take_liberty(
        DimacsLiberty::trailer_remnant, *surplus_zero_line_,
        fmt::format("a lone '0' behind the {} declared clauses is cut: it is what remains of SATLIB's "
                    "trailer without its '%' line, not an empty clause",
                    file_.declared_clauses));
  }
  if (clauses_read() != file_.declared_clauses) {
    scanner_.take_liberty(
        DimacsLiberty::clause_count, header_line_,
        fmt::format("the header declares {} clauses, the file has {}", file_.declared_clauses, clauses_read()));
  }
}

}  // namespace

DimacsFile read_dimacs(std::istream& in, const std::string& name, DimacsMode mode) {
  DimacsReader reader(in, name, mode);
  const auto out_of_memory = [&]() -> Error {
    return {ErrorKind::resource, fmt::format("{}: out of memory after {} clauses",
                                             name == "-" ? "standard input" : name, reader.clauses_read())};
  };
  try {
    return reader.read();
  } catch (const std::bad_alloc&) {
    throw out_of_memory();
  } catch (const std::length_error&) {
    throw out_of_memory();
  }
}

void write_dimacs(std::ostream& out, const Cnf& formula, const Provenance& provenance) {
  for (const std::string& comment : formula.kept_comments) {
    require(comment.starts_with('c') && comment.find_first_of(std::string_view("\n\0", 2)) == std::string::npos &&
                !comment.ends_with('\r'),
            ErrorKind::parameter, "kept comment {} is not one line that starts with 'c'", subquad::quoted(comment));
  }
  for (const std::string& line : provenance.lines()) out << "c " << line << '\n';
  for (const std::string& comment : formula.kept_comments) out << comment << '\n';
  out << "p cnf " << formula.num_variables() << ' ' << formula.num_clauses() << '\n';
  fmt::memory_buffer line;
  for (std::uint64_t c = 0; c < formula.num_clauses(); ++c) {
    line.clear();
    for (const Literal literal : formula.clause(c))
      fmt::format_to(std::back_inserter(line), "{} ", literal.to_dimacs());
    fmt::format_to(std::back_inserter(line), "0\n");
    out.write(line.data(), static_cast<std::streamsize>(line.size()));
  }
}

}  // namespace subquad::sat
