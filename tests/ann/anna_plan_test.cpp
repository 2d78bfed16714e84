// ANNA plans: numbers worked out independently, minimality, measured failures against the bound, refusals.
#include "expect_error.hpp"

#include <subquad/ann/anna_plan.hpp>
#include <subquad/ann/hash_tables.hpp>
#include <subquad/core/binomial_bounds.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace subquad::ann;
using subquad::Count;
using subquad::decide_failure_rate;
using subquad::ErrorKind;
using subquad::Random;
using subquad::problems::MatrixD;
using subquad::test::expect_error;

AnnaRequest request(std::uint64_t n, double ratio, double failure = 0.01) {
  AnnaRequest r;
  r.num_queries = r.num_keys = n;
  r.dim = 4;
  r.radius = 1;
  r.ratio = ratio;
  r.failure = failure;
  return r;
}

/// The choice of spec-like tables: eta/2 for each term, z and l alternating until they agree.
struct HalfAndHalf {
  std::uint64_t z = 0, l = 1;
};
HalfAndHalf half_and_half(double p1, double p2, double pairs, double eta) {
  HalfAndHalf choice;
  for (int step = 0; step < 1000; ++step) {
    choice.z = static_cast<std::uint64_t>(
        std::ceil(std::log(2 * pairs * static_cast<double>(choice.l) / eta) / -std::log(p2)));
    const auto needed = static_cast<std::uint64_t>(
        std::ceil(std::log(2 * pairs / eta) / -std::log1p(-std::pow(p1, static_cast<double>(choice.z)))));
    if (needed <= choice.l) break;
    choice.l = needed;
  }
  return choice;
}

TEST(AnnaPlan, IsNeverWorseThanHalfAndHalf) {
  struct Row {
    double ratio, width;
    std::uint64_t n, z, l;
  };
  // Published by hand for eta = 0.01: the alternating choice.
  for (const Row& row : {Row{4, 4, 64, 21, 1449}, Row{4, 4, 1024, 29, 12137}, Row{10, 10, 64, 18, 54},
                         Row{10, 10, 256, 21, 86}, Row{10, 10, 1024, 25, 144}, Row{10, 10, 4096, 28, 214},
                         Row{100, 60, 64, 11, 7}, Row{100, 60, 1024, 15, 12}, Row{100, 60, 4096, 17, 14}}) {
    const HashFamily family = e2lsh(4, row.width);
    const double pairs = static_cast<double>(row.n) * static_cast<double>(row.n);
    const HalfAndHalf choice =
        half_and_half(family.collision_probability(1), family.collision_probability(row.ratio), pairs, 0.01);
    EXPECT_EQ(choice.z, row.z);
    EXPECT_EQ(choice.l, row.l);
    const AnnaPlan plan = plan_anna(request(row.n, row.ratio), family);
    EXPECT_LE(plan.failure_bound, 0.01);
    EXPECT_LE(plan.code_length * plan.tables, row.z * row.l) << row.n;
    EXPECT_LE(plan.tables, row.l + row.l / 10 + 1);
  }
}

TEST(AnnaPlan, TheReviewersNumbersForAnExponent) {
  // rho = 0.01, eta = 0.01, N = 16000: 18 tables whatever p2 is, not the 12.9 (ln) or 18.7 (log2) of N^0.03 log N.
  // Codes of real length: a smaller p2 makes them shorter, and leaves l as it is.
  const double pairs = 16000.0 * 16000.0;
  for (const double log_p2 : {2.0, 10.0, 100.0}) {
    double l = 1;
    while (true) {
      const double z = std::log(2 * pairs * l / 0.01) / log_p2;
      const double needed = std::ceil(std::log(2 * pairs / 0.01) / -std::log1p(-std::exp(-0.01 * log_p2 * z)));
      if (needed <= l) break;
      l = needed;
    }
    EXPECT_EQ(l, 18);
  }
  // One code a table, p2 such that z = 1: our exact bound agrees that 18 will do, and 12 would not.
  const double p2 = 0.005 / (pairs * 18);
  const double p1 = std::pow(p2, 0.01);
  const Count all = Count(16000) * 16000;
  EXPECT_LE(anna_failure_bound(p1, p2, 1, 18, all, all), 0.01);
  EXPECT_GT(anna_failure_bound(p1, p2, 1, 12, all, all), 0.01);
}

TEST(AnnaPlan, LongCodes) {
  // Bit sampling in high dimension: p2 = 0.999, so z is some 10^4.
  AnnaRequest r = request(100, 10);
  r.dim = 100'000;
  r.radius = 10;
  const AnnaPlan plan = plan_anna(r, bit_sampling(r.dim));
  EXPECT_GT(plan.code_length, 10'000u);
  EXPECT_LT(plan.tables, 200u);
  EXPECT_LE(plan.failure_bound, 0.01);
}

TEST(AnnaPlan, LeastTablesAndCostByTryingAll) {
  for (const double width : {3.0, 5.0, 9.0}) {
    for (const std::uint64_t n : {5u, 30u}) {
      AnnaRequest r = request(n, 5, 0.1);
      const HashFamily family = e2lsh(4, width);
      const AnnaPlan plan = plan_anna(r, family);
      const Count pairs = Count(n) * n;
      Count least = -1;
      for (std::uint64_t z = 1; z <= 60; ++z) {
        for (std::uint64_t l = 1; l <= 2000; ++l) {
          if (!(anna_failure_bound(plan.near_probability, plan.far_probability, z, l, pairs, pairs) <= 0.1)) continue;
          const Count cost = judge_anna(r, family, z, l).operations;
          if (least < 0 || cost < least) least = cost;
          break;
        }
      }
      ASSERT_GE(least, 0);
      EXPECT_EQ(plan.operations, least) << width << ' ' << n;
    }
  }
}

TEST(AnnaPlan, ManyTablesTakeNoTime) {
  AnnaRequest r = request(1000, 2);
  r.max_tables = std::uint64_t{1} << 40;
  const AnnaPlan plan = plan_anna(r, e2lsh(4, 4));
  EXPECT_GT(plan.tables, 100'000'000u);
  EXPECT_LE(plan.failure_bound, r.failure);
}

TEST(AnnaPlan, CapsAreNotTakenForCheap) {
  AnnaRequest r = request(16000, 6);
  r.dim = r.value_dim = 64;
  r.radius = 0.2;
  EXPECT_FALSE(plan_anna(r, spherical_cap(64, 3, 5000)).gain);  // some 740 products a code
}

TEST(AnnaPlan, TheReviewersQuestion) {
  // N = 16000, c = 10: exact bounds ask for more than the 64 tables that N^0.03 ln N would give.
  const AnnaPlan plan = plan_anna_e2lsh(request(16000, 10));
  EXPECT_LE(plan.failure_bound, 0.01);
  EXPECT_GT(plan.tables, 64u);
  EXPECT_LT(plan.tables, 1000u);
  EXPECT_GT(plan.paper_tables, Count(0));
}

TEST(AnnaPlan, NoSmallerChoiceKeepsThePromise) {
  const HashFamily family = e2lsh(4, 10);
  const AnnaPlan plan = plan_anna(request(100, 10), family);
  const Count pairs = 10000;
  const auto bound = [&](std::uint64_t z, std::uint64_t l) {
    return anna_failure_bound(plan.near_probability, plan.far_probability, z, l, pairs, pairs);
  };
  EXPECT_EQ(plan.failure_bound, bound(plan.code_length, plan.tables));
  EXPECT_GT(bound(plan.code_length, plan.tables - 1), 0.01);
  for (std::uint64_t z = 1; z <= 60; ++z) {
    for (std::uint64_t l = 1; l * z < plan.code_length * plan.tables; ++l) {
      if (bound(z, l) <= 0.01) {
        // Fewer codes in all: only the additions of values may then cost more.
        EXPECT_GE(static_cast<double>(l) * (static_cast<double>(z) * 4 + 2),
                  static_cast<double>(plan.tables) * (static_cast<double>(plan.code_length) * 4 + 2) * 0.999);
        break;
      }
    }
  }
}

TEST(AnnaPlan, BoundsOfSinglePairsAreExact) {
  EXPECT_NEAR(anna_failure_bound(0.9, 0.1, 2, 3, 1, 0), 1 - std::pow(1 - 0.01, 3), 1e-9);
  EXPECT_NEAR(anna_failure_bound(0.9, 0.1, 2, 3, 0, 1), std::pow(1 - 0.81, 3), 1e-9);
  EXPECT_EQ(anna_failure_bound(0.9, 0.8, 2, 3, 1000, 1000), 1.0);
  EXPECT_EQ(anna_failure_bound(1.0, 0.0, 1, 1, 1000, 1000), 0.0 + anna_failure_bound(1.0, 0.0, 1, 1, 0, 1000));
  EXPECT_GE(anna_failure_bound(0.5, 0.25, 1, 1, 1, 0), 0.25);  // upward
}

/// Whether the tables of this seed fail on the instance: a far pair meets, or a near pair never does.
bool fails(const HashFamily& family, std::uint64_t z, std::uint64_t l, const MatrixD& q, const MatrixD& k, double r,
           double c, std::uint64_t seed) {
  Eigen::MatrixXi meetings = Eigen::MatrixXi::Zero(q.rows(), k.rows());
  const Random base = Random(seed).split("tables");
  for (std::uint64_t u = 0; u < l; ++u) {
    const auto tuple = family.draw(z, base.split(u));
    const CodeMatrix queries = tuple->hash(q);
    const CodeMatrix keys = tuple->hash(k);
    for (Eigen::Index i = 0; i < q.rows(); ++i) {
      for (Eigen::Index j = 0; j < k.rows(); ++j) meetings(i, j) += queries.row(i) == keys.row(j) ? 1 : 0;
    }
  }
  for (Eigen::Index i = 0; i < q.rows(); ++i) {
    for (Eigen::Index j = 0; j < k.rows(); ++j) {
      const double d = distance(family.metric, q.row(i), k.row(j));
      if ((d > c * r && meetings(i, j) > 0) || (d <= r && meetings(i, j) == 0)) return true;
    }
  }
  return false;
}

TEST(AnnaPlan, MeasuredFailuresAreWithinTheInstanceBound) {
  // Near pairs at distance r, far pairs just beyond c r: the instance bound is nearly the plan's.
  MatrixD q(3, 2), k(6, 2);
  q << 0, 0, 50, 0, 0, 50;
  k << 1, 0, 50, 1, 0, 51, 4.01, 0, 54.01, 0, 0, 45.99;
  const HashFamily family = e2lsh(2, 5);
  constexpr std::uint64_t kZ = 6, kL = 8;
  const double bound = anna_instance_failure_bound(family, kZ, kL, q, k, 1, 4);
  ASSERT_LT(bound, 0.6);
  const auto rate = [&](std::uint64_t z, std::uint64_t l, double delta) {
    std::uint64_t failures = 0;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) failures += fails(family, z, l, q, k, 1, 4, seed) ? 1 : 0;
    return decide_failure_rate(failures, 3000, delta);
  };
  const auto measured = rate(kZ, kL, bound);
  EXPECT_FALSE(measured.refuted) << measured.failures << " of 3000 at " << bound;
  EXPECT_GT(static_cast<double>(measured.failures) / 3000, 0.5 * bound);  // the bound is no idle one here
  EXPECT_TRUE(rate(kZ, 2, bound).refuted);                                // too few tables: near pairs are missed
  EXPECT_TRUE(rate(1, kL, bound).refuted);                                // too short codes: far pairs meet
}

TEST(AnnaPlan, EveryFamilyAndTheirLimits) {
  AnnaRequest r = request(50, 4);
  r.radius = 0.25;
  for (const HashFamily& family : {hyperplane(4), cross_polytope(4), spherical_cap(4, 1.0, 30)}) {
    const AnnaPlan plan = plan_anna(r, family);
    EXPECT_LE(plan.failure_bound, r.failure) << family.name;
    EXPECT_GE(plan.tables, 1u);
  }
  AnnaRequest bits = request(50, 4);
  bits.dim = 32;
  bits.radius = 2;
  EXPECT_LE(plan_anna(bits, bit_sampling(32)).failure_bound, 0.01);
  // Antipodal points never meet: p2 = 0, one function will do for the far pairs.
  r.radius = 0.5;
  const AnnaPlan antipodal = plan_anna(r, hyperplane(4));
  EXPECT_EQ(antipodal.far_probability, 0);
  EXPECT_EQ(antipodal.rho, 0);
  EXPECT_EQ(antipodal.code_length, 1u);
}

TEST(AnnaPlan, KnownPairsHelp) {
  AnnaRequest r = request(1000, 4);
  const HashFamily family = e2lsh(4, 4);
  const AnnaPlan all = plan_anna(r, family);
  r.near_pairs = Count(1000);
  const AnnaPlan few = plan_anna(r, family);
  EXPECT_LT(few.operations, all.operations);
  r.near_pairs = Count(0);
  EXPECT_EQ(plan_anna(r, family).tables, 1u);
}

TEST(AnnaPlan, JudgesAGivenChoice) {
  AnnaRequest r = request(1000, 4);
  const HashFamily family = e2lsh(4, 4);
  const AnnaPlan plan = plan_anna(r, family);
  r.failure = 0;  // not looked at
  const AnnaPlan same = judge_anna(r, family, plan.code_length, plan.tables);
  EXPECT_EQ(same.failure_bound, plan.failure_bound);
  EXPECT_EQ(same.operations, plan.operations);
  EXPECT_EQ(same.bytes_tables, plan.bytes_tables);
  EXPECT_EQ(same.paper_tables, plan.paper_tables);
  EXPECT_EQ(judge_anna(r, family, 1, 1).failure_bound, 1);
  expect_error(ErrorKind::parameter, "code length 0", [&] { judge_anna(r, family, 0, 1); });
  expect_error(ErrorKind::parameter, "0 tables", [&] { judge_anna(r, family, 1, 0); });
}

TEST(AnnaPlan, SaysWhenThereIsNoGain) {
  EXPECT_FALSE(plan_anna_e2lsh(request(100, 4)).gain);
  AnnaRequest r = request(1'000'000, 30);
  r.dim = r.value_dim = 64;
  EXPECT_TRUE(plan_anna_e2lsh(r).gain);
}

TEST(AnnaPlan, BadInput) {
  const auto refuse = [](const char* part, auto change) {
    AnnaRequest r = request(10, 4);
    change(r);
    expect_error(ErrorKind::parameter, part, [&] { plan_anna(r, e2lsh(4, 4)); });
  };
  const double nan = std::nan("");
  for (const double bad : {0.0, -1.0, nan, HUGE_VAL}) {
    refuse("radius r", [&](AnnaRequest& r) { r.radius = bad; });
  }
  for (const double bad : {1.0, 0.5, nan, HUGE_VAL}) {
    refuse("ratio c", [&](AnnaRequest& r) { r.ratio = bad; });
  }
  for (const double bad : {0.0, 1.0, -0.1, 1.5, nan}) {
    refuse("failure probability", [&](AnnaRequest& r) { r.failure = bad; });
  }
  refuse("0 queries", [](AnnaRequest& r) { r.num_queries = 0; });
  refuse("0 keys", [](AnnaRequest& r) { r.num_keys = 0; });
  refuse("dimension 5, but the family hashes 4", [](AnnaRequest& r) { r.dim = 5; });
  refuse("expected no negative number", [](AnnaRequest& r) { r.far_pairs = Count(-5); });
  refuse("at most 0 tables", [](AnnaRequest& r) { r.max_tables = 0; });
  AnnaRequest r = request(10, 4);
  r.radius = 0;
  expect_error(ErrorKind::parameter, "radius r = 0", [&] { plan_anna_e2lsh(r); });
  r = request(10, 4);
  expect_error(ErrorKind::parameter, "distances up to 2 only", [&] { plan_anna(r, hyperplane(4)); });
  r = request(1'000'000, 1.01);
  expect_error(ErrorKind::resource, "at most 1048576 tables", [&] { plan_anna_e2lsh(r); });
}

}  // namespace
