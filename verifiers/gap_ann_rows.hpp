// GapANN verifier: are the near/far answers right for every row inside the promise?
#pragma once

#include <subquad/core/execution.hpp>
#include <subquad/core/verdict.hpp>
#include <subquad/problems/gap_ann.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace subquad::verifiers {

/// A row whose answer is proved wrong, with its exact nearest distance and the first key that attains it.
struct WrongGapRow {
  /// Stands for the distance where there is no key at all.
  static constexpr std::uint64_t kNoKey = ~std::uint64_t{0};

  std::uint64_t row = 0;
  bool claimed_near = false;
  std::uint64_t nearest_distance = 0;
  std::uint64_t nearest_key = 0;
};

/// The verdict over the chosen rows, with the rows that refute.
struct GapAnnReport {
  Verdict verdict = Verdict::undecided;  ///< never undecided: integers decide
  std::uint64_t rows_checked = 0;
  std::uint64_t rows_outside_promise = 0;
  std::vector<WrongGapRow> wrong;  ///< ascending, at most max_reported
};

/// Exact integer distances of the chosen rows (all if empty optional; duplicates count once) to all keys. Refuted iff a
/// row inside the promise is answered wrongly. With no key every row is far. O(rows n_k dim/64), threads.
///
/// Errors: Error(parameter) if the answer's length is not the number of queries, a row is out of range, dimensions
/// differ or the thresholds are not -1 <= r_yes < r_no; Error(interrupted) on a stop request.
GapAnnReport verify_gap_ann_rows(const problems::GapAnn::Instance& instance, const problems::GapAnn::Answer& answer,
                                 const std::optional<std::vector<std::uint64_t>>& rows = {},
                                 std::uint64_t max_reported = 16, const Execution& execution = {});

}  // namespace subquad::verifiers
