#include "bit_matrices.hpp"
#include "expect_error.hpp"

#include <subquad/core/bit_matrix.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace subquad {
namespace {

using test::any_dim;
using test::any_matrix;
using test::bits;

void expect_padding_zero(const BitMatrix& matrix) {
  for (std::uint64_t r = 0; r < matrix.rows(); ++r)
    if (matrix.words_per_row() > 0) RC_ASSERT((matrix.row(r).back() & ~matrix.last_word_mask()) == 0U);
}

TEST(BitMatrix, HandChecked) {
  const BitMatrix matrix = bits(5, {"01100", "10001"});
  EXPECT_EQ(matrix.rows(), 2u);
  EXPECT_EQ(matrix.cols(), 5u);
  EXPECT_EQ(matrix.words_per_row(), 1u);
  EXPECT_EQ(matrix.row(0)[0], 0b00110u);  // coordinate 0 is the lowest bit
  EXPECT_EQ(matrix.row(1)[0], 0b10001u);
  EXPECT_EQ(matrix.row_string(1), "10001");
  EXPECT_EQ(matrix.last_word_mask(), 0b11111u);
  EXPECT_EQ(weight(matrix.row(0)), 2u);
  EXPECT_EQ(inner_product(matrix.row(0), matrix.row(1)), 0u);
  EXPECT_EQ(hamming_distance(matrix.row(0), matrix.row(1)), 4u);
  EXPECT_TRUE(orthogonal(matrix.row(0), matrix.row(1)));
  EXPECT_FALSE(orthogonal(matrix.row(0), matrix.row(0)));
}

RC_GTEST_PROP(BitMatrix, AgreesWithCoordinatesAndKeepsPaddingZero, ()) {
  const std::uint64_t cols = *any_dim();
  const BitMatrix matrix = any_matrix(2, cols);
  expect_padding_zero(matrix);
  std::uint64_t ones = 0, common = 0, different = 0;
  for (std::uint64_t c = 0; c < cols; ++c) {
    const bool x = matrix.row_string(0)[c] == '1';
    const bool y = matrix.row_string(1)[c] == '1';
    ones += x ? 1 : 0;
    common += x && y ? 1 : 0;
    different += x != y ? 1 : 0;
  }
  RC_ASSERT(weight(matrix.row(0)) == ones);
  RC_ASSERT(inner_product(matrix.row(0), matrix.row(1)) == common);
  RC_ASSERT(hamming_distance(matrix.row(0), matrix.row(1)) == different);
  RC_ASSERT(orthogonal(matrix.row(0), matrix.row(1)) == (common == 0));
}

RC_GTEST_PROP(BitMatrix, SetIsLocalAndReversible, ()) {
  const std::uint64_t cols = *rc::gen::element<std::uint64_t>(1, 63, 64, 65, 129);
  const BitMatrix before = any_matrix(3, cols);
  const std::uint64_t row = *rc::gen::inRange<std::uint64_t>(0, 3);
  const std::uint64_t col = *rc::gen::inRange<std::uint64_t>(0, cols);
  BitMatrix after = before;
  after.set(row, col, !before.get(row, col));
  expect_padding_zero(after);
  for (std::uint64_t r = 0; r < 3; ++r)
    for (std::uint64_t c = 0; c < cols; ++c) RC_ASSERT(after.get(r, c) == (before.get(r, c) != (r == row && c == col)));
  after.set(row, col, before.get(row, col));
  RC_ASSERT(after == before);
}

RC_GTEST_PROP(BitMatrix, AppendingRowsGivesTheSameMatrix, ()) {
  const std::uint64_t rows = *rc::gen::inRange<std::uint64_t>(0, 9);
  const BitMatrix whole = any_matrix(rows, *any_dim());
  BitMatrix grown(0, whole.cols());
  for (std::uint64_t r = 0; r < rows; ++r) {
    const std::span<std::uint64_t> row = grown.append_row();
    for (const std::uint64_t word : row) RC_ASSERT(word == 0U);
    std::copy(whole.row(r).begin(), whole.row(r).end(), row.begin());
  }
  RC_ASSERT(grown == whole);
}

TEST(BitMatrix, Edges) {
  EXPECT_EQ(BitMatrix(), BitMatrix(0, 0));
  EXPECT_NE(BitMatrix(0, 3), BitMatrix(0, 4));  // an empty matrix has a dimension
  const BitMatrix flat(1'000'000'000'000, 0);   // no coordinate, no memory
  EXPECT_EQ(flat.size_bytes(), 0u);
  EXPECT_TRUE(flat.row(999'999'999'999).empty());
  EXPECT_TRUE(orthogonal(flat.row(0), flat.row(1)));
  EXPECT_EQ(BitMatrix(1, 64).last_word_mask(), ~std::uint64_t{0});
  EXPECT_EQ(BitMatrix(1, 0).row_string(0), "");
  EXPECT_EQ(BitMatrix(0, ~std::uint64_t{0}).words_per_row(), std::uint64_t{1} << 58);
}

TEST(BitMatrix, RefusesWhatCannotBeStored) {
  test::expect_error(ErrorKind::resource, [] { BitMatrix(~std::uint64_t{0}, 128); });
  test::expect_error(ErrorKind::resource, [] { BitMatrix(std::uint64_t{1} << 62, 64); });
  test::expect_error(ErrorKind::resource, [] { BitMatrix(0, ~std::uint64_t{0}).append_row(); });
}

}  // namespace
}  // namespace subquad
