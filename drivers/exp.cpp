// subquad exp: polynomials for e^x with certificates, and certified minimal degrees.
#include "exit_status.hpp"
#include "exp_verification.hpp"
#include "output_writing.hpp"
#include "verbs.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/line_reader.hpp>
#include <subquad/exact/exp_approximants.hpp>
#include <subquad/exact/exp_certification.hpp>
#include <subquad/exact/exp_degree.hpp>
#include <subquad/verifiers/exp_polynomial_format.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iostream>
#include <optional>
#include <sstream>

namespace subquad::drivers {
namespace {

using exact::ErrorMeasure;
using exact::ExpProblem;
using exact::Rational;
using exact::Rounding;
using verifiers::ExpLowerClaim;
using verifiers::ExpPolynomialClaim;
using verifiers::ExpUpperProof;

struct ExpOptions {
  std::string interval, relative, absolute, measure, construction = "minimax", check, output = "-";
  std::optional<int> degree;
  int digits = 16;
  bool certify = false;
  bool minimal = false;
};

Rational parse(const std::string& text, const char* option) {
  const auto value = exact::parse_rational(text);
  require(value.has_value(), ErrorKind::parameter, "{}: {}, expected an exact number such as -3/8, 12 or 1e-6", option,
          subquad::quoted(text));
  return *value;
}

ExpProblem parse_problem(const ExpOptions& options) {
  require(!options.interval.empty(), ErrorKind::parameter, "exp: expected --interval A,B (or --check FILE)");
  const auto comma = options.interval.find(',');
  require(comma != std::string::npos && options.interval.find(',', comma + 1) == std::string::npos,
          ErrorKind::parameter, "--interval: {}, expected A,B such as -4,4", subquad::quoted(options.interval));
  ExpProblem problem;
  problem.a = parse(options.interval.substr(0, comma), "--interval");
  problem.b = parse(options.interval.substr(comma + 1), "--interval");
  const bool absolute = !options.absolute.empty() || options.measure == "absolute";
  problem.measure = absolute ? ErrorMeasure::absolute : ErrorMeasure::relative;
  validate(problem);
  return problem;
}

std::optional<Rational> parse_epsilon(const ExpOptions& options, const ExpProblem& problem) {
  const std::string& text = options.relative.empty() ? options.absolute : options.relative;
  if (text.empty()) return std::nullopt;
  const Rational epsilon = parse(text, options.relative.empty() ? "--absolute" : "--relative");
  validate_epsilon(problem, epsilon);
  return epsilon;
}

ExpPolynomialClaim claim_of(const exact::CertifiedExpPolynomial& p, const Rational& epsilon) {
  return {p.problem, p.polynomial, epsilon, ExpUpperProof::alternation, p.intervals, std::nullopt};
}

/// The least degree for epsilon, or a given degree.
ExpPolynomialClaim approximate(const ExpProblem& problem, const Rational& epsilon, const ExpOptions& options,
                               const Execution& execution) {
  if (!options.degree) {
    const exact::CertifiedMinimalDegree m = certified_minimal_degree(problem, epsilon, execution);
    ExpPolynomialClaim claim = claim_of(m.approximant, epsilon);
    if (m.lower) claim.lower = ExpLowerClaim{m.lower->degree, m.lower->bound, m.lower->points};
    return claim;
  }
  const auto p = certified_approximant(problem, epsilon, *options.degree, execution);
  if (p) {
    ExpPolynomialClaim claim = claim_of(*p, epsilon);
    if (options.minimal && *options.degree > 0) {
      const auto lower = certified_lower_bound(problem, epsilon, *options.degree - 1, execution);
      if (!lower) {
        const bool smaller = certified_approximant(problem, epsilon, *options.degree - 1, execution).has_value();
        fail(smaller ? ErrorKind::refuted : ErrorKind::undecided, "degree {} is {} the least for {}: degree {} {}",
             *options.degree, smaller ? "not" : "not proved", to_decimal(epsilon, 6, Rounding::nearest),
             *options.degree - 1, smaller ? "is proved to reach it too" : "is neither proved to reach it nor not to");
      }
      claim.lower = ExpLowerClaim{lower->degree, lower->bound, lower->points};
    }
    return claim;
  }
  const auto lower = certified_lower_bound(problem, epsilon, *options.degree, execution);
  require(!lower, ErrorKind::refuted, "no polynomial of degree {} reaches {}: proved E_{} >= {}", *options.degree,
          to_decimal(epsilon, 6, Rounding::nearest), *options.degree,
          to_decimal(lower ? lower->bound : Rational(0), 17, Rounding::down));
  fail(ErrorKind::undecided, "degree {} is neither proved to reach epsilon nor not to", *options.degree);
}

/// A degree without epsilon: the least error of that degree, enclosed.
ExpPolynomialClaim enclose(const ExpProblem& problem, const ExpOptions& options, const Execution& execution) {
  const exact::MinimaxEnclosure e = enclose_minimax_error(problem, *options.degree, options.digits, execution);
  // The claim is strict: a hair above the proved bound.
  const Rational epsilon = round_to_bits(e.upper.error_bound * (1 + exact::power_of_two(-4 * options.digits - 16)),
                                         4 * options.digits + 24, Rounding::up);
  ExpPolynomialClaim claim = claim_of(e.upper, epsilon);
  claim.lower = ExpLowerClaim{e.lower.degree, e.lower.bound, e.lower.points};
  return claim;
}

/// A closed-form construction of a given degree. Its error does not alternate in general: the proof is by Bernstein
/// coefficients.
ExpPolynomialClaim construct(const ExpProblem& problem, const std::optional<Rational>& epsilon,
                             const ExpOptions& options) {
  require(options.degree.has_value() && epsilon.has_value(), ErrorKind::parameter,
          "--construction {}: expected --degree and an epsilon", options.construction);
  const std::int64_t bits = 128 + 4 * exact::ceil_integer(problem.radius()).convert_to<std::int64_t>() +
                            std::max<std::int64_t>(0, -exact::floor_log2(*epsilon));
  const int degree = *options.degree;
  const std::string& name = options.construction;
  exact::Polynomial p;
  if (name == "nodes") {
    p = node_interpolation(problem, degree, bits);
  } else if (name == "chebyshev-nodes") {
    p = chebyshev_interpolation(problem, degree, bits);
  } else if (name == "chebyshev-series") {
    p = chebyshev_truncation(problem, degree, bits);
  } else {
    p = exact::taylor(problem.centre(), degree, bits);
  }
  return {problem, round_coefficients(p, bits), *epsilon, ExpUpperProof::bernstein, {}, std::nullopt};
}

nlohmann::ordered_json summary(const ExpPolynomialClaim& claim, const ExpVerification& verification,
                               const std::string& text) {
  nlohmann::ordered_json json = {{"schema", "subquad.exp/1"},
                                 {"version", version()},
                                 {"verdict", to_string(verification.report.verdict)},
                                 {"reason", verification.report.reason}};
  json.update(verification.evidence);
  json["coefficient_bits"] = claim.polynomial.total_bits();
  json["coefficients"] = nlohmann::ordered_json::array();
  for (const Rational& c : claim.polynomial.coefficients()) json["coefficients"].push_back(c.str());
  json["certificate"] = text;
  return json;
}

int check_file(const ExpOptions& options, VerbCommand& command) {
  const ExpVerification verification = verify_exp_file(options.check);
  const int status = exit_status(verification.report.verdict);
  if (command.shared.json) {
    nlohmann::ordered_json json = {{"schema", "subquad.exp/1"},
                                   {"version", version()},
                                   {"verdict", to_string(verification.report.verdict)},
                                   {"reason", verification.report.reason}};
    json.update(verification.evidence);
    json["exit_status"] = status;
    std::cout << json.dump(2) << '\n';
  } else {
    std::cout << to_string(verification.report.verdict) << ": " << verification.report.reason << '\n';
  }
  return status;
}

void add_options(VerbCommand& command, ExpOptions& options) {
  auto& app = command.app;
  app.add_option("--interval", options.interval, "Interval A,B; numbers are exact: -4, 0.1, 1e-3, 22/7")
      ->type_name("A,B");
  auto* relative =
      app.add_option("--relative", options.relative, "Allowed relative error, 0 < EPS < 1")->type_name("EPS");
  auto* absolute = app.add_option("--absolute", options.absolute, "Allowed absolute error, EPS > 0")
                       ->type_name("EPS")
                       ->excludes(relative);
  app.add_option("--measure", options.measure, "Without an epsilon: relative (default) or absolute")
      ->check(CLI::IsMember({"relative", "absolute"}))
      ->excludes(relative)
      ->excludes(absolute);
  app.add_option("--degree", options.degree,
                 "This degree; without an epsilon its least error is enclosed (default: the least degree)")
      ->type_name("G");
  app.add_option("--digits", options.digits, "Digits of the enclosure")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_flag("--minimal", options.minimal, "With --degree: also prove that no smaller degree does");
  app.add_flag("--certify", options.certify, "Let the verifier judge the result before it is written");
  app.add_option("--construction", options.construction,
                 "With --degree and an epsilon: minimax, nodes (Kepler's or Chebyshev's), "
                 "chebyshev-nodes, chebyshev-series, taylor")
      ->check(CLI::IsMember({"minimax", "nodes", "chebyshev-nodes", "chebyshev-series", "taylor"}))
      ->capture_default_str();
  app.add_option("--check", options.check, "Judge an exp-polynomial file; -: standard input")->type_name("FILE");
  app.add_option("-o,--output", options.output, "Where polynomial and certificate go")->capture_default_str();
}

}  // namespace

int run_exp(const Invocation& invocation) {
  VerbCommand command(
      invocation, "Polynomials for e^x: rational coefficients, a certificate, the certified least degree.",
      {Effective::json, Effective::dry_run},
      {{"The least degree for an error: --interval A,B --relative EPS. Both halves are proved by integer arithmetic: a",
        "polynomial of that degree within EPS, and that none of smaller degree is.",
        "The least error of a degree: --interval A,B --degree G, enclosed to --digits.",
        "The output is an exp-polynomial file (docs/formats.md), which anybody can check again, also --check."},
       {"0 done, certified", "1 refuted (--check; or the degree is proved too small)", "2 bad usage or input",
        "3 resource guard", "4 undecided"},
       {"subquad exp --interval -4,4 --relative 1e-6 -o exp.poly", "subquad exp --check exp.poly"}});
  ExpOptions options;
  add_options(command, options);
  if (!command.parse()) return kDone;
  if (!options.check.empty()) {
    require(options.interval.empty(), ErrorKind::parameter, "--check judges a file: --interval has no place beside it");
    return check_file(options, command);
  }
  const ExpProblem problem = parse_problem(options);
  const std::optional<Rational> epsilon = parse_epsilon(options, problem);
  require(epsilon || options.degree, ErrorKind::parameter,
          "exp: expected --relative EPS, --absolute EPS or --degree G");
  require(epsilon || !options.minimal, ErrorKind::parameter, "--minimal: expected --relative EPS or --absolute EPS");
  require(!options.degree || *options.degree >= 0, ErrorKind::parameter, "--degree: {}, expected at least 0",
          options.degree.value_or(0));
  if (command.shared.dry_run) {
    const int degree = options.degree ? *options.degree : predicted_degree(problem, *epsilon);
    command.note("{}: {} degree {}", describe(problem), options.degree ? "given" : "predicted", degree);
    if (command.shared.json) {
      const nlohmann::ordered_json plan = {
          {"schema", "subquad.exp/1"}, {"version", version()}, {"predicted_degree", degree}, {"dry_run", true}};
      std::cout << plan.dump(2) << '\n';
    }
    return kDone;
  }
  ExpPolynomialClaim claim;
  if (options.construction != "minimax") {
    claim = construct(problem, epsilon, options);
  } else {
    claim = epsilon ? approximate(problem, *epsilon, options, command.execution())
                    : enclose(problem, options, command.execution());
  }
  // A construction has been proved nothing about yet; the others carry their proof, and --certify has it judged again.
  const bool judged = options.certify || command.shared.json || options.construction != "minimax";
  ExpVerification verification;
  if (judged) {
    verification = verify_exp_claim(claim);
    if (verification.report.verdict == Verdict::certified) command.note("certified: {}", verification.report.reason);
  } else {
    command.note("{}: degree {}{}, {} bits of coefficients; error < {}", describe(problem), claim.polynomial.degree(),
                 claim.lower && claim.lower->degree == claim.polynomial.degree() - 1 ? " (the least)" : "",
                 claim.polynomial.total_bits(), to_decimal(claim.epsilon, 17, Rounding::up));
    if (claim.lower) {
      command.note("proved: E_{} >= {}", claim.lower->degree, to_decimal(claim.lower->bound, 17, Rounding::down));
    }
  }
  if (judged && verification.report.verdict != Verdict::certified) {
    const ErrorKind kind = verification.report.verdict == Verdict::refuted ? ErrorKind::refuted : ErrorKind::undecided;
    fail(kind, "{} of degree {}: {}", options.construction, claim.polynomial.degree(), verification.report.reason);
  }
  std::ostringstream text;
  write_exp_polynomial(text, claim, Provenance{command.command_line, std::nullopt, "", ""});
  if (command.shared.json) std::cout << summary(claim, verification, text.str()).dump(2) << '\n';
  if (!(command.shared.json && options.output == "-")) {
    write_output(options.output, [&](std::ostream& out) { out << text.str(); });
  }
  return kDone;
}

}  // namespace subquad::drivers
