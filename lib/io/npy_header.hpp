// The header of a .npy file: magic string, version, length, and a Python dictionary of three keys.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace subquad::io {

/// What a header says. `item_bytes` is 4 or 8: other element types are refused while parsing.
struct NpyHeader {
  std::uint64_t item_bytes = 0;
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

/// Longest dictionary accepted. Types without records need fewer than 200 bytes; numpy itself stops at 10000.
inline constexpr std::uint64_t kLongestNpyHeader = 65535;

/// Reads from the magic string to the byte before the data. Throws Error(input) "name: what, expected what".
NpyHeader read_npy_header(std::istream& in, const std::string& name);

/// Returns the bytes before the data of a C-order little-endian matrix, version 1.0.
std::string npy_header_bytes(std::uint64_t item_bytes, std::uint64_t rows, std::uint64_t cols);

}  // namespace subquad::io
