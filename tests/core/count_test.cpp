#include "expect_error.hpp"

#include <subquad/core/count.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace subquad {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

TEST(Count, DescribesAsAPersonWrites) {
  EXPECT_EQ(describe(0), "0");
  EXPECT_EQ(describe(1024), "1024");
  EXPECT_EQ(describe(9'999'999), "9999999");
  EXPECT_EQ(describe(10'000'000), "1.00e7");
  EXPECT_EQ(describe(10'050'000), "1.01e7");  // half up
  EXPECT_EQ(describe(99'949'999), "9.99e7");
  EXPECT_EQ(describe(99'950'000), "1.00e8");  // the mantissa never shows 10
  EXPECT_EQ(describe(pow2(25)), "3.36e7 (2^25)");
  EXPECT_EQ(describe(pow2(25) + 1), "3.36e7");
  EXPECT_EQ(describe(pow2(50)), "1.13e15 (2^50)");
  EXPECT_EQ(describe(pow2(1000)), "1.07e301 (2^1000)");
}

TEST(Count, DescribesBytes) {
  EXPECT_EQ(describe_bytes(0), "0 B");
  EXPECT_EQ(describe_bytes(1023), "1023 B");
  EXPECT_EQ(describe_bytes(1024), "1.0 KiB");
  EXPECT_EQ(describe_bytes(1536), "1.5 KiB");
  EXPECT_EQ(describe_bytes(18'035'507), "17.2 MiB");
  EXPECT_EQ(describe_bytes(1024 * 1024 - 1), "1.0 MiB");  // never "1024.0 KiB"
  EXPECT_EQ(describe_bytes(pow2(40)), "1.0 TiB");
  EXPECT_EQ(describe_bytes(pow2(69)), "512.0 EiB");
  EXPECT_EQ(describe_bytes(pow2(80)), "1.21e24 (2^80) B");
}

RC_GTEST_PROP(Count, DescriptionIsRoundedToThreeDigits, ()) {
  const Count x = Count(*rc::gen::arbitrary<std::uint64_t>()) * *rc::gen::inRange<std::uint64_t>(1, 1000) + 10'000'000;
  const std::string text = describe(x);
  const std::size_t e = text.find('e');
  RC_ASSERT(text.size() > 4 && text[1] == '.' && e == 4U);
  const int exponent = std::stoi(text.substr(e + 1));
  const Count unit = boost::multiprecision::pow(Count(10), static_cast<unsigned>(exponent - 2));
  const Count shown = (text[0] - '0') * 100 + (text[2] - '0') * 10 + (text[3] - '0');
  RC_ASSERT(shown >= 100);
  RC_ASSERT(2 * abs(Count(shown * unit - x)) <= unit);
}

TEST(Count, Logarithms) {
  EXPECT_EQ(ceil_log2(0), 0u);
  EXPECT_EQ(ceil_log2(1), 0u);
  EXPECT_EQ(ceil_log2(2), 1u);
  EXPECT_EQ(ceil_log2(3), 2u);
  EXPECT_EQ(ceil_log2(pow2(100)), 100u);
  EXPECT_EQ(ceil_log2(pow2(100) + 1), 101u);
  EXPECT_EQ(log2_estimate(pow2(1000)), 1000.0);
  EXPECT_NEAR(log2_estimate(pow2(1000) * 3), 1001.584962500721156, 1e-12);
  test::expect_error(ErrorKind::parameter, [] { log2_estimate(0); });
}

RC_GTEST_PROP(Count, CeilLog2IsTheLeastExponent, ()) {
  const Count x = Count(*rc::gen::arbitrary<std::uint64_t>()) + 2;
  const std::uint64_t e = ceil_log2(x);
  RC_ASSERT(pow2(e) >= x);
  RC_ASSERT(pow2(e - 1) < x);
}

TEST(Count, PowersOfTwoAreGuarded) {
  EXPECT_EQ(pow2(0), 1);
  EXPECT_EQ(pow2(64), Count("18446744073709551616"));
  EXPECT_EQ(ceil_log2(pow2(std::uint64_t{1} << 20)), std::uint64_t{1} << 20);
  test::expect_error(ErrorKind::resource, [] { pow2((std::uint64_t{1} << 20) + 1); });
  test::expect_error(ErrorKind::resource, [] { pow2(kMost); });
}

TEST(Count, CheckedArithmeticAtTheEdge) {
  EXPECT_EQ(checked_add(kMost, 0, "x"), kMost);
  EXPECT_EQ(checked_mul(kMost, 1, "x"), kMost);
  EXPECT_EQ(checked_mul(std::uint64_t{1} << 32, (std::uint64_t{1} << 32) - 1, "x"), 18446744069414584320u);
  test::expect_error(ErrorKind::resource, [] { checked_add(kMost, 1, "x"); });
  test::expect_error(ErrorKind::resource, [] { checked_mul(std::uint64_t{1} << 32, std::uint64_t{1} << 32, "x"); });
  EXPECT_EQ(to_u64(pow2(64) - 1, "x"), kMost);
  test::expect_error(ErrorKind::resource, [] { to_u64(pow2(64), "x"); });
  test::expect_error(ErrorKind::resource, [] { to_u64(-1, "x"); });
}

RC_GTEST_PROP(Count, CheckedArithmeticIsExactOrRefused, (std::uint64_t a, std::uint64_t b)) {
  const std::uint64_t x = a >> *rc::gen::inRange(0, 64);
  const std::uint64_t y = b >> *rc::gen::inRange(0, 64);
  const auto agree = [](const Count& exact, const auto& compute) {
    try {
      return Count(compute()) == exact;
    } catch (const Error& error) {
      return error.kind() == ErrorKind::resource && exact > kMost;
    }
  };
  RC_ASSERT(agree(Count(x) + y, [&] { return checked_add(x, y, "sum"); }));
  RC_ASSERT(agree(Count(x) * y, [&] { return checked_mul(x, y, "product"); }));
}

}  // namespace
}  // namespace subquad
