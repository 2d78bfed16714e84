#include <subquad/core/bit_matrix.hpp>
#include <subquad/core/count.hpp>
#include <subquad/core/error.hpp>

#include <new>

namespace subquad {

namespace {

/// 128 TiB, the address space of a process: more need not even be asked for.
constexpr std::uint64_t kMostWords = std::uint64_t{1} << 44;

}  // namespace

BitMatrix::BitMatrix(std::uint64_t rows, std::uint64_t cols)
    : rows_(rows), cols_(cols), words_(cols / 64 + (cols % 64 != 0 ? 1 : 0)) {
  const std::uint64_t total = checked_mul(rows_, words_, "bit matrix words");
  require(total <= kMostWords, ErrorKind::resource, "bit matrix of {} x {} bits does not fit into memory", rows, cols);
  try {
    data_.assign(total, 0);
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::resource, "bit matrix of {} x {} bits: out of memory", rows, cols);
  }
}

std::span<std::uint64_t> BitMatrix::append_row() {
  const std::size_t old_size = data_.size();
  try {
    require(words_ <= kMostWords - old_size, ErrorKind::resource,
            "bit matrix of {} + 1 rows of {} bits does not fit into memory", rows_, cols_);
    data_.resize(old_size + words_);
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::resource, "bit matrix of {} + 1 rows of {} bits: out of memory", rows_, cols_);
  }
  ++rows_;
  return {data_.data() + old_size, words_};
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
