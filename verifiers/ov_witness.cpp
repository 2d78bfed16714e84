#include "chosen_rows.hpp"

#include <subquad/core/error.hpp>
#include <subquad/verifiers/ov_witness.hpp>

#include <algorithm>
#include <bit>

namespace subquad::verifiers {

namespace {

// A verifier shares no loop with the solvers that it judges, so the scan is its own.
constexpr std::uint64_t kRowsAtOnce = 128;        // rows of A checked against one stretch of B
constexpr std::uint64_t kStretchWords = 1 << 12;  // 32 KiB of B

void require_equal_dimensions(const problems::OrthogonalVectors::Instance& instance) {
  require(instance.a.cols() == instance.b.cols(), ErrorKind::parameter, "A has dimension {}, B has {}, expected equal",
          instance.a.cols(), instance.b.cols());
}

/// Number of rows among b[0 .. count) without a common one with `a`; kWords = 0 takes the width from `words`.
template <std::uint64_t kWords>
std::uint64_t count_disjoint(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t count, std::uint64_t words) {
  const std::uint64_t width = kWords == 0 ? words : kWords;
  std::uint64_t found = 0;
  for (std::uint64_t j = 0; j < count; ++j, b += width) {
    std::uint64_t common = 0;
    for (std::uint64_t w = 0; w < width; ++w) common |= a[w] & b[w];
    found += common == 0 ? 1 : 0;
  }
  return found;
}

std::uint64_t count_disjoint(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t count, std::uint64_t words) {
  if (words == 1) return count_disjoint<1>(a, b, count, words);
  if (words == 2) return count_disjoint<2>(a, b, count, words);
  if (words == 3) return count_disjoint<3>(a, b, count, words);
  return count_disjoint<0>(a, b, count, words);
}

/// The first orthogonal row in [begin, end), which the count says exists.
std::uint64_t first_disjoint(const BitMatrix& b, std::span<const std::uint64_t> a, std::uint64_t begin,
                             std::uint64_t end) {
  for (std::uint64_t j = begin; j < end; ++j)
    if (inner_product(a, b.row(j)) == 0) return j;
  fail(ErrorKind::internal, "rows {} to {} of B: the count and the search of orthogonal rows disagree", begin, end);
}

}  // namespace

Report verify_ov_witness(const problems::OrthogonalVectors::Instance& instance, std::uint64_t i, std::uint64_t j) {
  require_equal_dimensions(instance);
  if (i >= instance.a.rows())
    return {Verdict::refuted, fmt::format("row {} of A does not exist: A has {} rows", i, instance.a.rows())};
  if (j >= instance.b.rows())
    return {Verdict::refuted, fmt::format("row {} of B does not exist: B has {} rows", j, instance.b.rows())};
  const std::span<const std::uint64_t> a = instance.a.row(i);
  const std::span<const std::uint64_t> b = instance.b.row(j);
  for (std::uint64_t w = 0; w < a.size(); ++w) {
    const std::uint64_t common = a[w] & b[w];
    if (common != 0)
      return {Verdict::refuted, fmt::format("rows {} of A and {} of B are both one at coordinate {}", i, j,
                                            64 * w + static_cast<std::uint64_t>(std::countr_zero(common)))};
  }
  return {Verdict::certified,
          fmt::format("rows {} of A and {} of B share no one in {} coordinates", i, j, instance.a.cols())};
}

std::vector<WrongRow> verify_ov_rows(const problems::OrthogonalVectors::Instance& instance,
                                     const std::vector<bool>& flag,
                                     const std::optional<std::vector<std::uint64_t>>& rows, std::uint64_t max_reported,
                                     const Execution& execution) {
  require_equal_dimensions(instance);
  require(flag.size() == instance.a.rows(), ErrorKind::parameter, "{} flags for {} rows of A, expected one a row",
          flag.size(), instance.a.rows());
  const BitMatrix& a = instance.a;
  const BitMatrix& b = instance.b;
  const std::vector<std::uint64_t> chosen = chosen_rows(rows, a.rows());
  const std::uint64_t words = b.words_per_row();
  const std::uint64_t stretch = std::max<std::uint64_t>(1, kStretchWords / std::max<std::uint64_t>(1, words));
  const std::uint64_t none = b.rows();
  std::vector<std::uint64_t> partner(chosen.size(), none);
  const ProgressScope progress(execution, "rows of A verified", chosen.size());
  parallel_for(execution, chosen.size(), kRowsAtOnce, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t start = 0; start < b.rows(); start += stretch) {
      execution.check_stop();
      const std::uint64_t count = std::min(stretch, b.rows() - start);
      for (std::uint64_t r = begin; r < end; ++r) {
        if (partner[r] != none) continue;
        const std::span<const std::uint64_t> row = a.row(chosen[r]);
        if (count_disjoint(row.data(), b.words().data() + start * words, count, words) > 0)
          partner[r] = first_disjoint(b, row, start, start + count);
      }
    }
  });
  std::vector<WrongRow> wrong;
  for (std::uint64_t r = 0; r < chosen.size() && wrong.size() < max_reported; ++r) {
    const bool truth = partner[r] != none;
    const bool claimed = flag[chosen[r]];
    if (claimed == truth) continue;
    WrongRow found{chosen[r], claimed, std::nullopt};
    if (truth) found.partner = partner[r];
    wrong.push_back(found);
  }
  return wrong;
}

}  // namespace subquad::verifiers
