#include "float32_grid.hpp"

#include <subquad/core/error.hpp>
#include <subquad/reductions/reduction.hpp>
#include <subquad/reductions/threshold_key.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace subquad::reductions {

namespace {

using exact::Comparison;
using exact::Interval;

constexpr std::uint64_t kLargestSize = std::uint64_t{1} << 62;
/// One step up always suffices for e < 2^25 (docs/proofs/ov_to_attention.md); the rest is slack for larger instances.
constexpr int kAttempts = 64;
/// Keeps all numbers normal float32 numbers when eps_a is tiny and n = 1; the entry bound is 1 there anyway.
constexpr double kSmallestUnit = 0x1p-20;

/// What stays fixed while s grows.
struct Window {
  Interval near_units;
  Interval far_units;
  Interval middle;        ///< (near + far)/2
  Interval log_num_keys;  ///< ln max(1, n)
  Interval half_log_rho;  ///< h
  int precision_bits;
};

/// Chooses entries whose sum is as near to unit * y as float32 allows. |y| <= num_extra.
void choose_entries(double y, ThresholdKey& key) {
  const double unit = key.unit;
  const auto count = static_cast<double>(key.num_extra);
  const double target = unit * y;
  const double mean = std::clamp(target / count, -unit, unit);
  auto entry = static_cast<float>(mean);
  if (static_cast<double>(entry) > mean) entry = std::nextafter(entry, -std::numeric_limits<float>::infinity());
  key.entry = entry;
  key.raised_entry = entry;
  key.num_raised = 0;
  if (static_cast<double>(entry) == mean) return;
  const float raised = std::nextafter(entry, std::numeric_limits<float>::infinity());
  const double step = static_cast<double>(raised) - static_cast<double>(entry);
  const double steps = std::round((target - count * static_cast<double>(entry)) / step);
  if (steps >= count) {
    key.entry = key.raised_entry = raised;
  } else if (steps >= 1) {
    key.raised_entry = raised;
    key.num_raised = static_cast<std::uint64_t>(steps);
  }
}

/// Returns whether intervals prove both inequalities of the claim.
bool proves_gap(const Window& window, const ThresholdKey& key) {
  const Interval unit_logit = key.logit_unit(window.precision_bits);
  const Interval extra = key.extra_logit(window.precision_bits);
  const Interval far_end = window.far_units * unit_logit + window.log_num_keys + window.half_log_rho;
  const Interval near_end = window.near_units * unit_logit - window.half_log_rho;
  return compare(far_end, extra) == Comparison::less && compare(extra, near_end) == Comparison::less;
}

bool is_normal_or_zero(float x) {
  return x == 0.0F || std::isnormal(x);
}

}  // namespace

Interval ThresholdKey::logit_unit(int precision_bits) const {
  const Interval s = Interval::from_double(unit, precision_bits);
  return Interval::from_double(scale, precision_bits) * s * s;
}

Interval ThresholdKey::extra_logit(int precision_bits) const {
  const auto times = [&](float value, std::uint64_t count) {
    return Interval::from_double(value, precision_bits) *
           Interval::from_integer(static_cast<std::int64_t>(count), precision_bits);
  };
  return Interval::from_double(scale, precision_bits) * Interval::from_double(unit, precision_bits) *
         (times(entry, num_extra - num_raised) + times(raised_entry, num_raised));
}

ThresholdKey choose_threshold_key(const LogitGap& gap, const Tolerance& tolerance) {
  require(gap.far_units < gap.near_units, ErrorKind::parameter,
          "threshold key: far_units {} is not below near_units {}", gap.far_units, gap.near_units);
  require(gap.num_keys < kLargestSize && gap.dim < kLargestSize, ErrorKind::resource,
          "threshold key: {} keys of dimension {} are beyond 2^62", gap.num_keys, gap.dim);
  const int bits = tolerance.precision_bits();
  const auto integer = [bits](std::int64_t x) { return Interval::from_integer(x, bits); };
  const Interval near_units = integer(gap.near_units);
  const Interval far_units = integer(gap.far_units);
  const Interval width = near_units - far_units;
  const auto num_keys = static_cast<std::int64_t>(std::max<std::uint64_t>(gap.num_keys, 1));
  const Window window{
      near_units, far_units, (near_units + far_units) / integer(2), log(integer(num_keys)), tolerance.half_log_rho(),
      bits};
  const Interval log_rho_n = window.log_num_keys + integer(2) * window.half_log_rho;

  ThresholdKey key;
  const Interval y = window.middle + width * window.log_num_keys / (integer(2) * log_rho_n);
  const double wanted_extra = std::max(1.0, std::ceil(abs(y).high()));
  require(wanted_extra < static_cast<double>(kLargestSize), ErrorKind::resource,
          "threshold key: {} extra coordinates are beyond 2^62", wanted_extra);
  key.num_extra = static_cast<std::uint64_t>(wanted_extra);
  const std::uint64_t total_dim = gap.dim + key.num_extra;
  key.scale = 1.0 / static_cast<double>(total_dim);

  const Interval ideal_unit = sqrt(log_rho_n / (Interval::from_double(key.scale, bits) * width));
  double unit = round_up_to_unit_grid(std::max(kSmallestUnit, ideal_unit.high()));
  for (int attempt = 0; attempt < kAttempts; ++attempt, unit = next_on_unit_grid(unit)) {
    key.unit = static_cast<float>(unit);
    // The middle of the window leaves most room for rounding; beyond +-e it would need entries larger than the unit.
    const Interval middle = window.middle + window.log_num_keys / (integer(2) * key.logit_unit(bits));
    const auto limit = static_cast<double>(key.num_extra);
    choose_entries(std::clamp(middle.low(), -limit, limit), key);
    if (!is_normal_or_zero(key.entry) || !is_normal_or_zero(key.raised_entry) || !proves_gap(window, key)) continue;
    key.entry_bound = std::max(1.0, unit);
    return key;
  }
  fail(ErrorKind::internal, "no threshold key with float32 entries for n = {}, near {}, far {}, eps_a = {}",
       gap.num_keys, gap.near_units, gap.far_units, tolerance.text());
}

std::vector<bool> rows_above_half(const problems::Attention::Instance& target,
                                  const problems::Attention::Answer& answer) {
  const problems::MatrixD& output = answer.output;
  require(output.rows() == target.q.rows() && output.cols() == target.v.cols() && output.cols() >= 1,
          ErrorKind::parameter, "attention output is {} x {}, expected {} x {} with at least one column", output.rows(),
          output.cols(), target.q.rows(), target.v.cols());
  std::vector<bool> above(static_cast<std::size_t>(output.rows()));
  for (Eigen::Index i = 0; i < output.rows(); ++i) {
    const double value = output(i, 0);
    if (!(value >= -0.5 && value <= 1.5)) {  // also false for NaN
      throw OracleRefuted(
          fmt::format("row {}: output {} is farther than 1/2 from every possible value (all are in [0, 1])", i, value),
          static_cast<std::uint64_t>(i));
    }
    above[static_cast<std::size_t>(i)] = value > 0.5;
  }
  return above;
}

void place_threshold_key(const ThresholdKey& key, problems::Attention::Instance& instance) {
  const auto extra = static_cast<Eigen::Index>(key.num_extra);
  const auto raised = static_cast<Eigen::Index>(key.num_raised);
  const Eigen::Index last = instance.k.rows() - 1;
  if (instance.q.rows() > 0) instance.q.rightCols(extra).setConstant(static_cast<double>(key.unit));
  instance.k.row(last).tail(extra).setConstant(static_cast<double>(key.entry));
  instance.k.row(last).segment(instance.k.cols() - extra, raised).setConstant(static_cast<double>(key.raised_entry));
  instance.v.setOnes();
  instance.v(last, 0) = 0.0;
  instance.scale = key.scale;
  instance.entry_bound = key.entry_bound;
}

}  // namespace subquad::reductions
