#include <subquad/core/bit_matrix.hpp>
#include <subquad/core/count.hpp>
#include <subquad/core/error.hpp>

namespace subquad {

BitMatrix::BitMatrix(std::uint64_t rows, std::uint64_t cols)
    : rows_(rows), cols_(cols), words_(cols / 64 + (cols % 64 != 0 ? 1 : 0)) {
  const std::uint64_t total = checked_mul(rows_, words_, "bit matrix words");
  require(total <= data_.max_size(), ErrorKind::resource, "bit matrix of {} x {} bits does not fit into memory", rows, cols);
  data_.assign(total, 0);
}

void BitMatrix::set(std::uint64_t row, std::uint64_t col, bool value) {
  std::uint64_t& word = data_[row * words_ + col / 64];
  const std::uint64_t bit = std::uint64_t{1} << (col % 64);
  word = value ? (word | bit) : (word & ~bit);
}

std::string BitMatrix::row_string(std::uint64_t r) const {
  std::string text(cols_, '0');
  for (std::uint64_t c = 0; c < cols_; ++c)
    if (get(r, c)) text[c] = '1';
  return text;
}

}  // namespace subquad
