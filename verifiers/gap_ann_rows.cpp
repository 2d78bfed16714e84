#include "chosen_rows.hpp"

#include <subquad/core/error.hpp>
#include <subquad/verifiers/gap_ann_rows.hpp>

#include <algorithm>

namespace subquad::verifiers {

namespace {

// A verifier shares no loop with the solvers that it judges, so the scan is its own.
constexpr std::uint64_t kRowsAtOnce = 128;        // queries checked against one stretch of keys
constexpr std::uint64_t kStretchWords = 1 << 12;  // 32 KiB of keys

/// Smallest distance from `query` to keys[0 .. count); kWords = 0 takes the width from `words`.
template <std::uint64_t kWords>
[[gnu::always_inline]] inline std::uint64_t least(const std::uint64_t* query, const std::uint64_t* keys,
                                                  std::uint64_t count, std::uint64_t words) {
  const std::uint64_t width = kWords == 0 ? words : kWords;
  std::uint64_t smallest = WrongGapRow::kNoKey;
  for (std::uint64_t j = 0; j < count; ++j) {
    std::uint64_t distance = 0;
    for (std::uint64_t w = 0; w < width; ++w)
      distance += static_cast<std::uint64_t>(__builtin_popcountll(query[w] ^ keys[j * width + w]));
    smallest = std::min(smallest, distance);
  }
  return smallest;
}

[[gnu::always_inline]] inline std::uint64_t least_any(const std::uint64_t* query, const std::uint64_t* keys,
                                                      std::uint64_t count, std::uint64_t words) {
  if (words == 1) return least<1>(query, keys, count, words);
  if (words == 2) return least<2>(query, keys, count, words);
  if (words == 3) return least<3>(query, keys, count, words);
  return least<0>(query, keys, count, words);
}

using Least = std::uint64_t (*)(const std::uint64_t*, const std::uint64_t*, std::uint64_t, std::uint64_t);

std::uint64_t least_portable(const std::uint64_t* query, const std::uint64_t* keys, std::uint64_t count,
                             std::uint64_t words) {
  return least_any(query, keys, count, words);
}

#if defined(__x86_64__)
// The baseline of the architecture cannot count ones in one instruction; without it the scan takes five times as long.
__attribute__((target("popcnt"))) std::uint64_t least_popcnt(const std::uint64_t* query, const std::uint64_t* keys,
                                                             std::uint64_t count, std::uint64_t words) {
  return least_any(query, keys, count, words);
}
Least choose_least() {
  return __builtin_cpu_supports("popcnt") ? least_popcnt : least_portable;
}
#else
Least choose_least() {
  return least_portable;
}
#endif

/// The nearest key of a row, by the definition, for the report.
WrongGapRow exact_row(const problems::GapAnn::Instance& instance, std::uint64_t row, bool claimed_near) {
  WrongGapRow wrong{row, claimed_near, WrongGapRow::kNoKey, 0};
  for (std::uint64_t j = 0; j < instance.keys.rows(); ++j) {
    const std::uint64_t distance = hamming_distance(instance.queries.row(row), instance.keys.row(j));
    if (distance >= wrong.nearest_distance) continue;
    wrong.nearest_distance = distance;
    wrong.nearest_key = j;
  }
  return wrong;
}

}  // namespace

GapAnnReport verify_gap_ann_rows(const problems::GapAnn::Instance& instance, const problems::GapAnn::Answer& answer,
                                 const std::optional<std::vector<std::uint64_t>>& rows, std::uint64_t max_reported,
                                 const Execution& execution) {
  problems::validate(instance);
  const BitMatrix& queries = instance.queries;
  const BitMatrix& keys = instance.keys;
  require(answer.near.size() == queries.rows(), ErrorKind::parameter, "{} answers for {} queries, expected one a query",
          answer.near.size(), queries.rows());
  const std::vector<std::uint64_t> chosen = chosen_rows(rows, queries.rows());
  const Least least_of = choose_least();
  const std::uint64_t words = keys.words_per_row();
  const std::uint64_t stretch = std::max<std::uint64_t>(1, kStretchWords / std::max<std::uint64_t>(1, words));
  const auto is_near = [&](std::uint64_t distance) {
    return instance.r_yes >= 0 && distance <= static_cast<std::uint64_t>(instance.r_yes);
  };
  std::vector<std::uint64_t> nearest(chosen.size(), WrongGapRow::kNoKey);
  const ProgressScope progress(execution, "rows verified", chosen.size());
  parallel_for(execution, chosen.size(), kRowsAtOnce, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t start = 0; start < keys.rows(); start += stretch) {
      execution.check_stop();
      const std::uint64_t count = std::min(stretch, keys.rows() - start);
      for (std::uint64_t r = begin; r < end; ++r) {
        if (is_near(nearest[r])) continue;  // the promise has spoken
        const std::uint64_t* const query = queries.row(chosen[r]).data();
        nearest[r] = std::min(nearest[r], least_of(query, keys.words().data() + start * words, count, words));
      }
    }
  });
  GapAnnReport report;
  report.verdict = Verdict::certified;
  report.rows_checked = chosen.size();
  for (std::uint64_t r = 0; r < chosen.size(); ++r) {
    const bool claimed_near = answer.near[chosen[r]];
    const bool near = is_near(nearest[r]);
    const bool far = nearest[r] >= static_cast<std::uint64_t>(instance.r_no);
    if (!near && !far) ++report.rows_outside_promise;
    if (!(claimed_near ? far : near)) continue;
    report.verdict = Verdict::refuted;
    if (report.wrong.size() < max_reported) report.wrong.push_back(exact_row(instance, chosen[r], claimed_near));
  }
  return report;
}

}  // namespace subquad::verifiers
