#include <subquad/core/count.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/forward_error.hpp>
#include <subquad/exact/interval.hpp>
#include <subquad/exact/rational.hpp>
#include <subquad/verifiers/anna.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

namespace subquad::verifiers {
namespace {

using exact::Interval;
using exact::Rational;
using problems::MatrixD;
using View = Eigen::Ref<const MatrixD>;

constexpr std::size_t kMostFindings = 16;

void check_finite(const View& matrix, const char* name) {
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
      require(std::isfinite(matrix(i, c)), ErrorKind::parameter, "anna: {}[{},{}] is {}, expected a finite number",
              name, i, c, matrix(i, c));
    }
  }
}

void check_rows(const std::vector<AnnaRow>& rows, std::uint64_t num_keys) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t a = 0; a < rows[i].size(); ++a) {
      const auto& [key, count] = rows[i][a];
      require(key < num_keys, ErrorKind::parameter, "anna: row {} has a count for key {} of {}", i, key, num_keys);
      require(a == 0 || rows[i][a - 1].first < key, ErrorKind::parameter,
              "anna: row {} has key {} after key {}, expected ascending keys", i, key,
              rows[i][a - (a > 0 ? 1 : 0)].first);
      require(count >= 1, ErrorKind::parameter, "anna: row {} has count 0 for key {}, expected at least 1", i, key);
    }
  }
}

/// A threshold t >= 0 that squared distances are compared with: t^2 exactly, and doubles around it.
struct Threshold {
  Rational square;
  double below;  // certainly < t^2 (or 0)
  double above;  // certainly > t^2 (or inf)

  explicit Threshold(const Rational& t)
      : square(t * t),
        below(exact::to_double(square, exact::Rounding::down)),
        above(exact::to_double(square, exact::Rounding::up)) {}
};

/// Decides |x - y| <= t.
class Distances {
 public:
  Distances(const View& q, const View& k) : q_(q), k_(k) {
    const auto dim = static_cast<double>(q.cols());
    relative_ = gamma_bound(dim + 3) * kEvaluationSlack;
    absolute_ = dim * 0x1p-1073;  // squares that underflow
  }

  /// The squared distance in doubles, order of sums fixed.
  double square(Eigen::Index i, Eigen::Index j) const {
    double sum = 0;
    const double* x = q_.row(i).data();
    const double* y = k_.row(j).data();
    for (Eigen::Index t = 0; t < q_.cols(); ++t) sum += (x[t] - y[t]) * (x[t] - y[t]);
    return sum;
  }

  bool within(double square, Eigen::Index i, Eigen::Index j, const Threshold& t, std::uint64_t& exact_count) const {
    // Overflow makes `square` infinite or NaN: both comparisons are then false, or meaningless, so it goes to
    // rationals.
    if (std::isfinite(square)) {
      if (square * (1 + 2 * relative_) + absolute_ < t.below) return true;
      if (square * (1 - 2 * relative_) - absolute_ > t.above) return false;
    }
    ++exact_count;
    Rational sum = 0;
    for (Eigen::Index c = 0; c < q_.cols(); ++c) {
      const Rational difference = exact::from_double(q_(i, c)) - exact::from_double(k_(j, c));
      sum += difference * difference;
    }
    return sum <= t.square;
  }

 private:
  const View& q_;
  const View& k_;
  double relative_;
  double absolute_;
};

/// Judges one row and adds to the report.
void judge_row(std::uint64_t row, const Distances& distances, Eigen::Index num_keys, const AnnaClaim& claim,
               const Threshold& near, const Threshold& far, const AnnaRow& counts, AnnaReport& report) {
  const auto say = [&](const std::string& reason) { report.findings.push_back({row, reason}); };
  const auto i = static_cast<Eigen::Index>(row);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> near_counts;
  std::uint64_t neighbours = 0;  // |N(q_i, c r)|
  Count total = 0;
  for (const auto& [key, count] : counts) total += Count(count);
  auto next = counts.begin();
  for (Eigen::Index j = 0; j < num_keys; ++j) {
    const auto key = static_cast<std::uint64_t>(j);
    const std::uint64_t count = next != counts.end() && next->first == key ? (next++)->second : 0;
    const double square = distances.square(i, j);
    const bool in_far = distances.within(square, i, j, far, report.exact_distances);
    if (in_far) ++neighbours;
    if (!in_far && count > 0) {
      ++report.false_pairs;
      say(fmt::format("A1: key {} has count {}, but is farther than c r = {:g}", key, count,
                      claim.radius * claim.ratio));
    }
    if (in_far && distances.within(square, i, j, near, report.exact_distances)) near_counts.emplace_back(key, count);
  }
  report.near_pairs += near_counts.size();
  for (const auto& [key, count] : near_counts) {
    if (count == 0) {
      ++report.missed_pairs;
      say(fmt::format("A2: key {} is within r = {:g}, but has count 0", key, claim.radius));
    } else if (Count(count) * (Count(neighbours - 1) * claim.tables + 1) < total) {
      ++report.light_pairs;
      say(fmt::format("A2: key {} is within r = {:g} with count {} of {}, less than 1/(({} - 1) {} + 1)", key,
                      claim.radius, count, total.str(), neighbours, claim.tables));
    }
  }
  if (counts.empty()) {
    ++report.empty_rows;
    if (claim.strict) say("A3: no key has a count");
  }
}

}  // namespace

AnnaReport verify_anna(const View& q, const View& k, const AnnaClaim& claim, const std::vector<AnnaRow>& rows,
                       const Execution& execution) {
  require(q.cols() == k.cols() && rows.size() == static_cast<std::size_t>(q.rows()), ErrorKind::parameter,
          "anna: Q is {} x {}, K {} x {}, counts of {} rows; expected n x d, n_k x d, n", q.rows(), q.cols(), k.rows(),
          k.cols(), rows.size());
  require(claim.radius >= 0 && std::isfinite(claim.radius), ErrorKind::parameter,
          "anna: r = {}, expected a number >= 0", claim.radius);
  require(claim.ratio >= 1 && std::isfinite(claim.ratio), ErrorKind::parameter, "anna: c = {}, expected a number >= 1",
          claim.ratio);
  require(claim.tables >= 1, ErrorKind::parameter, "anna: l = 0 tables, expected at least 1");
  check_finite(q, "Q");
  check_finite(k, "K");
  check_rows(rows, static_cast<std::uint64_t>(k.rows()));
  const Threshold near(exact::from_double(claim.radius));
  const Threshold far(exact::from_double(claim.radius) * exact::from_double(claim.ratio));
  const Distances distances(q, k);

  AnnaReport report;
  std::mutex mutex;
  const ProgressScope progress(execution, "anna verifier", rows.size());
  parallel_for(execution, rows.size(), 16, [&](std::uint64_t begin, std::uint64_t end) {
    AnnaReport part;
    for (std::uint64_t i = begin; i < end; ++i) {
      judge_row(i, distances, k.rows(), claim, near, far, rows[i], part);
    }
    const std::lock_guard lock(mutex);
    report.near_pairs += part.near_pairs;
    report.false_pairs += part.false_pairs;
    report.missed_pairs += part.missed_pairs;
    report.light_pairs += part.light_pairs;
    report.empty_rows += part.empty_rows;
    report.exact_distances += part.exact_distances;
    report.findings.insert(report.findings.end(), part.findings.begin(), part.findings.end());
    std::stable_sort(report.findings.begin(), report.findings.end(),
                     [](const AnnaFinding& a, const AnnaFinding& b) { return a.row < b.row; });
    if (report.findings.size() > kMostFindings) report.findings.resize(kMostFindings);
  });
  report.rows_checked = rows.size();
  if (!report.findings.empty()) report.verdict = Verdict::refuted;
  return report;
}

Report verify_anna_output(const View& v, const std::vector<AnnaRow>& rows, std::uint64_t tables, const View& output) {
  require(output.rows() == static_cast<Eigen::Index>(rows.size()) && output.cols() == v.cols(), ErrorKind::parameter,
          "anna: the output is {} x {}, expected {} x {}", output.rows(), output.cols(), rows.size(), v.cols());
  check_finite(v, "V");
  check_rows(rows, static_cast<std::uint64_t>(v.rows()));
  const double gamma = gamma_bound(static_cast<double>(tables) + static_cast<double>(v.rows()) + 2) * kEvaluationSlack;
  Report report{Verdict::certified, fmt::format("all {} entries are the weighted means", output.size())};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Interval total = Interval::from_integer(0);
    for (const auto& [key, count] : rows[i]) total += Interval::from_rational(Rational(exact::Integer(count)));
    for (Eigen::Index c = 0; c < output.cols(); ++c) {
      const double found = output(static_cast<Eigen::Index>(i), c);
      if (rows[i].empty() ? found == 0 : std::isfinite(found)) {
        if (rows[i].empty()) continue;
      } else {
        return {Verdict::refuted, fmt::format("row {} column {}: {}, expected {}", i, c, found,
                                              rows[i].empty() ? "0: no key has a count" : "a finite number")};
      }
      Interval sum = Interval::from_integer(0);
      Interval magnitude = Interval::from_integer(0);
      for (const auto& [key, count] : rows[i]) {
        const double value = v(static_cast<Eigen::Index>(key), c);
        const Interval weight = Interval::from_rational(Rational(exact::Integer(count)));
        sum += weight * Interval::from_double(value);
        magnitude += weight * Interval::from_double(std::fabs(value));
      }
      const Interval error = Interval::from_double(found) - sum / total;
      const Interval allowed = Interval::from_double(gamma) * magnitude / total;
      const double largest = std::max(std::fabs(error.low()), std::fabs(error.high()));
      const double least = error.low() > 0 ? error.low() : (error.high() < 0 ? -error.high() : 0.0);
      if (largest <= allowed.low()) continue;
      if (least > allowed.high()) {
        return {Verdict::refuted, fmt::format("row {} column {}: {}, but the weighted mean is {:.17g}", i, c, found,
                                              (sum / total).low())};
      }
      report = {Verdict::undecided, fmt::format("row {} column {}: at the edge of the allowed rounding", i, c)};
    }
  }
  return report;
}

}  // namespace subquad::verifiers
