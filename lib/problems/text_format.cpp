#include "text_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace subquad::problems::text {

std::int64_t parse_field(const Reader& reader, std::string_view word, const Field& field) {
  const std::optional<std::int64_t> value = parse_int(word);
  if (!value) reader.fail("{} is {}, expected a whole number of at most 63 bits", field.name, quoted(word));
  if (*value < field.least || *value > field.most) {
    const bool open = field.most == std::numeric_limits<std::int64_t>::max();
    reader.fail("{} is {}, expected {}", field.name, *value,
                open ? fmt::format("at least {}", field.least) : fmt::format("{} to {}", field.least, field.most));
  }
  return *value;
}

std::vector<std::int64_t> read_header(Reader& reader, std::string_view kind, std::initializer_list<Field> fields) {
  std::string usage = fmt::format("p {}", kind);
  for (const Field& field : fields) usage += fmt::format(" {}", field.name);
  const std::vector<std::string_view> words = read_record_header(reader, kind, usage);
  if (words.size() != 2 + fields.size())
    reader.fail("header with {} numbers, expected {}: '{}'", words.size() - 2, fields.size(), usage);
  std::vector<std::int64_t> values;
  for (const Field& field : fields) values.push_back(parse_field(reader, words[2 + values.size()], field));
  return values;
}

std::uint64_t parse_index(const Reader& reader, std::string_view word, std::string_view what) {
  const std::optional<std::int64_t> value = parse_int(word);
  if (!value || *value < 0) reader.fail("{}, expected {} (a whole number from 0 on)", quoted(word), what);
  return static_cast<std::uint64_t>(*value);
}

void refuse_header(const Reader& reader, std::string_view expected) {
  if (reader.at_header()) reader.fail("second header, expected {}", expected);
}

BitMatrix read_bits(Reader& reader, std::int64_t rows, std::int64_t cols, std::string_view what) {
  const auto width = static_cast<std::uint64_t>(cols);
  BitMatrix matrix(0, width);
  for (std::int64_t r = 0; r < rows; ++r) {
    if (!reader.next()) reader.fail("the file ends after {} rows of {}, expected {}", r, what, rows);
    const std::string_view line = reader.line();
    if (reader.at_header()) reader.fail("second header, expected row {} of {}", r + 1, what);
    if (width == 0) {
      if (line != "-") reader.fail("{}, expected '-' for row {} of {} (dimension 0)", quoted(line), r + 1, what);
      matrix.append_row();
      continue;
    }
    // A wrong character is named first: it is what a person sees; the length may only follow from it.
    const std::size_t wrong = line.find_first_not_of("01");
    if (wrong != std::string_view::npos)
      reader.fail("character {} at column {}, expected 0 or 1 (row {} of {})", quoted(line.substr(wrong, 1)), wrong + 1,
                  r + 1, what);
    if (line.size() != width)
      reader.fail("row {} of {} has {} coordinates, expected {}", r + 1, what, line.size(), width);
    const std::span<std::uint64_t> bits = matrix.append_row();
    for (std::uint64_t c = 0; c < width; ++c) bits[c / 64] |= static_cast<std::uint64_t>(line[c] == '1') << (c % 64);
  }
  return matrix;
}

void write_bits(std::ostream& out, const BitMatrix& matrix) {
  for (std::uint64_t r = 0; r < matrix.rows(); ++r) {
    const std::string row = matrix.cols() == 0 ? "-" : matrix.row_string(r);
    out << row << '\n';
  }
}

std::vector<double> read_reals(Reader& reader, std::int64_t count, std::int64_t width, std::string_view what,
                               std::optional<double> bound) {
  std::vector<double> values;
  for (std::int64_t r = 0; r < count; ++r) {
    if (!reader.next()) reader.fail("the file ends after {} rows of {}, expected {}", r, what, count);
    if (reader.at_header()) reader.fail("second header, expected row {} of {}", r + 1, what);
    const std::vector<std::string_view> words = reader.words();
    if (width == 0) {
      if (reader.line() != "-")
        reader.fail("{}, expected '-' for row {} of {} (width 0)", quoted(reader.line()), r + 1, what);
      continue;
    }
    if (words.size() != static_cast<std::uint64_t>(width))
      reader.fail("row {} of {} has {} numbers, expected {}", r + 1, what, words.size(), width);
    for (std::size_t c = 0; c < words.size(); ++c) {
      const std::optional<double> value = parse_real(words[c]);
      if (!value) reader.fail("{} is {}[{},{}], expected a finite real", quoted(words[c]), what, r, c);
      if (bound && !(std::abs(*value) <= *bound))
        reader.fail("{}[{},{}] = {} is above the entry bound, expected at most {}", what, r, c, *value, *bound);
      values.push_back(*value);
    }
  }
  return values;
}

void write_reals(std::ostream& out, std::span<const double> row) {
  if (row.empty()) out << '-';
  for (std::size_t c = 0; c < row.size(); ++c) out << (c == 0 ? "" : " ") << fmt::format("{}", row[c]);
  out << '\n';
}

std::optional<Digest> parse_digest(std::string_view word) {
  if (word.size() != 32) return std::nullopt;
  Digest digest;
  for (std::uint64_t* half : {&digest.high, &digest.low}) {
    const char* const begin = word.data() + (half == &digest.high ? 0 : 16);
    const auto [end, error] = std::from_chars(begin, begin + 16, *half, 16);
    if (error != std::errc() || end != begin + 16) return std::nullopt;
  }
  return digest;
}

AnswerHead read_answer_head(Reader& reader, std::string_view expected) {
  AnswerHead head;
  reader.need(expected);
  std::vector<std::string_view> words = reader.words();
  if (!words.empty() && words[0] == "i") {
    if (words.size() == 2) head.instance = parse_digest(words[1]);
    if (!head.instance) reader.fail("{}, expected 'i' and a digest of 32 hexadecimal digits", quoted(reader.line()));
    reader.need(expected);
    words = reader.words();
  }
  if (!reader.line().starts_with("s ") || words.size() < 2)
    reader.fail("{}, expected {}", quoted(reader.line()), expected);
  for (std::size_t w = 1; w < words.size(); ++w) head.words.emplace_back(words[w]);
  return head;
}

void write_answer_head(std::ostream& out, const Digest& instance, const Provenance& provenance) {
  write_comment_lines(out, provenance);
  out << "i " << to_string(instance) << '\n';
}

}  // namespace subquad::problems::text
