// DIMACS scanner: splits a stream into words, line by line, and keeps the book of liberties. Private to the room.
//
// Bytes are read in blocks and looked at once; only the current word (at most kLongestWord bytes) and the comments
// worth keeping are held, so memory depends neither on the length of a line nor on the size of the file.
#pragma once

#include <subquad/core/error.hpp>
#include <subquad/sat/dimacs.hpp>

#include <array>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace subquad::sat {

/// Departures from the strict layout that lenient mode forgives.
enum class DimacsLiberty : std::uint8_t {
  byte_order_mark,
  carriage_return,
  blank_line,
  leading_space,
  repeated_space,
  trailing_space,
  tab,
  body_comment,
  comment_after_literal,
  no_final_newline,
  plus_sign,
  leading_zeros,
  clause_over_lines,
  clauses_on_one_line,
  unterminated_clause,
  clause_count,
  percent_trailer,
  trailer_remnant,
  kCount
};

/// Splits the text into words. Throws Error(input) for NUL bytes, lone carriage returns and read errors.
class DimacsScanner {
 public:
  struct Word {
    std::string_view text;       ///< valid until the next call; empty at the end of the text (or line)
    bool first_on_line = false;  ///< nothing but white space before it on its line
    bool truncated = false;      ///< longer than kLongestWord, `text` holds its beginning
  };
  static constexpr std::size_t kLongestWord = 64;

  DimacsScanner(std::istream& stream, std::string name, DimacsMode mode);

  /// Returns the next word, skipping line ends and comments. `in_body`: the header has been read.
  Word next(bool in_body);
  /// Returns the next word of the current line; comments are words here.
  Word next_on_line();
  /// Reads the rest of the text and says whether it holds anything but white space and one `0`.
  bool rest_is_more_than_zero();

  /// 1-based line of the last word returned (or of the end).
  std::uint64_t line() const noexcept { return line_; }
  bool saw_any_byte() const noexcept { return saw_any_byte_; }

  /// Forgives (lenient) or refuses (strict) a departure; `what` is kept from its first occurrence.
  void take_liberty(DimacsLiberty liberty, std::uint64_t line, std::string_view what);
  /// The liberties taken, in the order of their first occurrence, as `NAME:LINE: what`.
  std::vector<std::string> liberties() const;
  /// Comments that other tools need, moved out.
  std::vector<std::string> take_kept_comments() { return std::move(kept_comments_); }

  /// Throws Error(input) "NAME:LINE: message" for the current or a given line.
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    fail_at(line_, fmt::format(format, std::forward<Args>(args)...));
  }
  [[noreturn]] void fail_at(std::uint64_t line, const std::string& message) const;

 private:
  static constexpr int kEnd = -1;

  struct TakenLiberty {
    std::uint64_t first_line = 0;
    std::uint64_t times = 0;
    std::string what;
  };

  int peek();
  void advance() noexcept { ++position_; }
  bool refill();
  void refuse_foreign_formats();
  void skip_byte_order_mark();
  /// Skips blanks before a word; returns how many bytes.
  std::uint64_t skip_blanks();
  /// At a CR: consumes it and makes sure that a line end follows.
  void skip_carriage_return();
  void end_line();
  Word read_word();
  void skip_comment(bool in_body);

  std::istream& stream_;
  std::string name_;
  DimacsMode mode_;
  std::vector<char> buffer_;
  std::size_t position_ = 0;
  std::size_t size_ = 0;
  std::uint64_t bytes_before_buffer_ = 0;
  bool at_end_ = false;
  bool saw_any_byte_ = false;
  std::uint64_t line_ = 1;
  bool line_has_content_ = false;  // a word or a comment stands on the current line
  bool line_has_bytes_ = false;    // anything at all does
  std::string word_;
  std::vector<std::string> kept_comments_;
  std::array<TakenLiberty, static_cast<std::size_t>(DimacsLiberty::kCount)> taken_;
  std::vector<DimacsLiberty> taken_order_;
};

}  // namespace subquad::sat
