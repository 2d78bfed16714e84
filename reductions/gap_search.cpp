#include <subquad/core/error.hpp>
#include <subquad/reductions/gap_search.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace subquad::reductions {

namespace {

constexpr unsigned kFractionBits = 32;

/// Asks for one group and insists on one value a row.
std::vector<bool> ask(const GapSearch& search, const std::vector<std::uint64_t>& rows, KeyRange keys,
                      std::uint64_t near, std::uint64_t far) {
  std::vector<bool> answer = search.decide(rows, keys, near, far);
  require(answer.size() == rows.size(), ErrorKind::input, "the oracle answered {} rows, expected {}", answer.size(),
          rows.size());
  return answer;
}

/// The far threshold of a yes that shall be worth `worth`: beyond D all values mean the same, so D + 1 is the largest.
std::uint64_t far_threshold(const GapSearch& search, std::uint64_t worth) {
  return std::min(worth, search.dim) + 1;
}

}  // namespace

GapFactor::GapFactor(std::uint64_t eps_num, std::uint64_t eps_den, std::uint64_t steps) {
  require(eps_den >= 1, ErrorKind::parameter, "gap search: eps has denominator 0");
  require(steps >= 1 && steps <= 4096, ErrorKind::parameter, "gap search: {} steps, expected 1..4096", steps);
  const Count one = Count(1) << kFractionBits;
  const Count target = boost::multiprecision::pow(one, static_cast<unsigned>(steps)) * (Count(eps_den) + eps_num);
  const auto fits = [&](const Count& p) {
    return boost::multiprecision::pow(Count(one + p), static_cast<unsigned>(steps)) * eps_den <= target;
  };
  // (1 + p/q)^steps >= 1 + p/q bounds p from above.
  Count low = 0;
  Count high = one * eps_num / eps_den + 1;
  while (high - low > 1) {
    const Count middle = (low + high) / 2;
    (fits(middle) ? low : high) = middle;
  }
  numerator_ = low;
  powers_.push_back(1);
  for (std::uint64_t j = 0; j < steps; ++j) powers_.push_back(powers_.back() * (one + numerator_));
}

std::uint64_t GapFactor::scaled(std::uint64_t k, std::uint64_t power) const {
  require(power < powers_.size(), ErrorKind::parameter, "gap search: power {} of a factor made for {} steps", power,
          powers_.size() - 1);
  const Count value = (Count(k) * powers_[power]) >> static_cast<unsigned>(kFractionBits * power);
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
  return value > kLargest ? kLargest : value.convert_to<std::uint64_t>();
}

Thresholds Thresholds::integers(std::uint64_t dim) {
  Thresholds thresholds;
  thresholds.dim_ = dim;
  return thresholds;
}

Thresholds Thresholds::grid(std::uint64_t dim, const GapFactor& factor) {
  Thresholds thresholds;
  thresholds.dim_ = dim;
  for (std::uint64_t k = 0; k < dim; k = std::max(k + 1, factor.scaled(k, 1))) thresholds.listed_.push_back(k);
  thresholds.listed_.push_back(dim);
  return thresholds;
}

std::vector<RowValue> search_values(const GapSearch& search, const Thresholds& thresholds, const Execution& execution) {
  require(thresholds.at(thresholds.size() - 1) == search.dim, ErrorKind::parameter,
          "gap search: last threshold {}, expected the largest distance {}", thresholds.at(thresholds.size() - 1),
          search.dim);
  // Invariant of a row with interval [low, high]: thresholds[low - 1] < dmin (for low = 0: nothing), and
  // dmin <= floor((1+e) thresholds[high]). A yes at `middle` moves high, a no moves low; both keep it whatever dmin is.
  struct Interval {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
  };
  std::vector<Interval> intervals(search.num_rows, Interval{0, thresholds.size() - 1});
  const KeyRange all_keys{0, search.num_keys};
  for (;;) {
    execution.check_stop();
    std::map<std::uint64_t, std::vector<std::uint64_t>> groups;  // by midpoint
    for (std::uint64_t row = 0; row < search.num_rows; ++row) {
      const Interval& interval = intervals[row];
      if (interval.low < interval.high) groups[interval.low + (interval.high - interval.low) / 2].push_back(row);
    }
    if (groups.empty()) break;
    for (const auto& [middle, rows] : groups) {
      const std::uint64_t near = thresholds.at(middle);
      const std::vector<bool> yes =
          ask(search, rows, all_keys, near, far_threshold(search, search.factor.scaled(near, 1)));
      for (std::size_t r = 0; r < rows.size(); ++r) {
        if (yes[r]) {
          intervals[rows[r]].high = middle;
        } else {
          intervals[rows[r]].low = middle + 1;
        }
      }
    }
  }
  std::vector<RowValue> values;
  values.reserve(search.num_rows);
  for (const Interval& interval : intervals) {
    const std::uint64_t value = interval.low == 0 ? 0 : thresholds.at(interval.low - 1) + 1;
    values.push_back({value, thresholds.at(interval.high)});
  }
  return values;
}

std::vector<std::uint64_t> search_keys(const GapSearch& search, const std::vector<RowValue>& values,
                                       const Execution& execution) {
  require(values.size() == search.num_rows, ErrorKind::parameter, "gap search: {} values for {} rows", values.size(),
          search.num_rows);
  require(search.num_keys >= 1 || search.num_rows == 0, ErrorKind::parameter, "gap search: {} rows and no key",
          search.num_rows);
  // Invariant of a row: some key of `keys` is within floor((1+e)^worth base).
  struct State {
    KeyRange keys;
    std::uint64_t worth = 1;
  };
  std::vector<State> states(search.num_rows, State{{0, search.num_keys}, 1});
  for (;;) {
    execution.check_stop();
    struct Call {
      KeyRange left;
      std::uint64_t near = 0;
      std::uint64_t far = 0;
      auto operator<=>(const Call&) const = default;
    };
    std::map<Call, std::vector<std::uint64_t>> groups;  // ordered, so that calls on the same keys are neighbours
    for (std::uint64_t row = 0; row < search.num_rows; ++row) {
      State& state = states[row];
      if (state.keys.size() <= 1) continue;
      const std::uint64_t near = search.factor.scaled(values[row].base, state.worth);
      if (near >= search.dim) {
        state.keys.last = state.keys.first + 1;  // every key is that near
        continue;
      }
      const std::uint64_t far = far_threshold(search, search.factor.scaled(values[row].base, state.worth + 1));
      const KeyRange left{state.keys.first, state.keys.first + state.keys.size() / 2};
      groups[Call{left, near, far}].push_back(row);
    }
    if (groups.empty()) break;
    for (const auto& [call, rows] : groups) {
      const std::vector<bool> yes = ask(search, rows, call.left, call.near, call.far);
      for (std::size_t r = 0; r < rows.size(); ++r) {
        State& state = states[rows[r]];
        if (yes[r]) {
          state.keys = call.left;
          ++state.worth;  // a yes certifies a key below `far` only
        } else {
          state.keys.first = call.left.last;
        }
      }
    }
  }
  std::vector<std::uint64_t> keys;
  keys.reserve(search.num_rows);
  for (const State& state : states) keys.push_back(state.keys.first);
  return keys;
}

}  // namespace subquad::reductions
