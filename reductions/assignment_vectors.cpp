#include <subquad/core/error.hpp>
#include <subquad/core/stopwatch.hpp>
#include <subquad/reductions/assignment_vectors.hpp>

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

namespace subquad::reductions {

namespace {

/// Rows handed to a thread at a time: enough work to pay for the hand-over.
constexpr std::uint64_t kBlockWords = 1 << 15;

std::vector<sat::Literal> as_set(std::span<const sat::Literal> clause) {
  std::vector<sat::Literal> literals(clause.begin(), clause.end());
  std::sort(literals.begin(), literals.end());
  literals.erase(std::unique(literals.begin(), literals.end()), literals.end());
  return literals;
}

/// In a sorted set of literals, v and not-v are neighbours.
bool is_tautology(const std::vector<sat::Literal>& literals) {
  return std::adjacent_find(literals.begin(), literals.end(), [](sat::Literal a, sat::Literal b) { return b == ~a; }) !=
         literals.end();
}

void and_not(std::span<const std::uint64_t> source, std::span<const std::uint64_t> mask, std::span<std::uint64_t> out) {
  for (std::size_t w = 0; w < out.size(); ++w) out[w] = source[w] & ~mask[w];
}

void fill_ones(std::span<std::uint64_t> words, std::uint64_t last_word_mask) {
  std::fill(words.begin(), words.end(), ~std::uint64_t{0});
  if (!words.empty()) words.back() = last_word_mask;
}

}  // namespace

std::vector<std::uint64_t> select_clauses(const sat::Cnf& formula, const ClauseSelection& selection) {
  std::vector<std::uint64_t> kept;
  std::set<std::vector<sat::Literal>> seen;
  for (std::uint64_t c = 0; c < formula.num_clauses(); ++c) {
    if (selection.drop_tautologies || selection.drop_duplicates) {
      std::vector<sat::Literal> literals = as_set(formula.clause(c));
      if (selection.drop_tautologies && is_tautology(literals)) continue;
      if (selection.drop_duplicates && !seen.insert(std::move(literals)).second) continue;
    }
    kept.push_back(c);
  }
  return kept;
}

AssignmentVectors::AssignmentVectors(const sat::Cnf& formula, std::uint32_t first, std::uint64_t count,
                                     std::span<const std::uint64_t> kept)
    : count_(count), dim_(kept.size()) {
  require(first <= formula.num_variables() && count <= formula.num_variables() - first, ErrorKind::parameter,
          "part of {} variables from variable {}, the formula has {}", count, first, formula.num_variables());
  require(count < 64, ErrorKind::resource, "a part of {} variables has 2^{} assignments, more than 64 bits can number",
          count, count);
  masks_ = BitMatrix(2 * count, dim_);
  for (std::uint64_t c = 0; c < dim_; ++c) {
    require(kept[c] < formula.num_clauses(), ErrorKind::parameter, "clause {} kept, the formula has {}", kept[c],
            formula.num_clauses());
    for (const sat::Literal literal : formula.clause(kept[c])) {
      if (literal.variable() < first || literal.variable() - first >= count) continue;
      masks_.set(2 * (literal.variable() - first) + (literal.negative() ? 1U : 0U), c, true);
    }
  }
}

void AssignmentVectors::vector(std::uint64_t index, std::span<std::uint64_t> out) const {
  require(index < num_vectors(), ErrorKind::parameter, "assignment vector {} of {}", index, num_vectors());
  require(out.size() == words_per_vector(), ErrorKind::parameter, "assignment vector of {} words written to {}",
          words_per_vector(), out.size());
  fill_ones(out, masks_.last_word_mask());
  for (std::uint64_t j = 0; j < count_; ++j) and_not(out, (index >> j) & 1U ? positive(j) : negative(j), out);
}

std::uint64_t AssignmentVectors::for_each_vector(
    const std::function<void(std::uint64_t index, std::span<const std::uint64_t> words)>& visit) const {
  // stack row j: the AND over the part's variables j .. h-1 under the current index. Going from idx-1 to idx changes
  // the bits up to the lowest set bit of idx, so only the rows below it are made anew.
  BitMatrix stack(count_ + 1, dim_);
  fill_ones(stack.row(count_), stack.last_word_mask());
  std::uint64_t and_nots = 0;
  for (std::uint64_t index = 0; index < num_vectors(); ++index) {
    std::uint64_t j = index == 0 ? count_ : static_cast<std::uint64_t>(std::countr_zero(index)) + 1;
    and_nots += j * words_per_vector();
    while (j-- > 0) {
      and_not(std::as_const(stack).row(j + 1), (index >> j) & 1U ? positive(j) : negative(j), stack.row(j));
    }
    visit(index, std::as_const(stack).row(0));
  }
  return and_nots;
}

AssignmentVectors::Built AssignmentVectors::build(const Execution& execution) const {
  const std::uint64_t words = words_per_vector();
  require_memory({this, 1});
  Built built;
  built.rows = BitMatrix(num_vectors(), dim_);
  if (words == 0) return built;  // no coordinate: the rows are equal, empty and cost nothing, however many there are
  BitMatrix& rows = built.rows;
  fill_ones(rows.row(0), rows.last_word_mask());
  const std::uint64_t block = std::max<std::uint64_t>(1, kBlockWords / std::max<std::uint64_t>(1, words));
  const ProgressScope progress(execution, "assignment vectors", num_vectors() - 1);
  for (std::uint64_t j = 0; j < count_; ++j) {
    // Rows [0, 2^j) hold the vectors over variables 0 .. j-1. Value 1 of variable j goes to the new upper half, value 0
    // is done in place after it was read.
    const std::uint64_t half = std::uint64_t{1} << j;
    parallel_for(execution, half, block, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) {
        and_not(std::as_const(rows).row(i), positive(j), rows.row(half + i));
        and_not(std::as_const(rows).row(i), negative(j), rows.row(i));
      }
    });
    built.and_nots += 2 * half * words;
  }
  return built;
}

void require_memory(std::span<const AssignmentVectors> parts) {
  Count bytes = 0;
  Count vectors = 0;
  for (const AssignmentVectors& part : parts) {
    bytes += part.size_bytes();
    vectors += part.num_vectors();
  }
  const std::uint64_t available = available_memory_bytes();
  require(available == 0 || bytes <= available, ErrorKind::resource,
          "{} vectors of {} coordinates need {}, the machine has {} free", describe(vectors),
          parts.empty() ? 0 : parts.front().dim(), describe_bytes(bytes), describe_bytes(Count(available)));
}

}  // namespace subquad::reductions
