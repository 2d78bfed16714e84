// Text format: the shared lower half of the readers and writers of this room (private header).
//
// All formats are strict: `c` comments may stand on any line, blank lines may not; a file ends with a line feed, so
// that a truncated one is noticed; memory grows with the bytes read, never with the sizes that a header declares.
#pragma once

#include <subquad/core/bit_matrix.hpp>
#include <subquad/core/digest.hpp>
#include <subquad/core/line_reader.hpp>
#include <subquad/core/provenance.hpp>
#include <subquad/core/record_reader.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <istream>
#include <limits>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace subquad::problems::text {

/// Longest row of bits: a row is one line.
inline constexpr std::int64_t kLargestDim = static_cast<std::int64_t>(LineReader::kLongestLine);

/// A number of a header: its name in messages and its closed range.
struct Field {
  std::string_view name;
  std::int64_t least = 0;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

/// Reads the lines of a format that are no comments.
using Reader = RecordReader;

/// Reads the next line as the header `p KIND NUMBER..`, one number a field. Throws Error(input).
std::vector<std::int64_t> read_header(Reader& reader, std::string_view kind, std::initializer_list<Field> fields);
/// Parses a header's number. Throws Error(input).
std::int64_t parse_field(const Reader& reader, std::string_view word, const Field& field);

/// Parses a non-negative number of an answer. Throws Error(input) "..., expected WHAT".
std::uint64_t parse_index(const Reader& reader, std::string_view word, std::string_view what);

/// Reads `rows` lines of `cols` characters 0/1; a row without coordinates is the line "-". `what` names the matrix in
/// messages ("A", "queries"). 0 <= cols <= kLargestDim. Throws Error(input).
BitMatrix read_bits(Reader& reader, std::int64_t rows, std::int64_t cols, std::string_view what);
void write_bits(std::ostream& out, const BitMatrix& matrix);

/// Reads `count` lines of `width` finite reals each into `values`, row-major; a row of width 0 is the line "-".
/// Refuses a value beyond +-bound (skipped if bound is empty). Throws Error(input).
std::vector<double> read_reals(Reader& reader, std::int64_t count, std::int64_t width, std::string_view what,
                               std::optional<double> bound);
/// Writes one row of reals, each in the shortest form that reads back as the same double (also -0).
void write_reals(std::ostream& out, std::span<const double> row);

/// Throws Error(input): the line where row `row` (0-based) of `rows` of `what` should stand is a second header.
void refuse_header(const Reader& reader, std::string_view expected);

/// The head of an answer: an optional line `i DIGEST`, then the line `s WORDS..`. Afterwards the reader stands on the
/// `s` line. Throws Error(input).
struct AnswerHead {
  std::optional<Digest> instance;
  std::vector<std::string> words;  ///< the words behind `s`
};
AnswerHead read_answer_head(Reader& reader, std::string_view expected);

/// Writes the provenance and the line `i DIGEST`.
void write_answer_head(std::ostream& out, const Digest& instance, const Provenance& provenance);

/// Parses 32 hexadecimal digits. Empty if it is none.
std::optional<Digest> parse_digest(std::string_view word);

}  // namespace subquad::problems::text
