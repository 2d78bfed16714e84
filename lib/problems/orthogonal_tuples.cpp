#include <subquad/core/error.hpp>
#include <subquad/problems/orthogonal_tuples.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>

namespace subquad::problems {

namespace {

using Visit = std::function<bool(const std::vector<std::uint64_t>& indices)>;

/// Walks the tuples that begin with a given vector of part 0, in lexicographic order, with the AND of each prefix.
class TupleWalk {
 public:
  TupleWalk(const OrthogonalTuples::Instance& instance, const Execution& execution)
      : parts_(instance.parts),
        execution_(execution),
        words_(parts_.front().words_per_row()),
        prefix_(parts_.size() * words_),
        indices_(parts_.size()) {}

  /// Returns false if `visit` did, or `give_up` became true.
  bool from(std::uint64_t first, const Visit& visit, const std::function<bool()>& give_up) {
    const std::span<const std::uint64_t> row = parts_[0].row(first);
    std::copy(row.begin(), row.end(), prefix_.begin());
    indices_[0] = first;
    return descend(1, visit, give_up);
  }

 private:
  bool descend(std::size_t part, const Visit& visit, const std::function<bool()>& give_up) {
    const std::uint64_t* const before = prefix_.data() + (part - 1) * words_;
    if (part == parts_.size()) {
      const bool zero = std::all_of(before, before + words_, [](std::uint64_t word) { return word == 0; });
      return !zero || visit(indices_);
    }
    for (std::uint64_t i = 0; i < parts_[part].rows(); ++i) {
      if (++steps_ % kStepsBetweenChecks == 0) {
        execution_.check_stop();
        if (give_up()) return false;
      }
      const std::span<const std::uint64_t> row = parts_[part].row(i);
      for (std::uint64_t w = 0; w < words_; ++w) prefix_[part * words_ + w] = before[w] & row[w];
      indices_[part] = i;
      if (!descend(part + 1, visit, give_up)) return false;
    }
    return true;
  }

  static constexpr std::uint64_t kStepsBetweenChecks = 1 << 16;

  const std::vector<BitMatrix>& parts_;
  const Execution& execution_;
  std::uint64_t words_;
  std::vector<std::uint64_t> prefix_;  // parts x words: AND of the vectors chosen so far
  std::vector<std::uint64_t> indices_;
  std::uint64_t steps_ = 0;
};

}  // namespace

void validate(const OrthogonalTuples::Instance& instance) {
  require(!instance.parts.empty(), ErrorKind::parameter, "orthogonal tuples: no part, expected at least 1");
  const std::uint64_t dim = instance.parts.front().cols();
  for (std::size_t q = 0; q < instance.parts.size(); ++q)
    require(instance.parts[q].cols() == dim, ErrorKind::parameter,
            "orthogonal tuples: part {} has dimension {}, part 1 has {}, expected equal", q + 1,
            instance.parts[q].cols(), dim);
}

std::vector<std::string> OrthogonalTuples::size_fields() {
  return {"num_parts", "max_part", "num_tuples", "dim"};
}

Sizes OrthogonalTuples::size(const Instance& instance) {
  validate(instance);
  Count largest = 0;
  Count tuples = 1;
  for (const BitMatrix& part : instance.parts) {
    largest = std::max(largest, Count(part.rows()));
    tuples *= part.rows();
  }
  return {{"num_parts", instance.parts.size()},
          {"max_part", largest},
          {"num_tuples", tuples},
          {"dim", instance.parts.front().cols()}};
}

Digest OrthogonalTuples::digest(const Instance& instance) {
  validate(instance);
  Digester digester;
  digester.add(kId).add(static_cast<std::uint64_t>(instance.parts.size())).add(instance.parts.front().cols());
  for (const BitMatrix& part : instance.parts) digester.add(part.rows()).add_span(part.words());
  return digester.finish();
}

OrthogonalTuples::Answer OrthogonalTuples::solve_brute_force(const Instance& instance, const Execution& execution) {
  validate(instance);
  const std::uint64_t rows = instance.parts.front().rows();
  const ProgressScope progress(execution, "orthogonal tuples", rows);
  std::atomic<std::uint64_t> best_row{rows};
  std::mutex mutex;
  std::vector<std::uint64_t> best;
  parallel_for(execution, rows, 1, [&](std::uint64_t begin, std::uint64_t) {
    const auto too_late = [&] { return begin >= best_row.load(std::memory_order_relaxed); };
    if (too_late()) return;
    TupleWalk(instance, execution)
        .from(
            begin,
            [&](const std::vector<std::uint64_t>& indices) {
              const std::lock_guard lock(mutex);
              if (begin < best_row.load()) {
                best_row.store(begin);
                best = indices;
              }
              return false;
            },
            too_late);
  });
  Answer answer;
  if (!best.empty()) answer.witness = best;
  return answer;
}

Report OrthogonalTuples::check(const Instance& instance, const Answer& answer) {
  validate(instance);
  const std::vector<BitMatrix>& parts = instance.parts;
  if (!answer.witness) {
    const Answer truth = solve_brute_force(instance);
    if (!truth.witness) return {Verdict::certified, "no orthogonal tuple, as claimed (all tuples tested)"};
    return {Verdict::refuted,
            fmt::format("claims no orthogonal tuple, but ({}) is orthogonal", fmt::join(*truth.witness, ", "))};
  }
  const std::vector<std::uint64_t>& witness = *answer.witness;
  if (witness.size() != parts.size())
    return {Verdict::refuted,
            fmt::format("the witness has {} indices, expected one for each of {} parts", witness.size(), parts.size())};
  for (std::size_t q = 0; q < parts.size(); ++q)
    if (witness[q] >= parts[q].rows())
      return {Verdict::refuted, fmt::format("index {} of part {} is out of range: the part has {} vectors", witness[q],
                                            q + 1, parts[q].rows())};
  for (std::uint64_t c = 0; c < parts.front().cols(); ++c) {
    bool all = true;
    for (std::size_t q = 0; q < parts.size(); ++q) all = all && parts[q].get(witness[q], c);
    if (all)
      return {Verdict::refuted,
              fmt::format("the vectors ({}) share a one at coordinate {}", fmt::join(witness, ", "), c)};
  }
  return {Verdict::certified, fmt::format("({}) is orthogonal", fmt::join(witness, ", "))};
}

void for_each_orthogonal_tuple(const OrthogonalTuples::Instance& instance, const Visit& visit) {
  validate(instance);
  const Execution execution;
  TupleWalk walk(instance, execution);
  for (std::uint64_t i = 0; i < instance.parts.front().rows(); ++i)
    if (!walk.from(i, visit, [] { return false; })) return;
}

}  // namespace subquad::problems
