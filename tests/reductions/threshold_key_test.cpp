#include <subquad/core/error.hpp>
#include <subquad/reductions/reduction.hpp>
#include <subquad/reductions/threshold_key.hpp>

#include <gtest/gtest.h>
#include <mpfr.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

namespace subquad::reductions {
namespace {

/// Checks the claim's two inequalities with plain MPFR at 2000 bits: far far_units X + ln n + h < w < near_units X - h.
/// At 2000 bits the rounding (below 2^-1900) is far smaller than all margins; `margin` returns the smaller one.
double proved_margin(const LogitGap& gap, const ThresholdKey& key, double odds /* (1+2 eps)/(1-2 eps) */) {
  mpfr_t x, w, h, n, left, right;
  mpfr_inits2(2000, x, w, h, n, left, right, static_cast<mpfr_ptr>(nullptr));
  mpfr_set_d(x, key.scale, MPFR_RNDN);
  mpfr_mul_d(x, x, key.unit, MPFR_RNDN);  // scale s
  mpfr_set_d(w, key.entry, MPFR_RNDN);
  mpfr_mul_ui(w, w, key.num_extra - key.num_raised, MPFR_RNDN);
  mpfr_set_d(left, key.raised_entry, MPFR_RNDN);
  mpfr_mul_ui(left, left, key.num_raised, MPFR_RNDN);
  mpfr_add(w, w, left, MPFR_RNDN);
  mpfr_mul(w, w, x, MPFR_RNDN);
  mpfr_mul_d(x, x, key.unit, MPFR_RNDN);  // X
  mpfr_set_d(h, odds, MPFR_RNDN);
  mpfr_log(h, h, MPFR_RNDN);
  mpfr_set_ui(n, std::max<std::uint64_t>(gap.num_keys, 1), MPFR_RNDN);
  mpfr_log(n, n, MPFR_RNDN);
  mpfr_mul_si(left, x, gap.far_units, MPFR_RNDN);
  mpfr_add(left, left, n, MPFR_RNDN);
  mpfr_add(left, left, h, MPFR_RNDN);
  mpfr_sub(left, w, left, MPFR_RNDN);
  mpfr_mul_si(right, x, gap.near_units, MPFR_RNDN);
  mpfr_sub(right, right, h, MPFR_RNDN);
  mpfr_sub(right, right, w, MPFR_RNDN);
  mpfr_min(left, left, right, MPFR_RNDN);
  const double margin = mpfr_get_d(left, MPFR_RNDD);
  mpfr_clears(x, w, h, n, left, right, static_cast<mpfr_ptr>(nullptr));
  return margin;
}

double ideal_unit(const LogitGap& gap, const ThresholdKey& key, double odds) {
  const double n = static_cast<double>(std::max<std::uint64_t>(gap.num_keys, 1));
  const double total = static_cast<double>(gap.dim + key.num_extra);
  return std::sqrt(total * (std::log(n) + 2 * std::log(odds)) / static_cast<double>(gap.near_units - gap.far_units));
}

void expect_sound(const LogitGap& gap, const ThresholdKey& key, double odds) {
  EXPECT_GT(proved_margin(gap, key, odds), 0.0);
  EXPECT_EQ(key.scale, 1.0 / static_cast<double>(gap.dim + key.num_extra));
  EXPECT_LE(std::abs(key.entry), key.unit);
  EXPECT_LE(std::abs(key.raised_entry), key.unit);
  EXPECT_LT(key.num_raised, key.num_extra);
  EXPECT_EQ(key.entry_bound, std::max(1.0, static_cast<double>(key.unit)));
  int exponent = 0;
  const double scaled = std::ldexp(std::frexp(static_cast<double>(key.unit), &exponent), 12);
  EXPECT_EQ(scaled, std::floor(scaled)) << "more than 12 bits";
  const double square = static_cast<double>(key.unit) * key.unit;
  EXPECT_EQ(square, static_cast<double>(static_cast<float>(square)));  // products of entries are float32 numbers
  EXPECT_LE(key.unit, 1.001 * std::max(0x1p-20, ideal_unit(gap, key, odds)));
  const double y_limit = std::max({1.0, std::ceil(std::abs(static_cast<double>(gap.near_units + gap.far_units)) / 2),
                                   static_cast<double>(gap.near_units)});
  EXPECT_LE(static_cast<double>(key.num_extra), y_limit);
}

TEST(ThresholdKey, MatchesAHandComputedExample) {
  // One key, d = 1, r_yes = 0, r_no = 1: logits +X and -X, so that the threshold is 0. eps = 1/4: rho = 9, L = ln 9.
  // e = 1, d~ = 2, beta = 2 L/2 = 2.19722, sqrt = 1.482303 = 3035.757/2048, rounded up to 3036/2048.
  const ThresholdKey key =
      choose_threshold_key({.near_units = 1, .far_units = -1, .num_keys = 1, .dim = 1}, Tolerance("0.25"));
  EXPECT_EQ(key.num_extra, 1U);
  EXPECT_EQ(key.scale, 0.5);
  EXPECT_EQ(key.unit, 3036.0F / 2048.0F);
  EXPECT_EQ(key.entry, 0.0F);
  EXPECT_EQ(key.num_raised, 0U);
  EXPECT_EQ(key.entry_bound, 3036.0 / 2048.0);
}

RC_GTEST_PROP(ThresholdKey, SeparatesForRandomGaps, ()) {
  const auto dim = *rc::gen::inRange<std::int64_t>(0, 3000);
  const auto r_yes = *rc::gen::inRange<std::int64_t>(0, dim + 1);
  const auto r_no = *rc::gen::inRange<std::int64_t>(r_yes + 1, dim + 2);
  const auto num_keys = std::uint64_t{1} << *rc::gen::inRange(0, 50);
  const auto eps = *rc::gen::element(std::pair("0.25", 3.0), std::pair("0.3", 4.0), std::pair("0.4", 9.0));
  const LogitGap gap{dim - 2 * r_yes, dim - 2 * r_no, num_keys - num_keys / 3, static_cast<std::uint64_t>(dim)};
  const ThresholdKey key = choose_threshold_key(gap, Tolerance(eps.first));
  expect_sound(gap, key, eps.second);
  RC_ASSERT(!::testing::Test::HasFailure());
}

TEST(ThresholdKey, CombsTheExtraCoordinatesWhereOneEntryIsTooCoarse) {
  // A million coordinates and a gap of one: equal float32 entries move w in steps of e ulp(c), wider than the window.
  const LogitGap gap{600000, 599998, 5000, 1000000};
  const ThresholdKey key = choose_threshold_key(gap, Tolerance("0.25"));
  expect_sound(gap, key, 3.0);
  EXPECT_EQ(key.num_extra, 600000U);
  EXPECT_GT(key.num_raised, 0U);
  // Planted fault: the same entry everywhere leaves the window.
  ThresholdKey coarse = key;
  coarse.num_raised = 0;
  EXPECT_LT(proved_margin(gap, coarse, 3.0), 0.0);
}

TEST(ThresholdKey, TakesTheNextUnitWhereFloat32MissesTheWindow) {
  // Found by search: sqrt(beta) lies just below a number of 12 bits, so that the window is narrower than float32's
  // steps and some of the nearest entries miss it on the near side, some on the far side. One step up must do.
  struct Case {
    std::uint64_t num_keys, dim;
    float too_narrow;
  };
  for (const Case& c :
       {Case{1310, 137, 35.96875F}, Case{1620, 265, 50.5F}, Case{377, 398, 56.953125F}, Case{820, 420, 61.234375F},
        Case{2847, 433, 66.375F}, Case{1490, 441, 64.8125F}, Case{2661, 577, 76.34375F}, Case{1725, 600, 76.15625F},
        Case{1551, 729, 83.46875F}, Case{279, 830, 80.65625F}, Case{2499, 944, 97.3125F}}) {
    const LogitGap gap{0, -1, c.num_keys, c.dim};
    const ThresholdKey key = choose_threshold_key(gap, Tolerance("0.25"));
    expect_sound(gap, key, 3.0);
    EXPECT_GT(key.unit, c.too_narrow);
    EXPECT_LE(key.unit, c.too_narrow * (1 + 0x1p-11F));
  }
}

TEST(ThresholdKey, WorksAtTheEdges) {
  for (const LogitGap& gap :
       {LogitGap{0, -1, 0, 0}, LogitGap{0, -1, 1, 0}, LogitGap{0, -2, 1, 0}, LogitGap{1, -1, 2, 1},
        LogitGap{-5, -7, 3, 5}, LogitGap{7, -9, 100, 7}, LogitGap{0, -1, 1ULL << 40, 1000}}) {
    expect_sound(gap, choose_threshold_key(gap, Tolerance("0.25")), 3.0);
  }
  // Tiny eps with one key: beta is about 8 eps; entries stay normal numbers because s is at least 2^-20.
  const ThresholdKey tiny = choose_threshold_key({0, -1, 1, 0}, Tolerance("1e-300"));
  EXPECT_EQ(tiny.unit, 0x1p-20F);
  EXPECT_TRUE(std::isnormal(tiny.entry));
  // Huge eps = 1/2 - 10^-300: the odds are 10^300 - 1, h = 690.7755, s = sqrt(2 h) = 37.1692 and up to 0.1 % more.
  std::string nearly_half = "0.4";
  nearly_half.append(299, '9');
  const ThresholdKey sharp = choose_threshold_key({0, -1, 1, 0}, Tolerance(nearly_half));
  EXPECT_GE(sharp.unit, 37.1692F);
  EXPECT_LE(sharp.unit, 37.1692F * 1.001F);
}

TEST(ThresholdKey, DependsOnEveryPartOfTheIdealUnit) {
  // Planted fault: s one step lower on its grid leaves no room for any threshold: X (near - far) < L.
  const LogitGap gap{0, -1, 300, 64};
  const ThresholdKey key = choose_threshold_key(gap, Tolerance("0.25"));
  ThresholdKey low = key;
  low.unit = static_cast<float>(ideal_unit(gap, key, 3.0) * (1 - 1e-6));
  for (float entry = -low.unit; entry < 0; entry += low.unit / 1000) {
    low.entry = low.raised_entry = entry;
    EXPECT_LT(proved_margin(gap, low, 3.0), 0.0);
  }
}

TEST(ThresholdKey, RefusesAnEmptyGap) {
  for (const LogitGap& gap : {LogitGap{0, 0, 1, 1}, LogitGap{-1, 0, 1, 1}}) {
    try {
      choose_threshold_key(gap, Tolerance());
      ADD_FAILURE();
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::parameter);
    }
  }
  try {
    choose_threshold_key({0, -1, std::uint64_t{1} << 63, 1}, Tolerance());
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::resource);
  }
}

TEST(RowsAboveHalf, ComparesStrictlyAndRefusesImpossibleValues) {
  problems::Attention::Instance target;
  target.q = problems::MatrixD::Zero(3, 1);
  target.k = problems::MatrixD::Zero(1, 1);
  target.v = problems::MatrixD::Zero(1, 1);
  problems::Attention::Answer answer;
  answer.output = problems::MatrixD::Zero(3, 1);
  answer.output << 0.5, 0.5000001, 1.5;
  EXPECT_EQ(rows_above_half(target, answer), (std::vector<bool>{false, true, true}));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity, 1.6, -0.6}) {
    answer.output(1, 0) = bad;
    try {
      rows_above_half(target, answer);
      ADD_FAILURE() << bad;
    } catch (const OracleRefuted& e) {
      EXPECT_EQ(e.row(), 1U);
      EXPECT_EQ(e.kind(), ErrorKind::refuted);
    }
  }
  for (const auto& [rows, cols] : {std::pair(2, 1), std::pair(3, 0), std::pair(3, 2)}) {
    answer.output = problems::MatrixD::Zero(rows, cols);
    try {
      rows_above_half(target, answer);
      ADD_FAILURE() << rows << " x " << cols;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::parameter);
    }
  }
}

}  // namespace
}  // namespace subquad::reductions
