// Hash tables of tuples against a map, with many equal tuples and tuples that differ in one code.
#include <subquad/ann/hash_tables.hpp>
#include <subquad/core/random.hpp>

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace {

using subquad::Random;
using subquad::ann::CodeMatrix;
using subquad::ann::HashTable;

CodeMatrix random_codes(Random& random, Eigen::Index n, Eigen::Index length, std::uint64_t values) {
  CodeMatrix codes(n, length);
  for (Eigen::Index e = 0; e < codes.size(); ++e) {
    codes.data()[e] = static_cast<std::int64_t>(random.below(values)) - static_cast<std::int64_t>(values / 2);
  }
  return codes;
}

TEST(HashTable, EqualsAMap) {
  Random random(1);
  for (const auto& [n, length, values] : std::vector<std::tuple<int, int, int>>{
           {0, 3, 2}, {1, 1, 1}, {500, 2, 3}, {500, 0, 5}, {3000, 4, 6}, {2000, 1, 1'000'000}, {300, 20, 2}}) {
    const CodeMatrix codes = random_codes(random, n, length, static_cast<std::uint64_t>(values));
    const HashTable table(codes);
    std::map<std::vector<std::int64_t>, std::vector<std::uint32_t>> expected;
    for (Eigen::Index i = 0; i < n; ++i) {
      const std::int64_t* tuple = codes.data() + i * length;
      expected[{tuple, tuple + length}].push_back(static_cast<std::uint32_t>(i));
    }
    ASSERT_EQ(table.buckets(), expected.size());
    for (const auto& [tuple, points] : expected) {
      const std::int64_t bucket = table.find(tuple.data());
      ASSERT_GE(bucket, 0);
      const auto found = table.points(static_cast<std::uint64_t>(bucket));
      EXPECT_EQ(std::vector<std::uint32_t>(found.begin(), found.end()), points);
      for (const std::uint32_t point : points) EXPECT_EQ(table.bucket_of()[point], bucket);
      if (tuple.empty()) continue;
      std::vector<std::int64_t> other = tuple;
      other.back() += 1'000'000'000;
      EXPECT_EQ(table.find(other.data()), HashTable::kNoBucket);
    }
    EXPECT_GE(table.bytes(), static_cast<std::uint64_t>(n) * 8);
  }
}

}  // namespace
