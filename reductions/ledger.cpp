#include <subquad/core/error.hpp>
#include <subquad/reductions/ledger.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace subquad::reductions {

namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-9;  // sums of a few logarithms in double are better than this by far

double log2_or_minus_infinity(const Count& x) {
  return x <= 0 ? kMinusInfinity : log2_estimate(x);
}

/// log2(2^a + 2^b) without leaving the log domain: the costs overflow a double from n = 1024 on.
double log2_add(double a, double b) {
  const double large = std::max(a, b);
  const double small = std::min(a, b);
  if (small == kMinusInfinity) return large;
  return large + std::log2(1.0 + std::exp2(small - large));
}

void require_exponents(double alpha, double gamma) {
  require(alpha >= 1.0 && alpha <= 2.0, ErrorKind::parameter, "ledger: alpha = {}, expected 1 <= alpha <= 2", alpha);
  require(gamma >= 0.0 && std::isfinite(gamma), ErrorKind::parameter, "ledger: gamma = {}, expected gamma >= 0", gamma);
}

void require_base(const Ledger& ledger) {
  require(ledger.log2_base() > 0, ErrorKind::parameter,
          "ledger: the source's trivial time is 2^0 = 1, so there is no exponent to state");
}

/// log2 of what the oracle calls cost, without the reductions' own operations.
double log2_oracle_cost(const Ledger& ledger, double alpha, double gamma) {
  double total = kMinusInfinity;
  for (const LedgerEntry& entry : ledger.entries()) {
    const Count& small = std::min(entry.num_a, entry.num_b);
    const Count& large = std::max(entry.num_a, entry.num_b);
    if (small <= 0 || entry.count <= 0) continue;
    const double log2_dim = entry.dim <= 1 ? 0.0 : log2_estimate(entry.dim);
    total = log2_add(total, log2_estimate(entry.count) + log2_estimate(large) + (alpha - 1.0) * log2_estimate(small) +
                                gamma * log2_dim);
  }
  return total;
}

std::string as_power(double log2_value) {
  return log2_value == kMinusInfinity ? std::string("0") : fmt::format("2^{:.2f}", log2_value);
}

std::string called_problems(const Ledger& ledger) {
  std::set<std::string> names;
  for (const LedgerEntry& entry : ledger.entries()) names.insert(entry.problem);
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " and ") + name;
  return text;
}

}  // namespace

Ledger::Ledger(double log2_base) : log2_base_(log2_base) {
  require(log2_base >= 0 && std::isfinite(log2_base), ErrorKind::parameter,
          "ledger: log2 of the source's trivial time is {}, expected a finite number >= 0", log2_base);
}

double Ledger::log2_cost(double alpha, double gamma) const {
  require_exponents(alpha, gamma);
  return log2_add(log2_or_minus_infinity(operations_), log2_oracle_cost(*this, alpha, gamma));
}

double Ledger::implied_exponent(double alpha, double gamma) const {
  require_base(*this);
  return log2_cost(alpha, gamma) / log2_base_;
}

double Ledger::delta(double eps) const {
  require(eps >= 0.0 && eps <= 1.0, ErrorKind::parameter, "ledger: eps = {}, expected 0 <= eps <= 1", eps);
  require_base(*this);
  double total = kMinusInfinity;
  for (const LedgerEntry& entry : entries_) {
    if (entry.num_a <= 0 || entry.num_b <= 0 || entry.count <= 0) continue;
    const double log2_pairs = log2_estimate(entry.num_a) + log2_estimate(entry.num_b);
    total = log2_add(total, log2_estimate(entry.count) + (1.0 - eps) * log2_pairs);
  }
  return 1.0 - total / log2_base_;
}

DeltaCheck check_delta(const Ledger& ledger, double eps, double delta_claimed, double constant) {
  require(constant >= 1.0 && std::isfinite(constant), ErrorKind::parameter, "ledger: constant = {}, expected >= 1",
          constant);
  DeltaCheck check;
  check.delta_run = ledger.delta(eps);
  check.delta_holds = check.delta_run >= delta_claimed - kRounding;
  check.log2_operations = log2_or_minus_infinity(ledger.operations());
  check.log2_allowed = std::log2(constant) + (1.0 - delta_claimed) * ledger.log2_base();
  check.operations_hold = check.log2_operations <= check.log2_allowed + kRounding;
  return check;
}

double marginal_exponent(const Ledger& smaller, const Ledger& larger, double alpha, double gamma) {
  require(larger.log2_base() > smaller.log2_base(), ErrorKind::parameter,
          "marginal exponent: bases 2^{} and 2^{}, expected the second to be larger", smaller.log2_base(),
          larger.log2_base());
  const double low = smaller.log2_cost(alpha, gamma);
  const double high = larger.log2_cost(alpha, gamma);
  require(std::isfinite(low) && std::isfinite(high), ErrorKind::parameter,
          "marginal exponent: a ledger without any cost has no slope");
  return (high - low) / (larger.log2_base() - smaller.log2_base());
}

std::vector<std::string> conclusion(const Ledger& ledger, double alpha, double gamma) {
  require_exponents(alpha, gamma);
  const double n = ledger.log2_base();
  const double cost = ledger.log2_cost(alpha, gamma);
  if (cost == kMinusInfinity) return {"nothing is recorded: no oracle call and no operation, so nothing follows"};

  std::vector<std::string> lines;
  lines.push_back(
      fmt::format("modelled cost: {} steps = {} for the oracle calls at N^{:g} dim^{:g} + {} for the reductions",
                  as_power(cost), as_power(log2_oracle_cost(ledger, alpha, gamma)), alpha, gamma,
                  as_power(log2_or_minus_infinity(ledger.operations()))));
  if (n == 0) {
    lines.emplace_back("vacuous: the source's trivial time is 2^0 = 1 step, so there is no exponent to state");
  } else {
    const double s = ledger.implied_exponent(alpha, gamma);
    const std::string problems = called_problems(ledger);
    lines.push_back(
        fmt::format("implied exponent s = {:.3f}: if {} took time N^{:g} dim^{:g}, this source (trivial time 2^{:g}) "
                    "would take 2^({:.3f} * {:g})",
                    s, problems.empty() ? "nothing more" : problems, alpha, gamma, n, s, n));
    if (!(s < 1.0)) {
      lines.push_back(
          fmt::format("vacuous at this size: s >= 1 is no better than the trivial 2^{:g}; the polynomial factors "
                      "outweigh what the oracle saves",
                      n));
    } else {
      lines.push_back(
          fmt::format("not vacuous at this size: s < 1 beats the trivial 2^{:g} by a factor of 2^{:.2f}", n, n - cost));
    }
    if (alpha == 2.0)
      lines.emplace_back("alpha = 2 is the time of trying all pairs: no saving is assumed, so none can follow");
    if (!ledger.entries().empty()) {
      const double eps = 1.0 - alpha / 2.0;
      const double delta = ledger.delta(eps);
      lines.push_back(
          fmt::format("leading exponent (alpha/2) n: the calls alone, (nA nB)^(alpha/2) without dim and constants, are "
                      "2^({:.4f} * {:g}); delta of this run at eps = 1 - alpha/2 = {:g} is {:.4f}",
                      1.0 - delta, n, eps, delta));
    }
  }
  lines.emplace_back(
      "this verifies the inequality for this run only; one finite run says nothing about growth (compare the "
      "marginal exponent over a sweep)");
  return lines;
}

}  // namespace subquad::reductions
