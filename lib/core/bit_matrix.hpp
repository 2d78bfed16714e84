// Bit matrices: rows of 0/1 coordinates packed into 64-bit words.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace subquad {

/// A rows x cols matrix over {0,1}, row-major, ceil(cols/64) words a row, coordinate c in bit c%64 of word c/64.
/// Invariant: the padding bits beyond `cols` in a row's last word are zero. rows and cols may be 0.
class BitMatrix {
 public:
  BitMatrix() = default;
  /// Makes a matrix of zeros. Throws Error(resource) if rows * words overflows or memory runs out.
  BitMatrix(std::uint64_t rows, std::uint64_t cols);

  std::uint64_t rows() const noexcept { return rows_; }
  std::uint64_t cols() const noexcept { return cols_; }
  std::uint64_t words_per_row() const noexcept { return words_; }
  std::uint64_t size_bytes() const noexcept { return data_.size() * sizeof(std::uint64_t); }

  bool get(std::uint64_t row, std::uint64_t col) const { return (data_[row * words_ + col / 64] >> (col % 64)) & 1U; }
  void set(std::uint64_t row, std::uint64_t col, bool value);

  /// Appends a row of zeros and returns its words, which stay valid until the next append. Amortised
  /// O(words_per_row()), so that a reader's memory grows with what it has read, not with what a header promised.
  /// Throws Error(resource) if memory runs out.
  std::span<std::uint64_t> append_row();

  std::span<const std::uint64_t> row(std::uint64_t r) const { return {data_.data() + r * words_, words_}; }
  /// Writable words of a row; the caller keeps the padding bits zero.
  std::span<std::uint64_t> row(std::uint64_t r) { return {data_.data() + r * words_, words_}; }
  std::span<const std::uint64_t> words() const noexcept { return data_; }

  /// Returns row r as a string of '0' and '1', coordinate 0 first.
  std::string row_string(std::uint64_t r) const;

  /// Mask of the coordinates that the last word of a row holds (all ones when cols is a multiple of 64 or 0).
  std::uint64_t last_word_mask() const noexcept {
    return cols_ % 64 == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << (cols_ % 64)) - 1;
  }

  friend bool operator==(const BitMatrix&, const BitMatrix&) = default;

 private:
  std::uint64_t rows_ = 0;
  std::uint64_t cols_ = 0;
  std::uint64_t words_ = 0;
  std::vector<std::uint64_t> data_;
};

/// Number of ones.
inline std::uint64_t weight(std::span<const std::uint64_t> a) {
  std::uint64_t total = 0;
  for (const std::uint64_t word : a) total += static_cast<std::uint64_t>(std::popcount(word));
  return total;
}
/// Integer inner product <a,b>. Equal lengths.
inline std::uint64_t inner_product(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  std::uint64_t total = 0;
  for (std::size_t w = 0; w < a.size(); ++w) total += static_cast<std::uint64_t>(std::popcount(a[w] & b[w]));
  return total;
}
/// Hamming distance. Equal lengths.
inline std::uint64_t hamming_distance(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  std::uint64_t total = 0;
  for (std::size_t w = 0; w < a.size(); ++w) total += static_cast<std::uint64_t>(std::popcount(a[w] ^ b[w]));
  return total;
}
/// True iff <a,b> = 0. Equal lengths; stops at the first common one.
inline bool orthogonal(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  for (std::size_t w = 0; w < a.size(); ++w)
    if ((a[w] & b[w]) != 0) return false;
  return true;
}

}  // namespace subquad
