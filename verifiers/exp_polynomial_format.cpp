#include <subquad/core/error.hpp>
#include <subquad/core/line_reader.hpp>
#include <subquad/core/record_reader.hpp>
#include <subquad/exact/exp_bracket.hpp>
#include <subquad/verifiers/exp_polynomial_format.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace subquad::verifiers {
namespace {

using exact::ErrorMeasure;
using exact::Rational;

constexpr std::string_view kUsage = "p exp-polynomial relative|absolute A B DEGREE";
/// A million intervals would take days to check; a header with more is a mistake.
constexpr std::int64_t kLargestDegree = 1'000'000;

Rational parse_number(const RecordReader& reader, std::string_view word) {
  const std::optional<Rational> value = exact::parse_rational(word);
  if (!value) reader.fail("{}, expected an exact number such as -3/8, 12 or 1e-6", quoted(word));
  return *value;
}

int parse_degree(const RecordReader& reader, std::string_view word) {
  const std::optional<std::int64_t> value = parse_int(word);
  if (!value || *value < 0 || *value > kLargestDegree) {
    reader.fail("degree {}, expected a whole number from 0 to {}", quoted(word), kLargestDegree);
  }
  return static_cast<int>(*value);
}

/// Reads the next line as `KEY WORD..` with so many words behind the key.
std::vector<std::string_view> read_item(RecordReader& reader, std::string_view key, std::size_t count,
                                        std::string_view usage) {
  reader.need(fmt::format("'{}'", usage));
  std::vector<std::string_view> words = reader.words();
  if (words.empty() || words[0] != key || words.size() != count + 1)
    reader.fail("{}, expected '{}'", quoted(reader.line()), usage);
  words.erase(words.begin());
  return words;
}

void read_header(RecordReader& reader, ExpPolynomialClaim& claim, int& degree) {
  const std::vector<std::string_view> words = read_record_header(reader, "exp-polynomial", kUsage);
  if (words.size() != 6) reader.fail("header with {} words, expected '{}'", words.size(), kUsage);
  if (words[2] != "relative" && words[2] != "absolute") {
    reader.fail("measure {}, expected relative or absolute", quoted(words[2]));
  }
  claim.problem.measure = words[2] == "relative" ? ErrorMeasure::relative : ErrorMeasure::absolute;
  claim.problem.a = parse_number(reader, words[3]);
  claim.problem.b = parse_number(reader, words[4]);
  if (claim.problem.a > claim.problem.b)
    reader.fail("the interval [{}, {}] is empty, expected the left end first", words[3], words[4]);
  if (claim.problem.radius() > exact::kMaxExpArgument) {
    reader.fail("the interval reaches beyond {}, where e^x is not bracketed", exact::kMaxExpArgument);
  }
  degree = parse_degree(reader, words[5]);
}

void read_polynomial(RecordReader& reader, ExpPolynomialClaim& claim, int degree) {
  claim.epsilon = parse_number(reader, read_item(reader, "epsilon", 1, "epsilon NUMBER")[0]);
  if (claim.epsilon <= 0) reader.fail("{}, expected more than 0", quoted(reader.line()));
  if (claim.problem.measure == ErrorMeasure::relative && claim.epsilon >= 1) {
    reader.fail("{}, expected less than 1: the polynomial 0 has relative error 1", quoted(reader.line()));
  }
  std::vector<Rational> coefficients;
  for (int k = 0; k <= degree; ++k) {
    const std::string usage = fmt::format("a NUMBER: coefficient {} of 0 to {}", k, degree);
    coefficients.push_back(parse_number(reader, read_item(reader, "a", 1, usage)[0]));
  }
  if (degree > 0 && coefficients.back() == 0)
    reader.fail("the leading coefficient is 0, expected a polynomial of degree {}", degree);
  claim.polynomial = exact::Polynomial(std::move(coefficients));
}

void read_upper(RecordReader& reader, ExpPolynomialClaim& claim, int degree) {
  const std::string_view proof = read_item(reader, "upper", 1, "upper alternation|bernstein")[0];
  if (proof != "alternation" && proof != "bernstein")
    reader.fail("proof {}, expected alternation or bernstein", quoted(proof));
  claim.proof = proof == "alternation" ? ExpUpperProof::alternation : ExpUpperProof::bernstein;
  if (claim.proof == ExpUpperProof::bernstein) return;
  for (int k = 0; k < degree; ++k) {
    const std::string usage = fmt::format("k LOW HIGH: critical interval {} of {}", k + 1, degree);
    const std::vector<std::string_view> words = read_item(reader, "k", 2, usage);
    claim.intervals.push_back({parse_number(reader, words[0]), parse_number(reader, words[1])});
  }
}

}  // namespace

ExpPolynomialClaim read_exp_polynomial(std::istream& in, const std::string& name) {
  RecordReader reader(in, name);
  ExpPolynomialClaim claim;
  int degree = 0;
  read_header(reader, claim, degree);
  read_polynomial(reader, claim, degree);
  read_upper(reader, claim, degree);
  if (!reader.next()) return claim;
  const std::vector<std::string_view> words = reader.words();
  if (words.empty() || words[0] != "lower" || words.size() != 3) {
    reader.fail("{}, expected 'lower DEGREE BOUND' or the end of the file", quoted(reader.line()));
  }
  ExpLowerClaim lower;
  lower.degree = parse_degree(reader, words[1]);
  lower.bound = parse_number(reader, words[2]);
  for (int i = 0; i < lower.degree + 2; ++i) {
    const std::string usage = fmt::format("x NUMBER: point {} of {}", i + 1, lower.degree + 2);
    lower.points.push_back(parse_number(reader, read_item(reader, "x", 1, usage)[0]));
  }
  claim.lower = std::move(lower);
  reader.expect_end("the last point");
  return claim;
}

void write_exp_polynomial(std::ostream& out, const ExpPolynomialClaim& claim, const Provenance& provenance) {
  write_comment_lines(out, provenance);
  const int degree = std::max(claim.polynomial.degree(), 0);
  out << fmt::format("p exp-polynomial {} {} {} {}\n", to_string(claim.problem.measure), claim.problem.a.str(),
                     claim.problem.b.str(), degree);
  out << fmt::format("epsilon {}\n", claim.epsilon.str());
  for (int k = 0; k <= degree; ++k) out << fmt::format("a {}\n", claim.polynomial.coefficient(k).str());
  if (claim.proof == ExpUpperProof::bernstein) {
    out << "upper bernstein\n";
  } else {
    out << "upper alternation\n";
    for (const exact::CriticalInterval& interval : claim.intervals) {
      out << fmt::format("k {} {}\n", interval.low.str(), interval.high.str());
    }
  }
  if (!claim.lower) return;
  out << fmt::format("lower {} {}\n", claim.lower->degree, claim.lower->bound.str());
  for (const Rational& x : claim.lower->points) out << fmt::format("x {}\n", x.str());
}

}  // namespace subquad::verifiers
