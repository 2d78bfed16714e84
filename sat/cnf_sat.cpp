// Satisfiability as a problem: sizes, digest, brute force and check straight from the definition, instance files.
#include <subquad/core/error.hpp>
#include <subquad/sat/cnf.hpp>
#include <subquad/sat/dimacs.hpp>

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <bit>
#include <limits>

namespace subquad::sat {

namespace {

constexpr std::uint32_t kBruteForceVariables = 30;
constexpr std::uint32_t kCheckVariables = 20;

// Assignments are numbered: bit v of the number is the value of variable v. A block is the 64 assignments that differ
// in the first six variables; kLowTruth[v] holds the values of variable v < 6 across a block.
constexpr std::uint32_t kBlockVariables = 6;
constexpr std::array<std::uint64_t, kBlockVariables> kLowTruth = {0xaaaaaaaaaaaaaaaaU, 0xccccccccccccccccU,
                                                                  0xf0f0f0f0f0f0f0f0U, 0xff00ff00ff00ff00U,
                                                                  0xffff0000ffff0000U, 0xffffffff00000000U};

/// One clause, ready to be evaluated on a block: which assignments of the block its first six variables satisfy, and
/// which bits of the block's number satisfy it altogether.
struct BlockClause {
  std::uint64_t low_truth = 0;
  std::uint64_t high_positive = 0;
  std::uint64_t high_negative = 0;
};

std::vector<BlockClause> block_clauses(const Cnf& formula) {
  std::vector<BlockClause> result(formula.num_clauses());
  for (std::uint64_t c = 0; c < formula.num_clauses(); ++c) {
    for (const Literal literal : formula.clause(c)) {
      const std::uint32_t v = literal.variable();
      if (v < kBlockVariables)
        result[c].low_truth |= literal.negative() ? ~kLowTruth[v] : kLowTruth[v];
      else
        (literal.negative() ? result[c].high_negative : result[c].high_positive) |= std::uint64_t{1}
                                                                                    << (v - kBlockVariables);
    }
  }
  return result;
}

/// Returns the assignments of the block that satisfy all clauses, as a mask.
std::uint64_t models_in_block(const std::vector<BlockClause>& clauses, std::uint64_t block, std::uint64_t alive) {
  for (const BlockClause& clause : clauses) {
    if ((block & clause.high_positive) != 0 || (~block & clause.high_negative) != 0) continue;
    alive &= clause.low_truth;
    if (alive == 0) break;
  }
  return alive;
}

bool is_satisfied(std::span<const Literal> clause, const Model& model) {
  for (const Literal literal : clause) {
    if (model[literal.variable()] != literal.negative()) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> CnfSat::size_fields() {
  return {"num_variables", "num_clauses", "max_width"};
}

Sizes CnfSat::size(const Instance& instance) {
  return {{"num_variables", Count(instance.num_variables())},
          {"num_clauses", Count(instance.num_clauses())},
          {"max_width", Count(instance.max_width())}};
}

Digest CnfSat::digest(const Instance& instance) {
  Digester digester;
  digester.add(kId).add(std::uint64_t{instance.num_variables()}).add(instance.num_clauses());
  for (std::uint64_t c = 0; c < instance.num_clauses(); ++c) digester.add_span(instance.clause(c));
  return digester.finish();
}

CnfSat::Answer CnfSat::solve_brute_force(const Instance& instance, const Execution& execution) {
  const std::uint32_t n = instance.num_variables();
  require(n <= kBruteForceVariables, ErrorKind::resource,
          "brute force on {} variables would try 2^{} assignments, at most 2^{} are allowed", n, n,
          kBruteForceVariables);
  const std::vector<BlockClause> clauses = block_clauses(instance);
  const std::uint64_t blocks = n <= kBlockVariables ? 1 : std::uint64_t{1} << (n - kBlockVariables);
  const std::uint64_t alive =
      n >= kBlockVariables ? ~std::uint64_t{0} : (std::uint64_t{1} << (std::uint64_t{1} << n)) - 1;

  // The smallest model is kept, so that the answer does not depend on the number of threads.
  constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  std::atomic<std::uint64_t> smallest{kNone};
  const ProgressScope progress(execution, "trying all assignments", blocks);
  constexpr std::uint64_t kBlocksPerRange = 1 << 12;
  parallel_for(execution, blocks, kBlocksPerRange, [&](std::uint64_t begin, std::uint64_t end) {
    if (begin * 64 > smallest.load(std::memory_order_relaxed)) return;
    for (std::uint64_t block = begin; block < end; ++block) {
      const std::uint64_t models = models_in_block(clauses, block, alive);
      if (models == 0) continue;
      const std::uint64_t found = block * 64 + static_cast<std::uint64_t>(std::countr_zero(models));
      std::uint64_t current = smallest.load(std::memory_order_relaxed);
      while (found < current && !smallest.compare_exchange_weak(current, found)) {
      }
      return;
    }
  });

  Answer answer;
  if (smallest != kNone) {
    answer.model.emplace(n);
    for (std::uint32_t v = 0; v < n; ++v) (*answer.model)[v] = ((smallest >> v) & 1U) != 0;
  }
  return answer;
}

Report CnfSat::check(const Instance& instance, const Answer& answer) {
  if (answer.model) {
    if (answer.model->size() != instance.num_variables()) {
      return {Verdict::refuted, fmt::format("the model has {} values, the formula has {} variables",
                                            answer.model->size(), instance.num_variables())};
    }
    for (std::uint64_t c = 0; c < instance.num_clauses(); ++c) {
      if (!is_satisfied(instance.clause(c), *answer.model))
        return {Verdict::refuted, fmt::format("the model does not satisfy clause {}", c + 1)};
    }
    return {Verdict::certified, fmt::format("the model satisfies all {} clauses", instance.num_clauses())};
  }
  for (std::uint64_t c = 0; c < instance.num_clauses(); ++c) {
    if (instance.clause(c).empty()) return {Verdict::certified, fmt::format("clause {} is empty", c + 1)};
  }
  if (instance.num_variables() > kCheckVariables) {
    return {Verdict::undecided,
            fmt::format("\"unsatisfiable\" is checked by brute force up to {} variables, the formula has {}",
                        kCheckVariables, instance.num_variables())};
  }
  if (solve_brute_force(instance, Execution{.threads = 1}).model)
    return {Verdict::refuted, "brute force found a model"};
  return {Verdict::certified, fmt::format("none of the 2^{} assignments is a model", instance.num_variables())};
}

CnfSat::Instance CnfSat::read_instance(std::istream& in, const std::string& name) {
  return read_dimacs(in, name, DimacsMode::lenient).formula;
}

void CnfSat::write_instance(std::ostream& out, const Instance& instance, const Provenance& provenance) {
  write_dimacs(out, instance, provenance);
}

}  // namespace subquad::sat
