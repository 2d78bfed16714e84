// Line reader: the shared lower half of the text formats (DIMACS, .ov, .gap, .attention).
#pragma once

#include <subquad/core/error.hpp>

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace subquad {

/// Reads a text line by line, keeps the line number, and words errors as `FILE:LINE: what, expected what`.
class LineReader {
 public:
  /// `name` stands for the source in messages ("-" is shown as "standard input"). The stream must outlive the reader.
  LineReader(std::istream& stream, std::string name);

  /// Reads the next line (without LF; a CR before it is removed and remembered). Returns false at the end.
  /// Throws Error(input) for a NUL byte (a binary file), a line longer than kLongestLine bytes, and a source that
  /// cannot be read (a folder, say). Memory: the longest line so far.
  bool next();

  std::string_view line() const noexcept { return line_; }
  std::uint64_t line_number() const noexcept { return number_; }
  bool saw_carriage_return() const noexcept { return saw_cr_; }
  /// True once the last line read had no LF behind it.
  bool missing_final_newline() const noexcept { return missing_newline_; }
  const std::string& name() const noexcept { return name_; }

  /// Throws Error(input) "name:line: message".
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    fail_at(number_, fmt::format(format, std::forward<Args>(args)...));
  }
  [[noreturn]] void fail_at(std::uint64_t line, const std::string& message) const;

  /// Longest line accepted. A row of a .ov file has one byte a coordinate, so this allows 2^30 coordinates.
  static constexpr std::uint64_t kLongestLine = std::uint64_t{1} << 30;

 private:
  bool read_line();

  std::istream& stream_;
  std::string name_;
  std::string line_;
  std::uint64_t number_ = 0;
  bool saw_cr_ = false;
  bool missing_newline_ = false;
};

/// Splits at runs of spaces and tabs; no empty pieces.
std::vector<std::string_view> split_words(std::string_view line);

/// Parses a decimal integer that fills the whole word (an optional sign, digits). Empty if it is none or overflows.
std::optional<std::int64_t> parse_int(std::string_view word);

/// Parses a finite real that fills the whole word (decimal or hexadecimal, whatever the locale). Empty if it is none.
std::optional<double> parse_real(std::string_view word);

/// Shows a piece of unknown input inside a message: at most 40 bytes, control and non-ASCII bytes escaped, in quotes.
std::string quoted(std::string_view text);

}  // namespace subquad
