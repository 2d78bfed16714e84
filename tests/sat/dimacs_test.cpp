#include "expect_error.hpp"
#include "small_formulas.hpp"

#include <subquad/core/random.hpp>
#include <subquad/core/stopwatch.hpp>
#include <subquad/sat/dimacs.hpp>

#include <fstream>
#include <sstream>

namespace subquad::sat {
namespace {

using test::expect_error;
using test::small_formula;

DimacsFile read(const std::string& text, DimacsMode mode = DimacsMode::lenient) {
  std::istringstream in(text);
  return read_dimacs(in, "f.cnf", mode);
}

std::string write(const Cnf& formula, const Provenance& provenance = {}) {
  std::ostringstream out;
  write_dimacs(out, formula, provenance);
  return out.str();
}

Provenance made_by(std::string command, std::uint64_t seed) {
  Provenance provenance;
  provenance.command = std::move(command);
  provenance.seed = seed;
  return provenance;
}

/// A text of `length` equal bytes between two others, made on the fly: files larger than the memory one wants to spend.
class LongText : public std::streambuf {
 public:
  LongText(std::string head, char byte, std::uint64_t length, std::string tail)
      : head_(std::move(head)), tail_(std::move(tail)), block_(1 << 16, byte), left_(length) {
    setg(head_.data(), head_.data(), head_.data() + head_.size());
  }

 protected:
  int underflow() override {
    if (left_ != 0) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, block_.size()));
      left_ -= size;
      setg(block_.data(), block_.data(), block_.data() + size);
    } else if (!tail_used_) {
      tail_used_ = true;
      setg(tail_.data(), tail_.data(), tail_.data() + tail_.size());
    }
    return gptr() == egptr() ? traits_type::eof() : traits_type::to_int_type(*gptr());
  }

 private:
  std::string head_;
  std::string tail_;
  std::string block_;
  std::uint64_t left_;
  bool tail_used_ = false;
};

TEST(Dimacs, ReadsAHandCheckedFile) {
  const DimacsFile file = read("c hello\nc varname 2 bob\np cnf 3 2\n1 -3 0\n-2 0\n", DimacsMode::strict);
  Cnf expected(3);
  expected.add_clause({1, -3});
  expected.add_clause({-2});
  expected.kept_comments = {"c varname 2 bob"};
  EXPECT_EQ(file.formula, expected);
  EXPECT_EQ(file.declared_clauses, 2U);
  EXPECT_TRUE(file.liberties.empty());
}

TEST(Dimacs, WritesAHandCheckedFile) {
  Cnf formula(3);
  formula.add_clause({1, -3});
  formula.add_clause(std::initializer_list<int>{});
  formula.kept_comments = {"c ind 1 2 0"};
  EXPECT_EQ(write(formula, {.command = "test\nnext", .seed = 7, .source = "a.cnf", .source_digest = "00ff"}),
            "c subquad " + version() +
                "\nc command: test\\x0anext\nc seed: 7\nc source: a.cnf (00ff)\n"
                "c ind 1 2 0\np cnf 3 2\n1 -3 0\n0\n");
}

RC_GTEST_PROP(Dimacs, WhatIsWrittenIsReadBackStrictly, ()) {
  Cnf formula = *small_formula(12, 20);
  if (*rc::gen::arbitrary<bool>())
    formula.kept_comments = {"c varname 1 a  b\tc", "c p show 1 2 0", "c ind 1 0", "c t mc"};
  const DimacsFile file = read(write(formula, made_by("x", 1)), DimacsMode::strict);
  RC_ASSERT(file.formula == formula);
  RC_ASSERT(file.liberties.empty());
}

TEST(Dimacs, KeepsOnlyCommentsThatOthersNeed) {
  const std::string text =
      "c varname 1 a\nc variable 1\nc ind 1 0\nc index\nc p show 1 0\nc p weight 1 0.5 0\nc p cnf 1 1\nc t pmc\nc "
      "text\n"
      "c ind\nc varname\nc p show\ncind 1 0\nc  ind 1 0\np cnf 1 0\n";
  EXPECT_EQ(read(text).formula.kept_comments,
            (std::vector<std::string>{"c varname 1 a", "c ind 1 0", "c p show 1 0", "c p weight 1 0.5 0", "c t pmc",
                                      "c ind", "c varname", "c p show"}));
}

TEST(Dimacs, RefusesToWriteACommentThatBreaksOut) {
  for (const std::string& comment : {std::string("c ind 1\np cnf 9 9"), std::string("x ind"), std::string(),
                                     std::string("c ind 1\r"), std::string("c a\0b", 5)}) {
    Cnf formula(1);
    formula.kept_comments = {comment};
    expect_error(ErrorKind::parameter, "is not one line that starts with 'c'", [&] { write(formula); });
  }
}

TEST(Dimacs, LibertiesNameFileLineAndFrequency) {
  const DimacsFile file = read("\n\np cnf 2 1\n 1 2 0\n\n");
  EXPECT_EQ(file.liberties,
            (std::vector<std::string>{"f.cnf:1: blank line (3 times)", "f.cnf:4: space at the start of a line"}));
  std::istringstream in("p cnf 1 1\n2 0\n");
  expect_error(ErrorKind::input, "standard input:2: literal 2", [&] { read_dimacs(in, "-"); });
}

// SATLIB's files end with the lines `%` and `0`. A reader that merely skips the `%` line sees an empty clause more.
TEST(Dimacs, SatlibTrailerNeverBecomesAnEmptyClause) {
  const std::string clauses = "p cnf 3  2 \n 1 -2 3 0\n-1 2 0\n";
  for (const std::string trailer : {"%\n0\n", "%\n0\n\n", "%\n\n0\n", "%\n0", "%", " %\n 0\n", "%\r\n0\r\n"}) {
    const DimacsFile whole = read(clauses + trailer);
    EXPECT_EQ(whole.formula.num_clauses(), 2U) << trailer;
    EXPECT_TRUE(CnfSat::solve_brute_force(whole.formula).model) << trailer;

    // The `%` line alone deleted, as many scripts do.
    std::string remnant = trailer;
    remnant.erase(remnant.find('%'), remnant.find('\n') - remnant.find('%') + 1);
    const DimacsFile deleted = read(clauses + remnant);
    EXPECT_EQ(deleted.formula, whole.formula) << trailer;

    // Planted fault: what a reader makes of the remnant that takes it for a clause.
    Cnf naive = whole.formula;
    naive.add_clause(std::initializer_list<int>{});
    EXPECT_FALSE(CnfSat::solve_brute_force(naive).model);
  }
}

TEST(Dimacs, AnEmptyClauseThatIsNoRemnantStays) {
  EXPECT_EQ(read("p cnf 1 2\n1 0\n0\n").formula.num_clauses(), 2U);        // declared
  EXPECT_EQ(read("p cnf 1 1\n1 0 0\n").formula.num_clauses(), 2U);         // not on a line of its own
  EXPECT_EQ(read("p cnf 1 1\n1 0\n0\n-1 0\n").formula.num_clauses(), 3U);  // not last
  EXPECT_EQ(read("p cnf 1 1\n1 0\n0\n%\n0\n").formula.num_clauses(), 2U);  // the trailer is still there
  EXPECT_EQ(read("p cnf 1 0\n0\n").formula.num_clauses(), 1U);             // nothing was declared
}

TEST(Dimacs, StrictRefusesACountThatDiffersAndAnythingBehind) {
  for (const std::string text : {"p cnf 1 2\n1 0\n", "p cnf 1 1\n1 0\n-1 0\n", "p cnf 1 1\n1 0\n0\n",
                                 "p cnf 1 1\n1 0\n%\n0\n", "p cnf 1 1\n1 0\nc bye\n", "p cnf 1 1\n1 0\n\n"}) {
    expect_error(ErrorKind::input, "not allowed in strict mode", [&] { read(text, DimacsMode::strict); });
    EXPECT_FALSE(read(text).liberties.empty()) << text;
  }
}

TEST(Dimacs, ADirectoryIsRefused) {
  std::ifstream in(SUBQUAD_SOURCE_DIR);
  ASSERT_TRUE(in.is_open());  // that is the trap: opening a directory succeeds
  expect_error(ErrorKind::input, "folder: read error after 0 bytes (a directory", [&] { read_dimacs(in, "folder"); });
}

TEST(Dimacs, AStreamThatCouldNotBeOpenedIsNoFormula) {
  std::ifstream in("/nonexistent/f.cnf");
  expect_error(ErrorKind::input, "no header", [&] { read_dimacs(in, "f.cnf"); });
}

TEST(Dimacs, MemoryFollowsTheFormulaNotTheFile) {
  constexpr std::uint64_t kLength = std::uint64_t{1} << 25;  // 32 MiB on one line
  constexpr std::uint64_t kAllowed = std::uint64_t{1} << 23;
  const std::uint64_t before = peak_memory_bytes();
  struct Case {
    std::string head;
    char byte;
    std::string tail;
  };
  for (const Case& each : {Case{"p cnf 2 1\n1 ", ' ', "2 0\n"}, Case{"c ", 'x', "\np cnf 2 1\n1 2 0\n"},
                           Case{"p cnf 2 1", ' ', "\n1 2 0\n"}, Case{"p cnf 2 1\n", '\n', "1 2 0\n"}}) {
    LongText text(each.head, each.byte, kLength, each.tail);
    std::istream in(&text);
    EXPECT_EQ(read_dimacs(in, "long.cnf").formula.num_literals(), 2U);
  }
  LongText word("p cnf 2 1\n", '1', kLength, " 0\n");
  std::istream in(&word);
  expect_error(ErrorKind::input, "long.cnf:2: '1111111111111111111111111111111111111111...' is not a literal",
               [&] { read_dimacs(in, "long.cnf"); });
  EXPECT_LE(peak_memory_bytes() - before, kAllowed);

  // Control: a reader that keeps lines is seen by this measurement.
  LongText line_text("c ", 'x', kLength, "\n");
  std::istream line_in(&line_text);
  std::string line;
  std::getline(line_in, line);
  EXPECT_GT(peak_memory_bytes() - before, kAllowed);
}

TEST(Dimacs, ABillionDeclaredClausesReserveNothing) {
  const std::uint64_t before = peak_memory_bytes();
  EXPECT_EQ(read("p cnf 1073741823 1000000000\n1 0\n").formula.num_clauses(), 1U);
  EXPECT_LE(peak_memory_bytes() - before, std::uint64_t{1} << 24);
}

TEST(Dimacs, BufferBordersDoNotMatter) {
  // Words, CRLF and comments are pushed across the border of the reader's 64 KiB blocks, byte by byte.
  const std::string tail = "p cnf 120 2\r\n-119 120 0\r\nc ind 1 0\r\n117 -118 0\r\n%\r\n0\r\n";
  const Cnf expected = read("c \n" + tail).formula;
  ASSERT_EQ(expected.num_clauses(), 2U);
  for (std::size_t shift = 0; shift <= tail.size(); ++shift) {
    const std::string text = "c " + std::string(65536 - 3 - shift, 'x') + "\n" + tail;
    ASSERT_EQ(read(text).formula, expected) << shift;
  }
}

/// Up to six small changes: a byte inserted, overwritten, a piece cut out or repeated.
std::string mutate(std::string text, Random& random) {
  static const std::string kAlphabet = std::string("0123456789-+ \n\r\tcpx%a") + '\0' + "\xef\xff";
  for (std::uint64_t step = random.below(6) + 1; step > 0; --step) {
    const std::size_t place = random.below(text.size() + 1);
    const char byte = kAlphabet[random.below(kAlphabet.size())];
    switch (random.below(4)) {
      case 0:
        text.insert(place, 1, byte);
        break;
      case 1:
        if (place < text.size()) text[place] = byte;
        break;
      case 2:
        text.erase(place, random.below(10));
        break;
      default: {
        const std::size_t from = random.below(text.size() + 1);
        text.insert(place, text.substr(from, random.below(20)));
      }
    }
  }
  return text;
}

// Whatever is done to a file, it is either read or refused as input; what is read can be written and read again.
RC_GTEST_PROP(Dimacs, AnyMutationIsReadOrRefused, (std::uint64_t seed)) {
  const std::string original = write(*small_formula(6, 8), made_by("mutate", 1));
  Random random(seed);
  for (int mutation = 0; mutation < 40; ++mutation) {
    const std::string text = mutate(original, random);
    for (const DimacsMode mode : {DimacsMode::strict, DimacsMode::lenient}) {
      try {
        const DimacsFile file = read(text, mode);
        RC_ASSERT(mode == DimacsMode::lenient || file.liberties.empty());
        RC_ASSERT(read(write(file.formula), DimacsMode::strict).formula == file.formula);
        if (mode == DimacsMode::strict) RC_ASSERT(read(text).formula == file.formula);
      } catch (const Error& error) {
        RC_ASSERT(error.kind() == ErrorKind::input);
      }
    }
  }
}

}  // namespace
}  // namespace subquad::sat
