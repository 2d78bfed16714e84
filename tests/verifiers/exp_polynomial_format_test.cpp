#include "expect_error.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/provenance.hpp>
#include <subquad/exact/exp_certification.hpp>
#include <subquad/verifiers/exp_polynomial_format.hpp>

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace subquad::exact;
using subquad::ErrorKind;
using subquad::test::expect_error;
using subquad::verifiers::ExpLowerClaim;
using subquad::verifiers::ExpPolynomialClaim;
using subquad::verifiers::ExpUpperProof;
using subquad::verifiers::read_exp_polynomial;
using subquad::verifiers::write_exp_polynomial;

ExpPolynomialClaim read(const std::string& text) {
  std::istringstream in(text);
  return read_exp_polynomial(in, "f.exp");
}

TEST(ExpPolynomialFormat, WorkedExample) {
  const ExpPolynomialClaim claim = read(
      "c the line 1 + x\n"
      "p exp-polynomial relative -1/2 0.5 1\n"
      "epsilon 18/100\n"
      "a 1\n"
      "a 1\n"
      "upper alternation\n"
      "k -1e-3 1e-3\n"
      "lower 0 1/10\n"
      "x -1/2\n"
      "x 1/2\n");
  EXPECT_EQ(claim.problem, (ExpProblem{ErrorMeasure::relative, Rational(-1, 2), Rational(1, 2)}));
  EXPECT_EQ(claim.polynomial, (Polynomial{1, 1}));
  EXPECT_EQ(claim.epsilon, Rational(9, 50));
  ASSERT_EQ(claim.intervals.size(), 1u);
  EXPECT_EQ(claim.intervals[0].low, Rational(-1, 1000));
  ASSERT_TRUE(claim.lower);
  EXPECT_EQ(claim.lower->points, (std::vector<Rational>{Rational(-1, 2), Rational(1, 2)}));
}

TEST(ExpPolynomialFormat, WhatIsWrittenIsReadBack) {
  for (const ErrorMeasure measure : {ErrorMeasure::relative, ErrorMeasure::absolute}) {
    for (const char* epsilon : {"1e-1", "1e-3", "1e-9"}) {
      const auto m = certified_minimal_degree({measure, -1, 2}, *parse_rational(epsilon));
      ExpPolynomialClaim claim{m.approximant.problem,      m.approximant.polynomial, m.epsilon,
                               ExpUpperProof::alternation, m.approximant.intervals,  {}};
      if (m.lower) claim.lower = ExpLowerClaim{m.lower->degree, m.lower->bound, m.lower->points};
      for (const ExpUpperProof proof : {ExpUpperProof::alternation, ExpUpperProof::bernstein}) {
        claim.proof = proof;
        if (proof == ExpUpperProof::bernstein) claim.intervals.clear();
        std::ostringstream out;
        write_exp_polynomial(out, claim, subquad::Provenance{"test", 7, "", ""});
        EXPECT_EQ(read(out.str()), claim) << out.str();
      }
    }
  }
  const ExpPolynomialClaim zero{{ErrorMeasure::absolute, 0, 0}, Polynomial(), 2, ExpUpperProof::alternation, {}, {}};
  std::ostringstream out;
  write_exp_polynomial(out, zero, {});
  EXPECT_EQ(read(out.str()), zero);
}

TEST(ExpPolynomialFormat, MalformedFilesGetOneClearLine) {
  const std::string head = "p exp-polynomial relative -1 1 1\n";
  const std::string body = head + "epsilon 1/2\na 1\na 1\n";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "f.exp:1: the file ends here, expected the header"},
      {"hello\n", "f.exp:1: 'hello', expected the header"},
      {"p ov 1 1 1\n", "f.exp:1: header of kind 'ov'"},
      {"p exp-polynomial relative -1 1\n", "f.exp:1: header with 5 words"},
      {"p exp-polynomial both -1 1 1\n", "f.exp:1: measure 'both', expected relative or absolute"},
      {"p exp-polynomial relative 1 -1 1\n", "f.exp:1: the interval [1, -1] is empty"},
      {"p exp-polynomial relative nan 1 1\n", "f.exp:1: 'nan', expected an exact number"},
      {"p exp-polynomial relative 0 inf 1\n", "f.exp:1: 'inf', expected an exact number"},
      {"p exp-polynomial relative 0 1e9 1\n", "f.exp:1: the interval reaches beyond"},
      {"p exp-polynomial relative 0 1 -1\n", "f.exp:1: degree '-1'"},
      {"p exp-polynomial relative 0 1 99999999999\n", "f.exp:1: degree '99999999999'"},
      {head, "f.exp:1: the file ends here, expected 'epsilon NUMBER'"},
      {head + "epsilon 0\n", "f.exp:2: 'epsilon 0', expected more than 0"},
      {head + "epsilon 1\n", "f.exp:2: 'epsilon 1', expected less than 1"},
      {head + "epsilon 1/2\na 1\n", "f.exp:3: the file ends here, expected 'a NUMBER: coefficient 1 of 0 to 1'"},
      {head + "epsilon 1/2\na 1\na 0\n", "f.exp:4: the leading coefficient is 0"},
      {head + "epsilon 1/2\na 1 2\n", "f.exp:3: 'a 1 2', expected 'a NUMBER"},
      {body, "f.exp:4: the file ends here, expected 'upper alternation|bernstein'"},
      {body + "upper magic\n", "f.exp:5: proof 'magic'"},
      {body + "upper alternation\n", "f.exp:5: the file ends here, expected 'k LOW HIGH: critical interval 1 of 1'"},
      {body + "upper alternation\nk 0\n", "f.exp:6: 'k 0', expected"},
      {body + "upper bernstein\nk 0 1\n", "f.exp:6: 'k 0 1', expected 'lower DEGREE BOUND' or the end"},
      {body + "upper bernstein\nlower 0 1/4\nx 0\n", "f.exp:7: the file ends here, expected 'x NUMBER: point 2 of 2'"},
      {body + "upper bernstein\nlower 0 1/4\nx 0\nx 1\nx 2\n", "f.exp:9: 'x 2' after the last point"},
      {body + "upper bernstein", "f.exp:5: the file ends inside this line"},
      {body + "\nupper bernstein\n", "f.exp:5: blank line"},
      {std::string("p exp\0", 6), "f.exp:1:"},
  };
  for (const auto& [text, message] : cases) expect_error(ErrorKind::input, message, [&text = text] { read(text); });
}

}  // namespace
