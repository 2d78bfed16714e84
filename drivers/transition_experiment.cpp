#include "transition_experiment.hpp"

#include "line_plot.hpp"

#include <subquad/attention/low_rank_plan.hpp>
#include <subquad/attention/monomial_basis.hpp>
#include <subquad/core/error.hpp>
#include <subquad/exact/exp_certification.hpp>
#include <subquad/exact/exp_degree.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace subquad::drivers {
namespace {

using exact::Rational;
using exact::Rounding;

/// Beyond this degree the table is predicted: a certificate would take seconds a row.
constexpr int kCertifiedUpTo = 150;

TransitionRow row(const TransitionOptions& options, double c, int log2_n, const Execution& execution) {
  TransitionRow r;
  r.c = c;
  r.log2_n = log2_n;
  const double ln_n = log2_n * std::numbers::ln2;
  r.dim = static_cast<std::uint64_t>(std::ceil(options.dim_factor * ln_n));
  r.entry_bound = c * std::pow(ln_n, options.growth);
  r.radius = r.entry_bound * r.entry_bound;
  // eps = 4x/(4 + x^2) for x = eps_a/B, to relative 2^-40 or so: x is tiny, and only its logarithm matters for the
  // degree.
  const double log2_x = -options.tolerance_exponent * log2_n - std::log2(r.entry_bound);
  Rational epsilon(9, 10);
  if (log2_x < 0) {
    const auto whole = static_cast<std::int64_t>(std::floor(log2_x));
    const Rational x =
        round_to_bits(exact::from_double(std::exp2(log2_x - static_cast<double>(whole))), 40, Rounding::down) *
        exact::power_of_two(whole);
    epsilon = std::min(epsilon, round_to_bits(4 * x / (4 + x * x), 40, Rounding::down));
  }
  r.log2_epsilon = log2_estimate(numerator(epsilon)) - log2_estimate(denominator(epsilon));
  const Rational radius = round_to_bits(exact::from_double(r.radius), 24, Rounding::up);
  const exact::ExpProblem problem{exact::ErrorMeasure::relative, -radius, radius};
  r.degree = predicted_degree(problem, epsilon);
  if (r.degree <= kCertifiedUpTo) {
    r.degree = certified_minimal_degree(problem, epsilon, execution).degree();
    r.certified = true;
  }
  r.rank = attention::MonomialBasis::count(r.dim, static_cast<std::uint64_t>(r.degree));
  r.paper_rank = attention::MonomialBasis::paper_count(r.dim, static_cast<std::uint64_t>(r.degree));
  r.exponent = log2_estimate(r.rank) / log2_n;
  return r;
}

}  // namespace

std::vector<TransitionRow> run_transition(const TransitionOptions& options, const Execution& execution) {
  require(options.log2_n_low >= 1 && options.log2_n_high <= 60 && options.log2_n_low <= options.log2_n_high &&
              options.log2_n_step >= 1,
          ErrorKind::parameter,
          "transition: n from 2^{} to 2^{} in steps of {}, expected 2^1 to 2^60 in steps of at least 1",
          options.log2_n_low, options.log2_n_high, options.log2_n_step);
  require(options.dim_factor > 0 && options.dim_factor <= 64, ErrorKind::parameter,
          "transition: C = {}, expected 0 < C <= 64", options.dim_factor);
  require(options.tolerance_exponent > 0 && options.tolerance_exponent <= 100, ErrorKind::parameter,
          "transition: eps_a = n^-{}, expected an exponent from above 0 to 100", options.tolerance_exponent);
  require(options.growth >= 0 && options.growth <= 1, ErrorKind::parameter,
          "transition: B grows as (ln n)^{}, expected an exponent from 0 to 1", options.growth);
  for (const double c : options.c)
    require(c > 0 && c <= 16, ErrorKind::parameter, "transition: c = {}, expected 0 < c <= 16", c);
  const auto steps = static_cast<std::uint64_t>((options.log2_n_high - options.log2_n_low) / options.log2_n_step + 1);
  const ProgressScope progress(execution, "transition", steps * options.c.size());
  std::vector<TransitionRow> rows;
  for (const double c : options.c) {
    for (int log2_n = options.log2_n_low; log2_n <= options.log2_n_high; log2_n += options.log2_n_step) {
      execution.check_stop();
      rows.push_back(row(options, c, log2_n, execution));
      progress.advance(1);
    }
  }
  return rows;
}

std::string draw_transition(const TransitionOptions& options, const std::vector<TransitionRow>& rows) {
  LinePlot plot;
  plot.title = fmt::format("Rank of low-rank attention: entries up to c (ln n)^{:g}, d = {:g} ln n, eps_a = n^-{:g}",
                           options.growth, options.dim_factor, options.tolerance_exponent);
  plot.x_label = "log2 n";
  plot.y_label = "log2 rank / log2 n   (subquadratic below 1)";
  plot.x_low = options.log2_n_low;
  plot.x_high = std::max(options.log2_n_high, options.log2_n_low + 1);
  const auto largest =
      std::max_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.exponent < b.exponent; });
  plot.y_high = rows.empty() ? 2 : std::ceil(largest->exponent + 0.2);
  plot.y_ticks = std::clamp(static_cast<int>(plot.y_high), 2, 16);
  const int steps = (options.log2_n_high - options.log2_n_low) / options.log2_n_step;
  if (steps >= 1 && steps <= 16 && options.log2_n_low + steps * options.log2_n_step == options.log2_n_high)
    plot.x_ticks = steps;
  plot.series.push_back({"r = n", {{plot.x_low, 1.0}, {plot.x_high, 1.0}}, true});
  for (const double c : options.c) {
    PlotSeries series{fmt::format("c = {:g}", c), {}, false};
    for (const TransitionRow& r : rows) {
      if (r.c == c) series.points.emplace_back(r.log2_n, r.exponent);
    }
    plot.series.push_back(std::move(series));
  }
  return draw_line_plot(plot);
}

}  // namespace subquad::drivers
