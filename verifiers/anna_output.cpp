#include "anna_checks.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/forward_error.hpp>
#include <subquad/exact/rational.hpp>
#include <subquad/verifiers/anna.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <mutex>
#include <optional>

namespace subquad::verifiers {
namespace {

using exact::from_double;
using exact::Rational;
using problems::MatrixD;
using View = Eigen::Ref<const MatrixD>;

constexpr double kLeastHalf = 0x1p-1074;  // stands for 2^-1075, which is no double: an upper bound

/// Judges entries of one row of an output. `roundings` is l + n_k.
class RowJudge {
 public:
  RowJudge(const View& v, const AnnaRow& counts, std::uint64_t roundings)
      : v_(v), counts_(counts), roundings_(roundings), gamma_(gamma_bound(static_cast<double>(roundings))) {
    for (const auto& entry : counts) total_ += static_cast<double>(entry.second);
    // Terms C v: C may need a rounding, the product another; sums and the total one each a term.
    own_ = 2 * gamma_bound(2 * static_cast<double>(counts.size()) + 6) * kEvaluationSlack;
  }

  bool accepts(double found, Eigen::Index column) const {
    if (!std::isfinite(found)) return false;
    if (counts_.empty()) return found == 0;
    double sum = 0, magnitude = 0;
    for (const auto& [key, count] : counts_) {
      const double term = static_cast<double>(count) * v_(static_cast<Eigen::Index>(key), column);
      sum += term;
      magnitude += std::fabs(term);
    }
    const double error = std::fabs(found - sum / total_);
    const double size = magnitude / total_;  // the mean of |v|
    if (!std::isfinite(size) || !std::isfinite(gamma_)) return accepts_exactly(found, column);
    // Rounding of the two lines above; and of what is in the denormal range.
    const double own = own_ * (size + std::fabs(found)) + static_cast<double>(counts_.size() + 4) * 0x1p-1072;
    if (error + own <= gamma_ * size * (1 - own_) / kEvaluationSlack) return true;
    if (error - own > (gamma_ * size * (1 + own_) + kLeastHalf) * kEvaluationSlack) return false;
    return accepts_exactly(found, column);
  }

  Rational mean(Eigen::Index column) const {
    Rational sum = 0, total = 0;
    for (const auto& [key, count] : counts_) {
      sum += Rational(exact::Integer(count)) * from_double(v_(static_cast<Eigen::Index>(key), column));
      total += exact::Integer(count);
    }
    return sum / total;
  }

 private:
  bool accepts_exactly(double found, Eigen::Index column) const {
    Rational magnitude = 0, total = 0;
    for (const auto& [key, count] : counts_) {
      magnitude += Rational(exact::Integer(count)) * abs(from_double(v_(static_cast<Eigen::Index>(key), column)));
      total += exact::Integer(count);
    }
    const Rational product = exact::power_of_two(-53) * exact::Integer(roundings_);
    if (product >= 1) return true;  // gamma says nothing
    const Rational error = abs(from_double(found) - mean(column));
    return error <= product / (1 - product) * magnitude / total + exact::power_of_two(-1075);
  }

  const View& v_;
  const AnnaRow& counts_;
  std::uint64_t roundings_;
  double gamma_;
  double total_ = 0.0;
  double own_ = 0.0;
};

struct WrongEntry {
  std::uint64_t row;
  Eigen::Index column;
  std::string reason;
};

}  // namespace

Report verify_anna_output(const View& v, const std::vector<AnnaRow>& rows, std::uint64_t tables, const View& output,
                          const Execution& execution) {
  require(output.rows() == static_cast<Eigen::Index>(rows.size()) && output.cols() == v.cols(), ErrorKind::parameter,
          "anna: the output is {} x {}, expected {} x {}", output.rows(), output.cols(), rows.size(), v.cols());
  require(tables >= 1, ErrorKind::parameter, "anna: l = 0 tables, expected at least 1");
  check_finite(v, "V");
  check_rows(rows, static_cast<std::uint64_t>(v.rows()));
  std::optional<WrongEntry> wrong;
  std::mutex mutex;
  const ProgressScope progress(execution, "anna output", rows.size());
  parallel_for(execution, rows.size(), 16, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      const RowJudge judge(v, rows[i], tables + static_cast<std::uint64_t>(v.rows()));
      for (Eigen::Index c = 0; c < output.cols(); ++c) {
        const double found = output(static_cast<Eigen::Index>(i), c);
        if (judge.accepts(found, c)) continue;
        const std::string expected =
            rows[i].empty() ? "0: no key has a count" : to_decimal(judge.mean(c), 17, exact::Rounding::nearest);
        const std::lock_guard lock(mutex);
        if (!wrong || i < wrong->row) {
          wrong = WrongEntry{i, c, fmt::format("row {} column {}: {}, expected {}", i, c, found, expected)};
        }
        break;
      }
    }
  });
  if (wrong) return {Verdict::refuted, wrong->reason};
  return {Verdict::certified, fmt::format("all {} entries are the weighted means up to rounding", output.size())};
}

}  // namespace subquad::verifiers
