#include "dimacs_scanner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace subquad::sat {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16;

/// Whether a comment line is for other tools: see Cnf::kept_comments.
bool is_kept_comment(std::string_view line) {
  for (const std::string_view prefix : {"c varname", "c ind", "c p show", "c p weight", "c t"}) {
    if (line.starts_with(prefix) && (line.size() == prefix.size() || line[prefix.size()] == ' ')) return true;
  }
  return false;
}

/// Long enough to tell whether a comment is kept.
constexpr std::size_t kCommentPrefix = 16;

}  // namespace

DimacsScanner::DimacsScanner(std::istream& stream, std::string name, DimacsMode mode)
    : stream_(stream), name_(name == "-" ? "standard input" : std::move(name)), mode_(mode), buffer_(kBufferBytes) {
  if (!refill()) return;
  refuse_foreign_formats();
  skip_byte_order_mark();
}

bool DimacsScanner::refill() {
  if (at_end_) return false;
  bytes_before_buffer_ += size_;
  position_ = size_ = 0;
  stream_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  size_ = static_cast<std::size_t>(stream_.gcount());
  if (stream_.bad()) {
    throw Error(ErrorKind::input,
                fmt::format("{}: read error after {} bytes (a directory, or a broken device?), expected a text file",
                            name_, bytes_before_buffer_ + size_));
  }
  if (size_ == 0) {
    at_end_ = true;
    return false;
  }
  saw_any_byte_ = true;
  return true;
}

int DimacsScanner::peek() {
  if (position_ == size_ && !refill()) return kEnd;
  const auto byte = static_cast<unsigned char>(buffer_[position_]);
  if (byte == 0) fail("NUL byte: this looks like a binary (or UTF-16) file, expected plain text");
  return byte;
}

void DimacsScanner::refuse_foreign_formats() {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kMagic = {{{"\x1f\x8b", "gzip"},
                                                                                    {"BZh", "bzip2"},
                                                                                    {"\xfd"
                                                                                     "7zXZ",
                                                                                     "xz"},
                                                                                    {"\x28\xb5\x2f\xfd", "zstd"}}};
  const std::string_view head(buffer_.data(), size_);
  for (const auto& [magic, format] : kMagic) {
    if (head.starts_with(magic)) fail("this is a {} archive, expected plain text: decompress it first", format);
  }
}

void DimacsScanner::skip_byte_order_mark() {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (!std::string_view(buffer_.data(), size_).starts_with(kMark)) return;
  position_ += kMark.size();
  take_liberty(DimacsLiberty::byte_order_mark, line_, "UTF-8 byte order mark");
}

void DimacsScanner::fail_at(std::uint64_t line, const std::string& message) const {
  throw Error(ErrorKind::input, fmt::format("{}:{}: {}", name_, line, message));
}

void DimacsScanner::take_liberty(DimacsLiberty liberty, std::uint64_t line, std::string_view what) {
  if (mode_ == DimacsMode::strict) fail_at(line, fmt::format("{}, not allowed in strict mode", what));
  TakenLiberty& taken = taken_[static_cast<std::size_t>(liberty)];
  if (taken.times++ != 0) return;
  taken.first_line = line;
  taken.what = what;
  taken_order_.push_back(liberty);
}

std::vector<std::string> DimacsScanner::liberties() const {
  std::vector<std::string> result;
  for (const DimacsLiberty liberty : taken_order_) {
    const TakenLiberty& taken = taken_[static_cast<std::size_t>(liberty)];
    result.push_back(fmt::format("{}:{}: {}", name_, taken.first_line, taken.what));
    if (taken.times > 1) result.back() += fmt::format(" ({} times)", taken.times);
  }
  return result;
}

std::uint64_t DimacsScanner::skip_blanks() {
  std::uint64_t count = 0;
  for (int byte = peek(); byte == ' ' || byte == '\t'; byte = peek()) {
    if (byte == '\t') take_liberty(DimacsLiberty::tab, line_, "tab");
    advance();
    ++count;
  }
  if (count != 0) line_has_bytes_ = true;
  return count;
}

void DimacsScanner::skip_carriage_return() {
  advance();
  const int byte = peek();
  if (byte != '\n' && byte != '\r' && byte != kEnd)
    fail("carriage return inside a line, expected line ends LF or CRLF (old Macintosh text?)");
  line_has_bytes_ = true;
  take_liberty(DimacsLiberty::carriage_return, line_, "carriage return before a line end");
}

void DimacsScanner::end_line() {
  if (!line_has_content_) take_liberty(DimacsLiberty::blank_line, line_, "blank line");
  advance();
  ++line_;
  line_has_content_ = line_has_bytes_ = false;
}

DimacsScanner::Word DimacsScanner::read_word() {
  Word result;
  result.first_on_line = !line_has_content_;
  line_has_content_ = line_has_bytes_ = true;
  word_.clear();
  for (int byte = peek(); byte != kEnd && byte != ' ' && byte != '\t' && byte != '\n' && byte != '\r'; byte = peek()) {
    if (word_.size() == kLongestWord) {
      result.truncated = true;
      break;
    }
    word_.push_back(static_cast<char>(byte));
    advance();
  }
  result.text = word_;
  return result;
}

DimacsScanner::Word DimacsScanner::next_on_line() {
  for (;;) {
    const std::uint64_t blanks = skip_blanks();
    const int byte = peek();
    if (byte == '\n' || byte == kEnd) {
      if (blanks != 0 && line_has_content_)
        take_liberty(DimacsLiberty::trailing_space, line_, "space before a line end");
      return {};
    }
    if (byte == '\r') {
      if (blanks != 0 && line_has_content_)
        take_liberty(DimacsLiberty::trailing_space, line_, "space before a line end");
      skip_carriage_return();
      continue;
    }
    if (blanks != 0 && !line_has_content_)
      take_liberty(DimacsLiberty::leading_space, line_, "space at the start of a line");
    if (blanks > 1 && line_has_content_) take_liberty(DimacsLiberty::repeated_space, line_, "several spaces in a row");
    return read_word();
  }
}

DimacsScanner::Word DimacsScanner::next(bool in_body) {
  for (;;) {
    const Word word = next_on_line();
    if (word.text.empty()) {
      if (peek() == kEnd) {
        if (line_has_bytes_) take_liberty(DimacsLiberty::no_final_newline, line_, "no newline at the end of the file");
        return {};
      }
      end_line();
      continue;
    }
    if (word.first_on_line && word.text.front() == 'c') {
      skip_comment(in_body);
    } else if (word.text == "c") {
      take_liberty(DimacsLiberty::comment_after_literal, line_, "comment behind a literal on the same line");
      skip_comment(in_body);
    } else {
      return word;
    }
  }
}

void DimacsScanner::skip_comment(bool in_body) {
  if (in_body) take_liberty(DimacsLiberty::body_comment, line_, "comment behind the header");
  // The comment's first word has been read. A comment that nobody needs is skipped without being stored.
  std::string text(word_);
  bool keep = text.size() < kCommentPrefix || is_kept_comment(text);
  bool last_is_carriage_return = false;
  for (int byte = peek(); byte != '\n' && byte != kEnd; byte = peek()) {
    last_is_carriage_return = byte == '\r';
    if (keep) {
      text.push_back(static_cast<char>(byte));
      if (text.size() == kCommentPrefix) keep = is_kept_comment(text);
    }
    advance();
  }
  if (last_is_carriage_return) take_liberty(DimacsLiberty::carriage_return, line_, "carriage return before a line end");
  text.erase(text.find_last_not_of('\r') + 1);
  if (keep && is_kept_comment(text)) kept_comments_.push_back(std::move(text));
}

bool DimacsScanner::rest_is_more_than_zero() {
  std::uint64_t others = 0;
  for (; position_ != size_ || refill(); advance()) {
    const char byte = buffer_[position_];
    if (byte != ' ' && byte != '\t' && byte != '\r' && byte != '\n' && others++ == 0 && byte != '0') others = 2;
  }
  return others > 1;
}

}  // namespace subquad::sat
