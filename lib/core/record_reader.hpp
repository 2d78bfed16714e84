// Record reader: the lines of our own text formats that are no comments, with the rules that all these formats share.
//
// All formats are strict: `c` comments may stand on any line, blank lines may not; a file ends with a line feed, so
// that a truncated one is noticed; memory grows with the bytes read, never with the sizes that a header declares.
#pragma once

#include <subquad/core/line_reader.hpp>
#include <subquad/core/provenance.hpp>

#include <fmt/format.h>

#include <istream>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace subquad {

/// Reads the lines of a format that are no comments.
class RecordReader {
 public:
  RecordReader(std::istream& in, const std::string& name) : lines_(in, name) {}

  /// Reads the next line that is no comment; false at the end.
  /// Throws Error(input) for a blank line and for a last line without line feed.
  bool next();
  /// The same, but the end of the file is an error: "file ends ..., expected WHAT".
  void need(std::string_view what);
  /// Throws Error(input) unless nothing but comments follows.
  void expect_end(std::string_view after);

  std::string_view line() const noexcept { return lines_.line(); }
  std::vector<std::string_view> words() const { return split_words(lines_.line()); }
  /// True iff the line is a header or consists of the word `p` alone.
  bool at_header() const;

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    fail_here(fmt::format(format, std::forward<Args>(args)...));
  }
  /// The line read last, at least 1, so that an empty file has a place too.
  [[noreturn]] void fail_here(const std::string& message) const;

 private:
  LineReader lines_;
};

/// Reads the next line as a header and checks its kind only; returns all its words. `usage` is shown in messages.
std::vector<std::string_view> read_record_header(RecordReader& reader, std::string_view kind, std::string_view usage);

/// Writes the provenance as comment lines.
void write_comment_lines(std::ostream& out, const Provenance& provenance);

}  // namespace subquad
