#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>
#include <subquad/reductions/gap_search.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

namespace subquad::reductions {
namespace {

using Distances = std::vector<std::vector<std::uint64_t>>;  // [row][key]

std::uint64_t nearest(const std::vector<std::uint64_t>& distances, KeyRange keys) {
  return *std::min_element(distances.begin() + static_cast<std::ptrdiff_t>(keys.first),
                           distances.begin() + static_cast<std::ptrdiff_t>(keys.last));
}

/// An oracle that is right inside the promise and tosses a coin outside, differently on every call.
struct Adversary {
  const Distances& distances;
  Random random;
  std::vector<std::uint64_t> questions;  // per row
  std::uint64_t calls = 0;
  double least_ratio = 1e300;  // smallest (far) / (near) over all calls with near >= 1

  explicit Adversary(const Distances& d, std::uint64_t seed) : distances(d), random(seed), questions(d.size(), 0) {}

  std::vector<bool> operator()(const std::vector<std::uint64_t>& rows, KeyRange keys, std::uint64_t near,
                               std::uint64_t far) {
    ++calls;
    EXPECT_LT(near, far);
    EXPECT_FALSE(rows.empty());
    if (near >= 1) least_ratio = std::min(least_ratio, static_cast<double>(far) / static_cast<double>(near));
    std::vector<bool> answer;
    for (const std::uint64_t row : rows) {
      ++questions[row];
      const std::uint64_t d = nearest(distances[row], keys);
      answer.push_back(d <= near || (d < far && random.below(2) == 1));
    }
    return answer;
  }
};

std::uint64_t most_questions(const Adversary& adversary) {
  return adversary.questions.empty() ? 0 : *std::max_element(adversary.questions.begin(), adversary.questions.end());
}

TEST(GapFactor, WorkedExamples) {
  const GapFactor half(1, 2, 1);  // one step: the factor is 3/2 itself
  EXPECT_EQ(half.numerator(), Count(1) << 31);
  EXPECT_EQ(half.scaled(7, 1), 10U);  // floor(10.5)
  EXPECT_EQ(half.scaled(7, 0), 7U);
  const GapFactor square(21, 100, 2);  // 1.1^2 = 1.21: one hair below 1.1
  EXPECT_EQ(square.scaled(1000000, 1), 1099999U);
  EXPECT_EQ(square.scaled(100, 1), 109U);
  const GapFactor exact(0, 1, 5);
  EXPECT_EQ(exact.numerator(), 0);
  EXPECT_EQ(exact.scaled(123, 5), 123U);
}

RC_GTEST_PROP(GapFactor, IsTheLargestWhosePowerFits, ()) {
  const auto num = *rc::gen::inRange<std::uint64_t>(0, 5000);
  const auto den = *rc::gen::inRange<std::uint64_t>(1, 5000);
  const auto steps = *rc::gen::inRange<std::uint64_t>(1, 40);
  const GapFactor factor(num, den, steps);
  const Count one = Count(1) << 32;
  const auto power = [&](const Count& base) { return boost::multiprecision::pow(base, static_cast<unsigned>(steps)); };
  RC_ASSERT(power(one + factor.numerator()) * den <= power(one) * (den + num));
  RC_ASSERT(power(one + factor.numerator() + 1) * den > power(one) * (den + num));
}

TEST(GapFactor, SaturatesAndRefuses) {
  const GapFactor huge(~std::uint64_t{0}, 1, 1);
  EXPECT_EQ(huge.scaled(std::uint64_t{1} << 40, 1), ~std::uint64_t{0});
  EXPECT_THROW(huge.scaled(1, 2), Error);
  EXPECT_THROW(GapFactor(1, 0, 1), Error);
  EXPECT_THROW(GapFactor(1, 1, 0), Error);
}

TEST(Thresholds, GridOfTheWorkedSizes) {
  // D = 1e5, eps = 0.1 and 0.01 shared by grid and oracle (two steps): calls fall from 17 to 8 and 11.
  const auto rounds = [](std::uint64_t size) { return ceil_log2(Count(size)); };
  EXPECT_EQ(rounds(Thresholds::integers(100000).size()), 17U);
  const Thresholds tenth = Thresholds::grid(100000, GapFactor(1, 10, 2));
  EXPECT_EQ(rounds(tenth.size()), 8U);
  const Thresholds hundredth = Thresholds::grid(100000, GapFactor(1, 100, 2));
  EXPECT_EQ(rounds(hundredth.size()), 11U);
  for (const Thresholds& grid : {tenth, hundredth}) {
    EXPECT_EQ(grid.at(0), 0U);
    EXPECT_EQ(grid.at(grid.size() - 1), 100000U);
    for (std::uint64_t s = 1; s < grid.size(); ++s) EXPECT_LT(grid.at(s - 1), grid.at(s));
  }
}

TEST(GapSearch, WorkedExampleByHand) {
  // One row, distances 5 3 6 4 to four keys, D = 7, eps = 0: everything is exact.
  const Distances distances = {{5, 3, 6, 4}};
  std::vector<std::pair<std::uint64_t, std::uint64_t>> asked;
  GapSearch search{1, 4, 7, GapFactor(0, 1, 3), {}};
  search.decide = [&](const std::vector<std::uint64_t>&, KeyRange keys, std::uint64_t near, std::uint64_t far) {
    asked.emplace_back(near, far);
    return std::vector<bool>{nearest(distances[0], keys) <= near};
  };
  const auto values = search_values(search, Thresholds::integers(7), {});
  EXPECT_EQ(values[0].value, 3U);
  EXPECT_EQ(values[0].base, 3U);
  // 0..7: 3 yes, 1 no, 2 no.
  EXPECT_EQ(asked, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{3, 4}, {1, 2}, {2, 3}}));
  asked.clear();
  EXPECT_EQ(search_keys(search, values, {}), std::vector<std::uint64_t>{1});
  EXPECT_EQ(asked, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{3, 4}, {3, 4}}));  // left yes, its left no
}

struct Setting {
  Distances distances;
  std::uint64_t dim = 0;
  std::uint64_t num_keys = 1;
  std::uint64_t eps_num = 0;
  std::uint64_t eps_den = 1;
};

Setting random_setting(Random& random) {
  Setting s;
  s.dim = random.below(3) == 0 ? random.below(4) : random.below(300);
  s.num_keys = 1 + random.below(20);
  s.eps_num = random.below(5) == 0 ? 0 : random.below(40);
  s.eps_den = 1 + random.below(20);
  const std::uint64_t rows = random.below(6);
  // Often a narrow band of distances: that is where coin tosses outside the promise do the most harm.
  const std::uint64_t low = random.below(s.dim + 1);
  const std::uint64_t width = random.below(2) == 0 ? s.dim - low : std::min<std::uint64_t>(s.dim - low, low / 2 + 1);
  for (std::uint64_t r = 0; r < rows; ++r) {
    s.distances.emplace_back();
    for (std::uint64_t k = 0; k < s.num_keys; ++k) s.distances.back().push_back(low + random.below(width + 1));
  }
  return s;
}

Count allowed(const Setting& s, std::uint64_t value) {
  return Count(value) + Count(value) * s.eps_num / s.eps_den;
}

// 4000 adversarial searches: value <= dmin, key within floor((1+eps) value), number of questions within the bound, and
// every question has the gap that the theorem promises.
TEST(GapSearch, AdversarialOracles) {
  Random random(24);
  for (int trial = 0; trial < 4000; ++trial) {
    const Setting s = random_setting(random);
    const bool grid = random.below(2) == 1;
    const std::uint64_t halvings = ceil_log2(Count(s.num_keys));
    const GapFactor factor(s.eps_num, s.eps_den, 1 + halvings + (grid ? 1 : 0));
    const Thresholds thresholds = grid ? Thresholds::grid(s.dim, factor) : Thresholds::integers(s.dim);
    Adversary adversary(s.distances, random());
    const GapSearch search{s.distances.size(), s.num_keys, s.dim, factor, std::ref(adversary)};
    const auto values = search_values(search, thresholds, {});
    ASSERT_LE(most_questions(adversary), ceil_log2(Count(thresholds.size())));
    ASSERT_LE(adversary.calls, thresholds.size());
    std::fill(adversary.questions.begin(), adversary.questions.end(), 0);
    const auto keys = search_keys(search, values, {});
    ASSERT_LE(most_questions(adversary), halvings);
    for (std::size_t row = 0; row < s.distances.size(); ++row) {
      const std::uint64_t dmin = nearest(s.distances[row], {0, s.num_keys});
      ASSERT_LE(values[row].value, dmin);
      ASSERT_LE(Count(dmin), allowed(s, values[row].value));
      ASSERT_LE(Count(s.distances[row][keys[row]]), allowed(s, values[row].value));
    }
    // far > (1+e) near wherever far was not cut at D + 1 (where all larger values mean the same).
    const double e = factor.numerator().convert_to<double>() / 4294967296.0;
    if (s.dim > 0 && adversary.least_ratio < 1e300) {
      ASSERT_TRUE(adversary.least_ratio > 1.0 + e || adversary.least_ratio <= static_cast<double>(s.dim + 1));
    }
  }
}

TEST(GapSearch, RowsWithTheSameMidpointShareACall) {
  // 64 rows, 5 distances: rows ask together, so the calls are bounded by the thresholds and not by the rows.
  Random random(5);
  Distances distances(64);
  for (auto& row : distances)
    for (int k = 0; k < 8; ++k) row.push_back(random.below(5));
  Adversary adversary(distances, 1);
  const GapSearch search{64, 8, 4, GapFactor(0, 1, 4), std::ref(adversary)};
  const auto values = search_values(search, Thresholds::integers(4), {});
  EXPECT_LE(adversary.calls, 4U);  // thresholds 0..3
  EXPECT_EQ(adversary.questions[0] >= 2 && adversary.questions[0] <= 3, true);
  for (std::size_t row = 0; row < 64; ++row) EXPECT_EQ(values[row].value, nearest(distances[row], {0, 8}));
}

TEST(GapSearch, Edges) {
  const auto never = [](const std::vector<std::uint64_t>&, KeyRange, std::uint64_t,
                        std::uint64_t) -> std::vector<bool> {
    ADD_FAILURE() << "no question is needed";
    return {};
  };
  const GapSearch flat{3, 2, 0, GapFactor(1, 1, 2), never};  // D = 0: all distances are 0
  const auto values = search_values(flat, Thresholds::integers(0), {});
  EXPECT_EQ(values.size(), 3U);
  EXPECT_EQ(values[0].value, 0U);
  EXPECT_EQ(search_keys(flat, values, {}), (std::vector<std::uint64_t>{0, 0, 0}));
  const GapSearch nobody{0, 0, 9, GapFactor(1, 1, 1), never};
  EXPECT_TRUE(search_values(nobody, Thresholds::integers(9), {}).empty());
  EXPECT_TRUE(search_keys(nobody, {}, {}).empty());
}

TEST(GapSearch, Refusals) {
  const auto short_answer = [](const std::vector<std::uint64_t>&, KeyRange, std::uint64_t, std::uint64_t) {
    return std::vector<bool>{};
  };
  const GapSearch search{1, 2, 3, GapFactor(0, 1, 2), short_answer};
  try {
    search_values(search, Thresholds::integers(3), {});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
  }
  EXPECT_THROW(search_values(search, Thresholds::integers(4), {}), Error);  // thresholds of another dimension
  EXPECT_THROW(search_keys(search, {}, {}), Error);
  const GapSearch no_keys{1, 0, 3, GapFactor(0, 1, 2), short_answer};
  EXPECT_THROW(search_keys(no_keys, {RowValue{}}, {}), Error);
}

/// Halving that forgets what a yes is worth: the fault that the control plants.
std::uint64_t unrelaxed_key(const GapSearch& search, std::uint64_t near, std::uint64_t far) {
  KeyRange keys{0, search.num_keys};
  while (keys.size() > 1) {
    const KeyRange left{keys.first, keys.first + keys.size() / 2};
    if (search.decide({0}, left, near, far)[0]) {
      keys = left;
    } else {
      keys.first = left.last;
    }
  }
  return keys.first;
}

// The control of claim ANN.DEC. e = 1/8, base 64: the row's nearest key is within 72, a yes at (72, 82) is worth 81.
// The oracle says yes for the left half because of the key at 80, as it may, and outside the promise says no from then
// on.
TEST(GapSearch, AThresholdThatIsNotRelaxedLosesTheKey) {
  const Distances distances = {{80, 200, 64, 200}};
  const GapFactor factor(217, 512, 3);  // (9/8)^3 = 1 + 217/512
  ASSERT_EQ(factor.scaled(64, 1), 72U);
  ASSERT_EQ(factor.scaled(64, 2), 81U);
  ASSERT_EQ(factor.scaled(64, 3), 91U);
  int outside = 0;
  const auto oracle = [&](const std::vector<std::uint64_t>&, KeyRange keys, std::uint64_t near, std::uint64_t far) {
    const std::uint64_t d = nearest(distances[0], keys);
    return std::vector<bool>{d <= near || (d < far && outside++ == 0)};
  };
  const GapSearch search{1, 4, 300, factor, oracle};
  EXPECT_EQ(search_keys(search, {RowValue{64, 64}}, {}), std::vector<std::uint64_t>{0});  // 80 <= 91
  outside = 0;
  const std::uint64_t lost = unrelaxed_key(search, 72, 82);
  EXPECT_EQ(lost, 1U);  // distance 200: far beyond everything allowed
}

}  // namespace
}  // namespace subquad::reductions
