#include <subquad/core/error.hpp>
#include <subquad/problems/orthogonal_vectors.hpp>

#include <algorithm>
#include <atomic>
#include <numeric>

namespace subquad::problems {

namespace {

constexpr std::uint64_t kRowsOfA = 64;         // rows of A that share a pass over B
constexpr std::uint64_t kTileWords = 1 << 11;  // 16 KiB of B: the tile stays in the first-level cache for all of them

std::uint64_t tile_rows(const BitMatrix& b) {
  return std::max<std::uint64_t>(1, kTileWords / std::max<std::uint64_t>(1, b.words_per_row()));
}

/// Smallest j in [begin, end) with <a, b_j> = 0, or end. Eight rows are tested between two branches.
template <int kWords>
std::uint64_t first_orthogonal(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t words, std::uint64_t begin,
                               std::uint64_t end) {
  const std::uint64_t width = kWords == 0 ? words : kWords;
  const auto common = [&](std::uint64_t j) {
    std::uint64_t any = 0;
    for (std::uint64_t w = 0; w < width; ++w) any |= a[w] & b[j * width + w];
    return any;
  };
  std::uint64_t j = begin;
  for (; j + 8 <= end; j += 8) {
    bool hit = false;
    for (std::uint64_t k = 0; k < 8; ++k) hit |= common(j + k) == 0;
    if (hit) break;
  }
  for (; j < end; ++j)
    if (common(j) == 0) return j;
  return end;
}

using FirstOrthogonal = std::uint64_t (*)(const std::uint64_t*, const std::uint64_t*, std::uint64_t, std::uint64_t,
                                          std::uint64_t);

FirstOrthogonal choose_scan(std::uint64_t words) {
  switch (words) {
    case 1:
      return first_orthogonal<1>;
    case 2:
      return first_orthogonal<2>;
    case 3:
      return first_orthogonal<3>;
    case 4:
      return first_orthogonal<4>;
    default:
      return first_orthogonal<0>;
  }
}

std::string describe_pair(std::uint64_t i, std::uint64_t j) {
  return fmt::format("pair ({}, {})", i, j);
}

}  // namespace

void validate(const OrthogonalVectors::Instance& instance) {
  require(instance.a.cols() == instance.b.cols(), ErrorKind::parameter,
          "orthogonal vectors: A has dimension {}, B has {}, expected equal", instance.a.cols(), instance.b.cols());
}

std::vector<std::string> OrthogonalVectors::size_fields() {
  return {"num_a", "num_b", "dim"};
}

Sizes OrthogonalVectors::size(const Instance& instance) {
  return {{"num_a", instance.a.rows()}, {"num_b", instance.b.rows()}, {"dim", instance.a.cols()}};
}

Digest OrthogonalVectors::digest(const Instance& instance) {
  return Digester()
      .add(kId)
      .add(instance.a.rows())
      .add(instance.b.rows())
      .add(instance.a.cols())
      .add_span(instance.a.words())
      .add_span(instance.b.words())
      .finish();
}

OrthogonalVectors::Answer OrthogonalVectors::solve_brute_force(const Instance& instance, const Execution& execution) {
  validate(instance);
  const BitMatrix& a = instance.a;
  const BitMatrix& b = instance.b;
  const FirstOrthogonal scan = choose_scan(b.words_per_row());
  const std::uint64_t tile = tile_rows(b);
  const ProgressScope progress(execution, "orthogonal pairs", a.rows());
  // Each block of rows of A finds its own lexicographically first pair; blocks behind the best one are skipped, so
  // that the answer does not depend on which thread is first.
  std::atomic<std::uint64_t> best_row{a.rows()};
  std::vector<std::uint64_t> partner(a.rows(), b.rows());
  parallel_for(execution, a.rows(), kRowsOfA, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t limit = end;  // rows from here on cannot be first any more
    for (std::uint64_t start = 0; start < b.rows() && limit > begin; start += tile) {
      execution.check_stop();
      if (begin >= best_row.load(std::memory_order_relaxed)) return;
      const std::uint64_t stop = std::min(b.rows(), start + tile);
      for (std::uint64_t i = begin; i < limit; ++i) {
        const std::uint64_t j = scan(a.row(i).data(), b.words().data(), b.words_per_row(), start, stop);
        if (j == stop) continue;
        partner[i] = j;
        // A smaller row may still find its partner in a later tile.
        limit = i;
      }
    }
    if (limit == end) return;
    std::uint64_t seen = best_row.load();
    while (limit < seen && !best_row.compare_exchange_weak(seen, limit)) {
    }
  });
  Answer answer;
  const std::uint64_t row = best_row.load();
  if (row < a.rows()) answer.witness = {row, partner[row]};
  return answer;
}

Report OrthogonalVectors::check(const Instance& instance, const Answer& answer) {
  validate(instance);
  if (!answer.witness) {
    const Answer truth = solve_brute_force(instance);
    if (!truth.witness) return {Verdict::certified, "no orthogonal pair, as claimed (all pairs tested)"};
    return {Verdict::refuted, fmt::format("claims no orthogonal pair, but {} is orthogonal",
                                          describe_pair(truth.witness->first, truth.witness->second))};
  }
  const std::uint64_t i = answer.witness->first;
  const std::uint64_t j = answer.witness->second;
  if (i >= instance.a.rows() || j >= instance.b.rows())
    return {Verdict::refuted, fmt::format("{} is out of range: A has {} rows, B has {}", describe_pair(i, j),
                                          instance.a.rows(), instance.b.rows())};
  const std::uint64_t product = inner_product(instance.a.row(i), instance.b.row(j));
  if (product != 0)
    return {Verdict::refuted, fmt::format("{} has inner product {}, expected 0", describe_pair(i, j), product)};
  return {Verdict::certified, fmt::format("{} is orthogonal", describe_pair(i, j))};
}

void for_each_orthogonal_pair(const OrthogonalVectors::Instance& instance,
                              const std::function<bool(std::uint64_t i, std::uint64_t j)>& visit) {
  validate(instance);
  const BitMatrix& b = instance.b;
  const FirstOrthogonal scan = choose_scan(b.words_per_row());
  for (std::uint64_t i = 0; i < instance.a.rows(); ++i) {
    for (std::uint64_t j = 0; j < b.rows(); ++j) {
      j = scan(instance.a.row(i).data(), b.words().data(), b.words_per_row(), j, b.rows());
      if (j == b.rows()) break;
      if (!visit(i, j)) return;
    }
  }
}

std::optional<std::uint64_t> find_orthogonal_partner(const OrthogonalVectors::Instance& instance, std::uint64_t i) {
  validate(instance);
  require(i < instance.a.rows(), ErrorKind::parameter, "row {} of A, expected below {}", i, instance.a.rows());
  const BitMatrix& b = instance.b;
  const std::uint64_t j =
      choose_scan(b.words_per_row())(instance.a.row(i).data(), b.words().data(), b.words_per_row(), 0, b.rows());
  if (j == b.rows()) return std::nullopt;
  return j;
}

std::uint64_t count_orthogonal_pairs(const OrthogonalVectors::Instance& instance, const Execution& execution) {
  validate(instance);
  const BitMatrix& a = instance.a;
  const BitMatrix& b = instance.b;
  const FirstOrthogonal scan = choose_scan(b.words_per_row());
  const std::uint64_t tile = tile_rows(b);
  const ProgressScope progress(execution, "orthogonal pairs", a.rows());
  std::vector<std::uint64_t> count(a.rows(), 0);
  parallel_for(execution, a.rows(), kRowsOfA, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t start = 0; start < b.rows(); start += tile) {
      execution.check_stop();
      const std::uint64_t stop = std::min(b.rows(), start + tile);
      for (std::uint64_t i = begin; i < end; ++i) {
        for (std::uint64_t j = start; j < stop; ++j) {
          j = scan(a.row(i).data(), b.words().data(), b.words_per_row(), j, stop);
          count[i] += j < stop ? 1 : 0;
        }
      }
    }
  });
  return std::accumulate(count.begin(), count.end(), std::uint64_t{0});
}

}  // namespace subquad::problems
