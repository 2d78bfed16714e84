#include "anna_checks.hpp"
#include "distance_order.hpp"

#include <subquad/core/count.hpp>
#include <subquad/core/error.hpp>
#include <subquad/verifiers/anna.hpp>

#include <algorithm>
#include <cmath>
#include <mutex>

namespace subquad::verifiers {
namespace {

using problems::MatrixD;
using View = Eigen::Ref<const MatrixD>;

constexpr std::size_t kMostFindings = 16;

void check_directions(const View& points, const char* name) {
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    require((points.row(i).array() != 0).any(), ErrorKind::parameter,
            "anna: row {} of {} is zero, expected a direction for the angular metric", i, name);
  }
}

/// C ((neighbours - 1) l + 1) >= total, in 64 bits where that is enough.
bool heavy_enough(std::uint64_t count, std::uint64_t neighbours, std::uint64_t tables, const Count& total) {
  std::uint64_t factor = 0, product = 0;
  if (!__builtin_mul_overflow(neighbours - 1, tables, &factor) && !__builtin_add_overflow(factor, 1u, &factor) &&
      !__builtin_mul_overflow(count, factor, &product)) {
    return product >= total;
  }
  return Count(count) * (Count(neighbours - 1) * tables + 1) >= total;
}

/// Judges one row and adds to the report; findings only as many as are listed.
void judge_row(std::uint64_t row, const DistanceOrder& order, Eigen::Index num_keys, const AnnaClaim& claim,
               const AnnaRow& counts, AnnaReport& report) {
  const auto say = [&](auto&& reason) {
    if (report.findings.size() < kMostFindings) report.findings.push_back({row, reason()});
  };
  std::vector<std::pair<std::uint64_t, std::uint64_t>> near_counts;
  std::uint64_t neighbours = 0;  // |N(q_i, c r)|
  Count total = 0;
  for (const auto& entry : counts) total += Count(entry.second);
  auto next = counts.begin();
  for (Eigen::Index j = 0; j < num_keys; ++j) {
    const auto key = static_cast<std::uint64_t>(j);
    const std::uint64_t count = next != counts.end() && next->first == key ? (next++)->second : 0;
    const DistanceClass place = order.classify(static_cast<Eigen::Index>(row), j, report.exact_distances);
    if (place == DistanceClass::near) near_counts.emplace_back(key, count);
    if (place != DistanceClass::far) {
      ++neighbours;
    } else if (count > 0) {
      ++report.false_pairs;
      say([&] {
        return fmt::format("A1: key {} has count {}, but is farther than c r = {:g}", key, count,
                           claim.radius * claim.ratio);
      });
    }
  }
  report.near_pairs += near_counts.size();
  for (const auto& pair : near_counts) {
    if (pair.second == 0) {
      ++report.missed_pairs;
      say([&] { return fmt::format("A2: key {} is within r = {:g}, but has count 0", pair.first, claim.radius); });
    } else if (!heavy_enough(pair.second, neighbours, claim.tables, total)) {
      ++report.light_pairs;
      say([&] {
        return fmt::format("A2: key {} is within r = {:g} with count {} of {}, less than 1/(({} - 1) {} + 1)",
                           pair.first, claim.radius, pair.second, total.str(), neighbours, claim.tables);
      });
    }
  }
  if (!counts.empty()) return;
  ++report.empty_rows;
  if (claim.strict) {
    ++report.strict_rows;
    say([] { return std::string("A3: no key has a count"); });
  }
}

void check_claim(const AnnaClaim& claim) {
  require(claim.radius >= 0 && std::isfinite(claim.radius), ErrorKind::parameter,
          "anna: r = {}, expected a number >= 0", claim.radius);
  require(claim.ratio >= 1 && std::isfinite(claim.ratio), ErrorKind::parameter, "anna: c = {}, expected a number >= 1",
          claim.ratio);
  require(claim.tables >= 1, ErrorKind::parameter, "anna: l = 0 tables, expected at least 1");
}

}  // namespace

std::string_view to_string(AnnaMetric metric) noexcept {
  switch (metric) {
    case AnnaMetric::angular:
      return "angular";
    case AnnaMetric::hamming:
      return "hamming";
    case AnnaMetric::euclidean:
      break;
  }
  return "euclidean";
}

AnnaReport verify_anna(const View& q, const View& k, const AnnaClaim& claim, const std::vector<AnnaRow>& rows,
                       const Execution& execution) {
  require(q.cols() == k.cols() && rows.size() == static_cast<std::size_t>(q.rows()), ErrorKind::parameter,
          "anna: Q is {} x {}, K {} x {}, counts of {} rows; expected n x d, n_k x d, n", q.rows(), q.cols(), k.rows(),
          k.cols(), rows.size());
  check_claim(claim);
  check_finite(q, "Q");
  check_finite(k, "K");
  check_rows(rows, static_cast<std::uint64_t>(k.rows()));
  if (claim.metric == AnnaMetric::angular) {
    check_directions(q, "Q");
    check_directions(k, "K");
  }
  const DistanceOrder order(q, k, claim.metric, claim.radius, claim.ratio);

  AnnaReport report;
  std::mutex mutex;
  const ProgressScope progress(execution, "anna verifier", rows.size());
  parallel_for(execution, rows.size(), 16, [&](std::uint64_t begin, std::uint64_t end) {
    AnnaReport part;
    for (std::uint64_t i = begin; i < end; ++i) judge_row(i, order, k.rows(), claim, rows[i], part);
    const std::lock_guard lock(mutex);
    report.near_pairs += part.near_pairs;
    report.false_pairs += part.false_pairs;
    report.missed_pairs += part.missed_pairs;
    report.light_pairs += part.light_pairs;
    report.empty_rows += part.empty_rows;
    report.strict_rows += part.strict_rows;
    report.exact_distances += part.exact_distances;
    report.findings.insert(report.findings.end(), part.findings.begin(), part.findings.end());
    std::stable_sort(report.findings.begin(), report.findings.end(),
                     [](const AnnaFinding& a, const AnnaFinding& b) { return a.row < b.row; });
    if (report.findings.size() > kMostFindings) report.findings.resize(kMostFindings);
  });
  report.rows_checked = rows.size();
  const std::uint64_t wrong = report.false_pairs + report.missed_pairs + report.light_pairs + report.strict_rows;
  report.verdict = wrong == 0 ? Verdict::certified : Verdict::refuted;
  return report;
}

}  // namespace subquad::verifiers
