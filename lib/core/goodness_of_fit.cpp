#include <subquad/core/binomial_bounds.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/goodness_of_fit.hpp>

#include <boost/math/distributions/chi_squared.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace subquad {

bool GoodnessOfFit::refuted() const {
  return impossible || !(p_value >= kFalseAlarm);
}

GoodnessOfFit g_test(std::span<const std::uint64_t> counts, std::span<const double> probabilities,
                     double least_expected) {
  require(counts.size() == probabilities.size(), ErrorKind::parameter, "g_test: {} counts and {} probabilities",
          counts.size(), probabilities.size());
  double mass = 0;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    require(probabilities[i] >= 0, ErrorKind::parameter, "g_test: probability {} of cell {}, expected >= 0",
            probabilities[i], i);
    mass += probabilities[i];
    total += counts[i];
  }
  require(std::fabs(mass - 1) <= 1e-9, ErrorKind::parameter, "g_test: the probabilities add up to {}, expected 1",
          mass);
  require(total > 0, ErrorKind::parameter, "g_test: no observation");

  GoodnessOfFit result;
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return probabilities[a] < probabilities[b]; });
  struct Cell {
    double expected = 0;
    double observed = 0;
  };
  const auto possible =
      static_cast<double>(std::count_if(probabilities.begin(), probabilities.end(), [](double p) { return p > 0; }));
  least_expected = std::max(least_expected, std::sqrt(possible) / 4);
  std::vector<Cell> cells(1);
  for (const std::size_t i : order) {
    if (probabilities[i] == 0) {
      result.impossible = result.impossible || counts[i] > 0;
      continue;
    }
    if (cells.back().expected >= least_expected) cells.emplace_back();
    cells.back().expected += probabilities[i] * static_cast<double>(total);
    cells.back().observed += static_cast<double>(counts[i]);
  }
  if (cells.size() > 1 && cells.back().expected < least_expected) {
    cells[cells.size() - 2].expected += cells.back().expected;
    cells[cells.size() - 2].observed += cells.back().observed;
    cells.pop_back();
  }
  for (const Cell& cell : cells) {
    if (cell.observed > 0) result.statistic += 2 * cell.observed * std::log(cell.observed / cell.expected);
  }
  result.cells = cells.size();
  if (cells.size() < 2) return result;
  const boost::math::chi_squared_distribution<double> law(static_cast<double>(cells.size() - 1));
  result.p_value = boost::math::cdf(boost::math::complement(law, std::max(result.statistic, 0.0)));
  return result;
}

}  // namespace subquad
