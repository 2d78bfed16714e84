#include <subquad/core/error.hpp>
#include <subquad/problems/attention.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace subquad::problems {

namespace {

using Real = long double;
constexpr Real kEps = std::numeric_limits<Real>::epsilon();
constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
/// An enclosure wider than this relative precision says too little to pass as an answer.
constexpr double kWidestLogEnclosure = 1e-6;

bool same(const MatrixD& x, const MatrixD& y) {
  return x.rows() == y.rows() && x.cols() == y.cols() && (x.array() == y.array()).all();
}

void add_matrix(Digester& digester, const MatrixD& matrix) {
  digester.add(static_cast<std::uint64_t>(matrix.rows())).add(static_cast<std::uint64_t>(matrix.cols()));
  // Adding 0 turns -0 into +0: equal instances must have equal digests.
  for (Eigen::Index e = 0; e < matrix.size(); ++e) digester.add(matrix.data()[e] + 0.0);
}

void validate_matrix(const MatrixD& matrix, std::string_view name, double bound) {
  for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
    for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
      const double entry = matrix(r, c);
      require(std::isfinite(entry), ErrorKind::parameter, "attention: {}[{},{}] is {}, expected a finite number", name,
              r, c, entry);
      require(std::abs(entry) <= bound, ErrorKind::parameter, "attention: {}[{},{}] = {} is above the entry bound {}",
              name, r, c, entry, bound);
    }
  }
}

/// One query's weights, relative to the largest, with an estimate of how far rounding may have moved them.
struct Weights {
  std::vector<Real> logit;
  std::vector<Real> weight;  ///< exp(logit - largest)
  Real largest = 0;
  Real sum = 0;             ///< of the weights, >= 1
  Real relative_error = 0;  ///< of each weight and of the sum
};

Weights weights_of(const Attention::Instance& instance, Eigen::Index i) {
  const Eigen::Index keys = instance.k.rows();
  Weights w;
  w.logit.resize(static_cast<std::size_t>(keys));
  w.weight.resize(static_cast<std::size_t>(keys));
  Real magnitude = 0;  // largest sum of absolute products: what the rounding of a logit is relative to
  for (Eigen::Index j = 0; j < keys; ++j) {
    Real product = 0;
    Real absolute = 0;
    for (Eigen::Index c = 0; c < instance.q.cols(); ++c) {
      const Real term = static_cast<Real>(instance.q(i, c)) * instance.k(j, c);
      product += term;
      absolute += std::abs(term);
    }
    w.logit[static_cast<std::size_t>(j)] = instance.scale * product;
    magnitude = std::max(magnitude, std::abs(static_cast<Real>(instance.scale)) * absolute);
  }
  w.largest = *std::max_element(w.logit.begin(), w.logit.end());
  for (std::size_t j = 0; j < w.logit.size(); ++j) {
    w.weight[j] = std::exp(w.logit[j] - w.largest);
    w.sum += w.weight[j];
  }
  const Real logit_error = static_cast<Real>(instance.q.cols() + 4) * kEps * magnitude;
  w.relative_error = std::expm1(2 * logit_error) + static_cast<Real>(keys + 8) * kEps;
  return w;
}

struct Value {
  Real value = 0;
  Real slack = 0;  ///< rounding may have moved the value by this much
};

Value output_entry(const Attention::Instance& instance, const Weights& w, Eigen::Index column) {
  Real total = 0;
  Real largest = 0;
  for (Eigen::Index j = 0; j < instance.v.rows(); ++j) {
    total += w.weight[static_cast<std::size_t>(j)] * instance.v(j, column);
    largest = std::max(largest, std::abs(static_cast<Real>(instance.v(j, column))));
  }
  // 0 * inf would be NaN: a column of zeros is exactly zero, however badly the weights are known.
  return {total / w.sum, largest == 0 ? Real{0} : 4 * largest * w.relative_error};
}

/// ln of the first output entry and its slack; empty if a value is negative (the logarithm has no stable form then).
std::optional<Value> log_output(const Attention::Instance& instance, const Weights& w) {
  Real largest = -kInfinity;
  std::vector<Real> terms;
  for (Eigen::Index j = 0; j < instance.v.rows(); ++j) {
    const Real value = instance.v(j, 0);
    if (value < 0) return std::nullopt;
    if (value == 0) continue;
    terms.push_back(w.logit[static_cast<std::size_t>(j)] + std::log(value));
    largest = std::max(largest, terms.back());
  }
  if (terms.empty()) return Value{-kInfinity, 0};
  Real sum = 0;
  for (const Real term : terms) sum += std::exp(term - largest);
  const Real result = (largest - w.largest) + std::log(sum) - std::log(w.sum);
  return Value{result, 4 * w.relative_error + 8 * kEps * (std::abs(largest) + std::abs(w.largest) + std::abs(result))};
}

Verdict judge_entry(double candidate, const Value& truth, const Attention::Instance& instance) {
  if (!std::isfinite(candidate)) return Verdict::refuted;
  const Real tolerance = std::exp(static_cast<Real>(instance.log_tolerance));
  const Real difference = std::abs(candidate - truth.value);
  const Real slack =
      truth.slack + 8 * kEps * (std::abs(truth.value) + tolerance * (1 + std::abs(instance.log_tolerance)));
  if (difference + slack <= tolerance) return Verdict::certified;
  return difference - slack > tolerance ? Verdict::refuted : Verdict::undecided;
}

Verdict judge_log(const Attention::LogEnclosure& claimed, const std::optional<Value>& truth) {
  if (!(claimed.log_low <= claimed.log_high)) return Verdict::refuted;
  if (!truth) return Verdict::undecided;
  if (std::isinf(truth->value)) {  // u = 0, exactly
    if (claimed.log_low != -std::numeric_limits<double>::infinity()) return Verdict::refuted;
    return claimed.log_high == claimed.log_low ? Verdict::certified : Verdict::undecided;
  }
  if (claimed.log_low - truth->slack > truth->value || claimed.log_high + truth->slack < truth->value)
    return Verdict::refuted;
  const bool contains =
      claimed.log_low <= truth->value - truth->slack && truth->value + truth->slack <= claimed.log_high;
  return contains && claimed.log_high - claimed.log_low <= kWidestLogEnclosure ? Verdict::certified
                                                                               : Verdict::undecided;
}

}  // namespace

bool operator==(const Attention::Instance& x, const Attention::Instance& y) {
  return same(x.q, y.q) && same(x.k, y.k) && same(x.v, y.v) && x.scale == y.scale && x.entry_bound == y.entry_bound &&
         x.log_tolerance == y.log_tolerance;
}

bool operator==(const Attention::Answer& x, const Attention::Answer& y) {
  return same(x.output, y.output) && x.log_column == y.log_column;
}

void validate(const Attention::Instance& instance) {
  require(instance.q.cols() == instance.k.cols(), ErrorKind::parameter,
          "attention: Q has {} columns, K has {}, expected equal", instance.q.cols(), instance.k.cols());
  require(instance.k.rows() == instance.v.rows(), ErrorKind::parameter,
          "attention: K has {} rows, V has {}, expected equal", instance.k.rows(), instance.v.rows());
  require(instance.q.rows() == 0 || instance.k.rows() > 0, ErrorKind::parameter,
          "attention: {} queries and no key, expected at least 1 key (softmax over nothing)", instance.q.rows());
  require(std::isfinite(instance.scale), ErrorKind::parameter, "attention: scale is {}, expected a finite number",
          instance.scale);
  require(instance.entry_bound >= 0 && std::isfinite(instance.entry_bound), ErrorKind::parameter,
          "attention: entry bound is {}, expected a finite number >= 0", instance.entry_bound);
  require(std::isfinite(instance.log_tolerance), ErrorKind::parameter,
          "attention: ln of the tolerance is {}, expected a finite number", instance.log_tolerance);
  validate_matrix(instance.q, "Q", instance.entry_bound);
  validate_matrix(instance.k, "K", instance.entry_bound);
  validate_matrix(instance.v, "V", instance.entry_bound);
}

std::vector<std::string> Attention::size_fields() {
  return {"num_queries", "num_keys", "dim", "value_dim"};
}

Sizes Attention::size(const Instance& instance) {
  return {{"num_queries", instance.q.rows()},
          {"num_keys", instance.k.rows()},
          {"dim", instance.k.cols()},
          {"value_dim", instance.v.cols()}};
}

Digest Attention::digest(const Instance& instance) {
  Digester digester;
  digester.add(kId).add(instance.scale + 0.0).add(instance.entry_bound + 0.0).add(instance.log_tolerance + 0.0);
  add_matrix(digester, instance.q);
  add_matrix(digester, instance.k);
  add_matrix(digester, instance.v);
  return digester.finish();
}

Attention::Answer Attention::solve_brute_force(const Instance& instance, const Execution& execution) {
  validate(instance);
  const auto rows = static_cast<std::uint64_t>(instance.q.rows());
  Answer answer;
  answer.output.resize(instance.q.rows(), instance.v.cols());
  const ProgressScope progress(execution, "attention by definition", rows);
  parallel_for(execution, rows, 1, [&](std::uint64_t begin, std::uint64_t) {
    const auto i = static_cast<Eigen::Index>(begin);
    const Weights weights = weights_of(instance, i);
    for (Eigen::Index c = 0; c < instance.v.cols(); ++c)
      answer.output(i, c) = static_cast<double>(output_entry(instance, weights, c).value);
  });
  return answer;
}

Report Attention::check(const Instance& instance, const Answer& answer) {
  validate(instance);
  const Eigen::Index rows = instance.q.rows();
  const Eigen::Index cols = instance.v.cols();
  if (answer.output.rows() != rows || answer.output.cols() != cols)
    return {Verdict::refuted, fmt::format("the output is {} x {}, expected {} x {}", answer.output.rows(),
                                          answer.output.cols(), rows, cols)};
  const bool with_log = !answer.log_column.empty();
  if (with_log && (answer.log_column.size() != static_cast<std::uint64_t>(rows) || cols == 0))
    return {Verdict::refuted, fmt::format("{} enclosures of logarithms for {} rows and {} columns, expected one a row",
                                          answer.log_column.size(), rows, cols)};
  Report report{Verdict::certified, fmt::format("{} x {} entries within exp({})", rows, cols, instance.log_tolerance)};
  for (Eigen::Index i = 0; i < rows; ++i) {
    const Weights weights = weights_of(instance, i);
    for (Eigen::Index c = 0; c < cols; ++c) {
      const Value truth = output_entry(instance, weights, c);
      Verdict verdict = judge_entry(answer.output(i, c), truth, instance);
      if (c == 0 && with_log) {
        // The double beside an enclosure may be too coarse for the tolerance; then the enclosure speaks for the entry.
        const LogEnclosure& log = answer.log_column[static_cast<std::size_t>(i)];
        const Verdict log_verdict = judge_log(log, log_output(instance, weights));
        if (log_verdict == Verdict::refuted)
          return {Verdict::refuted, fmt::format("row {}: [{}, {}] does not enclose the logarithm of the output {}", i,
                                                log.log_low, log.log_high, static_cast<double>(truth.value))};
        const double coarse = std::abs(static_cast<double>(truth.value)) * kWidestLogEnclosure + 0x1p-1000;
        const bool near = std::abs(answer.output(i, 0) - static_cast<double>(truth.value)) <= coarse;
        if (verdict != Verdict::certified && near) verdict = log_verdict;
      }
      if (verdict == Verdict::refuted)
        return {Verdict::refuted,
                fmt::format("output[{},{}] = {} but the attention is {}, beyond exp({})", i, c, answer.output(i, c),
                            static_cast<double>(truth.value), instance.log_tolerance)};
      if (verdict == Verdict::undecided && report.verdict == Verdict::certified)
        report = {
            Verdict::undecided,
            fmt::format("output[{},{}] = {} against {}: the difference is within rounding of the tolerance exp({})", i,
                        c, answer.output(i, c), static_cast<double>(truth.value), instance.log_tolerance)};
    }
  }
  return report;
}

}  // namespace subquad::problems
