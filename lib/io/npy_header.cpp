#include "npy_header.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/line_reader.hpp>

#include <algorithm>
#include <istream>
#include <limits>
#include <string_view>

namespace subquad::io {
namespace {

constexpr std::string_view kMagic{"\x93NUMPY", 6};

/// Reads exactly `size` bytes, or says that the file ends inside `what`.
std::string read_exactly(std::istream& in, std::size_t size, const std::string& name, std::string_view what) {
  std::string bytes(size, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  const auto got = static_cast<std::size_t>(in.gcount());
  require(got == size, ErrorKind::input, "{}: the file ends inside {}: {} bytes, expected {}", name, what, got, size);
  return bytes;
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// Recursive descent over the dictionary literal: strings, True/False, tuples of integers, nothing else.
class DictionaryParser {
 public:
  DictionaryParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_type = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string("a key");
      expect(':');
      if (key == "descr") {
        once(has_type, key);
        element_type(header);
      } else if (key == "fortran_order") {
        once(has_order, key);
        header.fortran_order = boolean();
      } else if (key == "shape") {
        once(has_shape, key);
        header.shape = tuple();
      } else {
        refuse("unknown key {}, expected 'descr', 'fortran_order' and 'shape'", subquad::quoted(key));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (at_ != text_.size()) refuse("{} after the dictionary, expected blanks", subquad::quoted(text_.substr(at_)));
    if (!has_type || !has_order || !has_shape) {
      refuse("the header has no '{}'", !has_type ? "descr" : !has_order ? "fortran_order" : "shape");
    }
    return header;
  }

 private:
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail(ErrorKind::input, "{}: {}", name_, fmt::format(format, std::forward<Args>(args)...));
  }

  void once(bool& seen, const std::string& key) const {
    if (seen) refuse("'{}' stands twice in the header", key);
    seen = true;
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
  }

  bool accept(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) refuse("header: {}, expected '{}'", here(), c);
  }

  std::string here() const { return at_ == text_.size() ? "the end" : subquad::quoted(text_.substr(at_, 20)); }

  std::string string(std::string_view what) {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') refuse("header: {}, expected {} in quotes", here(), what);
    const std::size_t end = text_.find(quote, at_ + 1);
    const std::string_view content = text_.substr(at_ + 1, end == std::string_view::npos ? 0 : end - at_ - 1);
    if (end == std::string_view::npos || content.find('\\') != std::string_view::npos) {
      refuse("header: {}, expected {} in quotes without escapes", here(), what);
    }
    at_ = end + 1;
    return std::string(content);
  }

  void element_type(NpyHeader& header) {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '[') refuse("elements are records, expected '<f4' or '<f8'");
    const std::string type = string("the element type");
    if (type.size() != 3 || (type[0] != '<' && type[0] != '>') || (type.substr(1) != "f4" && type.substr(1) != "f8")) {
      refuse("element type {}, expected '<f4', '<f8', '>f4' or '>f8'", subquad::quoted(type));
    }
    header.big_endian = type[0] == '>';
    header.item_bytes = type[2] == '4' ? 4 : 8;
  }

  bool boolean() {
    skip_blanks();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    refuse("header: fortran_order is {}, expected True or False", here());
  }

  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> shape;
    expect('(');
    while (!accept(')')) {
      shape.push_back(integer());
      if (!accept(',')) {
        expect(')');
        // "(5)" is no tuple in Python, but a number in parentheses.
        if (shape.size() == 1) refuse("header: shape is a number, expected a tuple such as (2, 3)");
        break;
      }
    }
    return shape;
  }

  std::uint64_t integer() {
    skip_blanks();
    const std::size_t begin = at_;
    std::uint64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      const auto digit = static_cast<std::uint64_t>(text_[at_] - '0');
      if (value > (std::numeric_limits<std::int64_t>::max() - digit) / 10) {
        refuse("a dimension has more than 63 bits: {}", subquad::quoted(text_.substr(begin, 40)));
      }
      value = value * 10 + digit;
    }
    if (at_ == begin) refuse("header: a dimension is {}, expected a non-negative integer", here());
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote long integers so
    return value;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

}  // namespace

NpyHeader read_npy_header(std::istream& in, const std::string& name) {
  const std::string magic = read_exactly(in, kMagic.size(), name, "the magic string");
  require(magic == kMagic, ErrorKind::input, "{}: starts with {}, expected the magic string \\x93NUMPY", name,
          subquad::quoted(magic));
  const std::string version = read_exactly(in, 2, name, "the version");
  const int major = static_cast<unsigned char>(version[0]), minor = static_cast<unsigned char>(version[1]);
  require(major >= 1 && major <= 3 && minor == 0, ErrorKind::input,
          "{}: format version {}.{}, expected 1.0, 2.0 or 3.0", name, major, minor);
  const std::uint64_t length = little_endian(read_exactly(in, major == 1 ? 2 : 4, name, "the header's length"));
  require(length <= kLongestNpyHeader, ErrorKind::input, "{}: the header claims {} bytes, expected at most {}", name,
          length, kLongestNpyHeader);
  const std::string text = read_exactly(in, length, name, "the header");
  require(!text.empty() && text.back() == '\n', ErrorKind::input,
          "{}: the header of {} bytes does not end in a newline: its length is wrong", name, length);
  return DictionaryParser(text, name).parse();
}

std::string npy_header_bytes(std::uint64_t item_bytes, std::uint64_t rows, std::uint64_t cols) {
  std::string text =
      fmt::format("{{'descr': '<f{}', 'fortran_order': False, 'shape': ({}, {}), }}", item_bytes, rows, cols);
  constexpr std::size_t kPreamble = 10, kAlignment = 64;
  const std::size_t total = (kPreamble + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  text.resize(total - kPreamble - 1, ' ');
  text += '\n';
  std::string bytes(kMagic);
  bytes += {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return bytes + text;
}

}  // namespace subquad::io
