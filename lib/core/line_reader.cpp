#include <subquad/core/line_reader.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace subquad {

LineReader::LineReader(std::istream& stream, std::string name)
    : stream_(stream), name_(name == "-" ? "standard input" : std::move(name)) {}

bool LineReader::next() {
  try {
    return read_line();
  } catch (const std::ios_base::failure& failure) {
    // The stream buffer throws when the source cannot be read at all, for example a folder opened as a file.
    fail_at(std::max<std::uint64_t>(number_, 1),
            fmt::format("cannot be read ({}), expected a text file", failure.what()));
  }
}

bool LineReader::read_line() {
  line_.clear();
  std::streambuf* const buffer = stream_.rdbuf();
  constexpr int kEnd = std::char_traits<char>::eof();
  int byte = buffer->sbumpc();
  if (byte == kEnd) {
    stream_.setstate(std::ios::eofbit);
    return false;
  }
  ++number_;
  for (; byte != kEnd && byte != '\n'; byte = buffer->sbumpc()) {
    if (byte == 0) fail("NUL byte: this looks like a binary file, expected text");
    if (line_.size() >= kLongestLine) fail("line longer than {} bytes", kLongestLine);
    line_.push_back(static_cast<char>(byte));
  }
  missing_newline_ = byte == kEnd;
  if (!line_.empty() && line_.back() == '\r') {
    line_.pop_back();
    saw_cr_ = true;
  }
  return true;
}

void LineReader::fail_at(std::uint64_t line, const std::string& message) const {
  throw Error(ErrorKind::input, fmt::format("{}:{}: {}", name_, line, message));
}

std::vector<std::string_view> split_words(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t position = 0;
  while ((position = line.find_first_not_of(" \t", position)) != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(" \t", position), line.size());
    words.push_back(line.substr(position, end - position));
    position = end;
  }
  return words;
}

std::optional<std::int64_t> parse_int(std::string_view word) {
  if (!word.empty() && word.front() == '+') {
    word.remove_prefix(1);
    if (!word.empty() && word.front() == '-') return std::nullopt;  // from_chars would take "+-5" for -5
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_real(std::string_view word) {
  bool negative = false;
  if (!word.empty() && (word.front() == '+' || word.front() == '-')) {
    negative = word.front() == '-';
    word.remove_prefix(1);
  }
  auto format = std::chars_format::general;
  if (word.starts_with("0x") || word.starts_with("0X")) {
    format = std::chars_format::hex;
    word.remove_prefix(2);
  }
  if (word.empty() || word.front() == '-') return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, format);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) return std::nullopt;
  return negative ? -value : value;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 40;
  std::string result = "'";
  for (const char raw : text.substr(0, kShown)) {
    const auto byte = static_cast<unsigned char>(raw);
    if (byte < 0x20 || byte >= 0x7f || byte == '\'' || byte == '\\')
      result += fmt::format("\\x{:02x}", byte);
    else
      result += raw;
  }
  if (text.size() > kShown) result += "...";
  return result + "'";
}

}  // namespace subquad
