// Ledger: records what a run of a chain did, and computes what the chain implies (fine-grained accounting).
//
// Uses  the definition of fine-grained reductions (Vassilevska Williams, ICM 2018, Definition 2.1) in the explicit form
//       of docs/accounting.md. A finite run verifies the inequality for that run only; it is never asymptotic evidence.
#pragma once

#include <subquad/core/count.hpp>
#include <subquad/core/problem.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace subquad::reductions {

/// One kind of oracle call: `count` calls on instances of these sizes.
struct LedgerEntry {
  std::string problem;     ///< problem id
  Count num_a;             ///< queries / vectors on the left
  Count num_b;             ///< keys / vectors on the right
  Count dim;               ///< coordinates of a vector
  Count description_bits;  ///< size of the representation actually read
  Count count = 1;         ///< number of calls of these sizes
  double seconds = 0;      ///< measured wall time of all calls, 0 if not run
  std::string tag;         ///< oracle's name
};

/// A run (or a dry run) of a chain whose source problem has the trivial time base a(n) = 2^log2_base.
class Ledger {
 public:
  /// `log2_base`: log2 of the conjectured time of the source, for CNF-SAT on n variables: n. Finite, >= 0, else
  /// Error(parameter). With 0 (a formula without variables) there is no exponent to state: the functions that divide by
  /// it throw Error(parameter), and conclusion() says so in words.
  explicit Ledger(double log2_base);

  void add(LedgerEntry entry) { entries_.push_back(std::move(entry)); }
  /// Word operations that the reductions themselves did.
  void add_operations(const Count& operations) { operations_ += operations; }

  const std::vector<LedgerEntry>& entries() const noexcept { return entries_; }
  const Count& operations() const noexcept { return operations_; }
  double log2_base() const noexcept { return log2_base_; }

  /// log2 of ops + sum count max(nA,nB) min(nA,nB)^(alpha-1) max(1,dim)^gamma: a rectangular call is split into
  /// squares. A call with an empty side costs nothing; a ledger that cost nothing gives -infinity. An estimate
  /// (doubles, log domain). 1 <= alpha <= 2, gamma >= 0, else Error(parameter).
  double log2_cost(double alpha, double gamma) const;
  /// s = log2_cost / log2_base: the source would be solved in time base^s if the target took N^alpha dim^gamma.
  double implied_exponent(double alpha, double gamma) const;
  /// delta_run(eps) = 1 - log2(sum count (nA nB)^(1-eps)) / log2_base. 0 <= eps <= 1, else Error(parameter).
  double delta(double eps) const;

 private:
  double log2_base_;
  std::vector<LedgerEntry> entries_;
  Count operations_ = 0;
};

/// Does this run satisfy the inequality of the definition with the delta that a theorem claims?
struct DeltaCheck {
  double delta_run = 0;          ///< measured: Ledger::delta(eps)
  bool delta_holds = false;      ///< delta_run >= delta_claimed (up to 1e-9 for the rounding of logarithms)
  double log2_operations = 0;    ///< of the reductions' own work, -infinity if none was recorded
  double log2_allowed = 0;       ///< log2(constant) + (1 - delta_claimed) log2_base
  bool operations_hold = false;  ///< log2_operations <= log2_allowed (up to 1e-9)
};

/// Checks delta_run(eps) >= delta_claimed and operations <= constant * a^(1 - delta_claimed). constant >= 1.
DeltaCheck check_delta(const Ledger& ledger, double eps, double delta_claimed, double constant);

/// (log2 cost of `larger` - log2 cost of `smaller`) / (difference of their bases): cancels polynomial factors.
/// Throws Error(parameter) unless larger.log2_base() > smaller.log2_base() and both have a cost.
double marginal_exponent(const Ledger& smaller, const Ledger& larger, double alpha, double gamma);

/// The ledger's conclusion in words: the implied exponent at alpha, where it says something and where it is vacuous
/// (s >= 1: no better than trying all assignments), and that one run is no asymptotic evidence.
std::vector<std::string> conclusion(const Ledger& ledger, double alpha, double gamma);

}  // namespace subquad::reductions
