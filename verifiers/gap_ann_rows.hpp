// GapANN verifier: are the near/far answers right for every row inside the promise?
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <subquad/core/execution.hpp>
#include <subquad/core/verdict.hpp>
#include <subquad/problems/gap_ann.hpp>

namespace subquad::verifiers {

/// A row whose answer is proved wrong, with its exact nearest distance and a key that attains it.
struct WrongGapRow {
  std::uint64_t row = 0;
  bool claimed_near = false;
  std::uint64_t nearest_distance = 0;
  std::uint64_t nearest_key = 0;
};

struct GapAnnReport {
  Verdict verdict = Verdict::undecided;  ///< never undecided: integers decide
  std::uint64_t rows_checked = 0;
  std::uint64_t rows_outside_promise = 0;
  std::vector<WrongGapRow> wrong;        ///< ascending, at most max_reported
};

/// Exact integer distances of the chosen rows (all if empty) to all keys. O(rows n_k dim/64), threads.
/// With no key every row is far. Throws Error(parameter) if the answer's length is not the number of queries.
GapAnnReport verify_gap_ann_rows(const problems::GapAnn::Instance& instance, const problems::GapAnn::Answer& answer,
                                 const std::optional<std::vector<std::uint64_t>>& rows = {},
                                 std::uint64_t max_reported = 16, const Execution& execution = {});

}  // namespace subquad::verifiers
