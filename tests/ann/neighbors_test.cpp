// Neighbours: counting rows that are not full, and recall.
#include "expect_error.hpp"

#include <subquad/ann/neighbors.hpp>
#include <subquad/core/error.hpp>

#include <gtest/gtest.h>

namespace {

using subquad::ann::kNoKey;
using subquad::ann::Neighbors;
using subquad::ann::recall;

Neighbors make(std::initializer_list<std::initializer_list<std::uint32_t>> rows) {
  Neighbors neighbors;
  neighbors.index.resize(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(rows.begin()->size()));
  Eigen::Index i = 0;
  for (const auto& row : rows) {
    Eigen::Index j = 0;
    for (const std::uint32_t key : row) neighbors.index(i, j++) = key;
    ++i;
  }
  return neighbors;
}

TEST(Neighbors, CountsTheKeysOfARow) {
  const Neighbors neighbors = make({{5, 1, 2}, {7, kNoKey, kNoKey}, {kNoKey, kNoKey, kNoKey}});
  EXPECT_EQ(neighbors.count(0), 3u);
  EXPECT_EQ(neighbors.count(1), 1u);
  EXPECT_EQ(neighbors.count(2), 0u);
}

TEST(Neighbors, RecallIsTheShareOfTrueKeysFound) {
  const Neighbors truth = make({{1, 2, 3}, {4, 5, kNoKey}});
  EXPECT_EQ(recall(truth, truth), 1.0);
  EXPECT_EQ(recall(make({{3, 9, 1}, {kNoKey, kNoKey, kNoKey}}), truth), 2.0 / 5);
  EXPECT_EQ(recall(make({{3, 3, 3}, {4, 4, 4}}), truth), 2.0 / 5);  // a key listed twice counts once
  subquad::test::expect_error(subquad::ErrorKind::parameter, "neighbours found", [&] { recall(make({{1}}), truth); });
}

}  // namespace
