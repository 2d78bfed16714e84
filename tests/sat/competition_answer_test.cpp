#include "expect_error.hpp"
#include "small_formulas.hpp"

#include <subquad/core/random.hpp>
#include <subquad/sat/cnf.hpp>

#include <fstream>
#include <sstream>

namespace subquad::sat {
namespace {

using test::expect_error;
using test::small_formula;

AnswerFile<CnfSat::Answer> read(const std::string& text) {
  std::istringstream in(text);
  return CnfSat::read_answer(in, "a.sol");
}

TEST(CompetitionAnswer, ReadsHandCheckedAnswers) {
  EXPECT_EQ(read("s SATISFIABLE\nv 1 -2 3 0\n").answer.model, (Model{true, false, true}));
  EXPECT_EQ(read("c solver\ns SATISFIABLE\nv 1\nv -2\n\nv 3\nv 0\nc bye\n").answer.model, (Model{true, false, true}));
  EXPECT_EQ(read("v -3 2 -1 0\r\ns SATISFIABLE\r\n").answer.model, (Model{false, true, false}));
  EXPECT_EQ(read("s SATISFIABLE\nv 0\n").answer.model, Model{});
  EXPECT_EQ(read("s UNSATISFIABLE").answer.model, std::nullopt);
  EXPECT_EQ(read("s UNSATISFIABLE\n").instance, std::nullopt);
}

TEST(CompetitionAnswer, ReadsTheInstanceDigest) {
  const std::string digits = "0123456789abcdeffedcba9876543210";
  const auto file = read("c instance " + digits + "\ns UNSATISFIABLE\n");
  EXPECT_EQ(file.instance, (Digest{0x0123456789abcdefU, 0xfedcba9876543210U}));
  EXPECT_EQ(read("c instance f.cnf\nc instance " + digits + " read\ns UNSATISFIABLE\n").instance, std::nullopt);
  expect_error(ErrorKind::input, "a.sol:1: instance digest '0123'", [] { read("c instance 0123\ns UNSATISFIABLE\n"); });
  expect_error(ErrorKind::input, "a.sol:2: a second instance digest",
               [&] { read("c instance " + digits + "\nc instance " + std::string(32, '0') + "\ns UNSATISFIABLE\n"); });
}

RC_GTEST_PROP(CompetitionAnswer, WhatIsWrittenIsReadBack, (std::uint64_t seed)) {
  const Cnf formula = *small_formula(150, 3);
  CnfSat::Answer answer;
  if (*rc::gen::arbitrary<bool>()) {
    Random random(seed);
    answer.model.emplace(formula.num_variables());
    for (std::size_t v = 0; v < answer.model->size(); ++v) (*answer.model)[v] = random.below(2) != 0;
  }
  std::stringstream text;
  CnfSat::write_answer(text, formula, answer, Provenance{"x", 3, "", ""});
  for (std::string line; std::getline(text, line);) RC_ASSERT(line.size() <= 78U);
  text.clear();
  text.seekg(0);
  const auto file = CnfSat::read_answer(text, "a.sol");
  RC_ASSERT(file.answer == answer);
  RC_ASSERT(file.instance == CnfSat::digest(formula));
}

TEST(CompetitionAnswer, WritesHandCheckedAnswers) {
  Cnf formula(2);
  std::ostringstream out;
  CnfSat::write_answer(out, formula, {Model{false, true}}, {});
  EXPECT_EQ(out.str(), "c subquad " + version() + "\nc instance " + to_string(CnfSat::digest(formula)) +
                           "\ns SATISFIABLE\nv -1 2 0\n");
  expect_error(ErrorKind::parameter, "the model has 1 values, the formula has 2 variables",
               [&] { CnfSat::write_answer(out, formula, {Model{true}}, {}); });
}

TEST(CompetitionAnswer, RefusesWrongAnswers) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "no status"},
      {"c only a comment\n", "no status"},
      {"v 1 0\n", "no status"},
      {"s UNKNOWN\n", "a.sol:1: status UNKNOWN: the solver did not decide the formula"},
      {"s INDETERMINATE\n", "did not decide"},
      {"s\n", "a.sol:1: status 's'"},
      {"s SAT\n", "status 's SAT', expected 's SATISFIABLE'"},
      {"s SATISFIABLE indeed\n", "expected 's SATISFIABLE'"},
      {"s SATISFIABLE\ns SATISFIABLE\nv 0\n", "a.sol:2: a second 's' line"},
      {"s SATISFIABLE\ns UNSATISFIABLE\nv 0\n", "a.sol:2: a second 's' line"},
      {"s SATISFIABLE\n", "satisfiable, but no 'v' line"},
      {"s SATISFIABLE\nv 1 2\n", "the values have no final 0"},
      {"s UNSATISFIABLE\nv 1 0\n", "unsatisfiable, but there are 'v' lines"},
      {"s SATISFIABLE\nv 1 0 2\n", "a.sol:2: '2' behind the final 0"},
      {"s SATISFIABLE\nv 1 0\nv 0\n", "a.sol:3: '0' behind the final 0"},
      {"s SATISFIABLE\nv 1 -1 0\n", "variable 1 has both values, a contradiction"},
      {"s SATISFIABLE\nv 2 1\nv 2 0\n", "a.sol:3: variable 2 has two values (the same twice)"},
      {"s SATISFIABLE\nv 1 3 0\n", "variable 2 has no value, but variable 3 has one"},
      {"s SATISFIABLE\nv 1073741823 0\n", "variable 1 has no value"},
      {"s SATISFIABLE\nv 1073741824 0\n", "'1073741824' is not a literal"},
      {"s SATISFIABLE\nv 99999999999999999999 0\n", "is not a literal"},
      {"s SATISFIABLE\nv 1 -0\n", "'-0' is not a literal"},
      {"s SATISFIABLE\nv 1 x 0\n", "'x' is not a literal"},
      {"SAT\n1 -2 0\n", "minisat's result file"},
      {"s SATISFIABLE\n1 -2 0\n", "a.sol:2: '1', expected a line starting with"},
      {"p cnf 1 0\n", "this looks like a formula"},
      {std::string("s SATISFIABLE\nv \0 0\n", 19), "NUL byte"},
  };
  for (const auto& [text, message] : cases) {
    SCOPED_TRACE(text);
    const std::string& shown = text;
    expect_error(ErrorKind::input, message, [&shown] { read(shown); });
  }
  std::ifstream folder(SUBQUAD_SOURCE_DIR);
  expect_error(ErrorKind::input, "folder", [&] { CnfSat::read_answer(folder, "folder"); });
}

}  // namespace
}  // namespace subquad::sat
