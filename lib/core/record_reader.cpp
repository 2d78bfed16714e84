#include <subquad/core/record_reader.hpp>

#include <algorithm>
#include <cstdint>

namespace subquad {

bool RecordReader::next() {
  while (lines_.next()) {
    if (lines_.missing_final_newline())
      fail("the file ends inside this line, expected a line feed (is the file truncated?)");
    const std::string_view line = lines_.line();
    if (line.empty()) fail("blank line, expected data (comments start with 'c ')");
    if (line == "c" || line.starts_with("c ") || line.starts_with("c\t")) continue;
    return true;
  }
  return false;
}

void RecordReader::need(std::string_view what) {
  if (!next()) fail("the file ends here, expected {}", what);
}

void RecordReader::expect_end(std::string_view after) {
  if (!next()) return;
  if (at_header()) fail("second header, expected the end of the file after {}", after);
  fail("{} after {}, expected the end of the file", quoted(lines_.line()), after);
}

bool RecordReader::at_header() const {
  const std::string_view line = lines_.line();
  return line == "p" || line.starts_with("p ") || line.starts_with("p\t");
}

void RecordReader::fail_here(const std::string& message) const {
  lines_.fail_at(std::max<std::uint64_t>(lines_.line_number(), 1), message);
}

std::vector<std::string_view> read_record_header(RecordReader& reader, std::string_view kind, std::string_view usage) {
  reader.need(fmt::format("the header '{}'", usage));
  if (!reader.at_header()) reader.fail("{}, expected the header '{}'", quoted(reader.line()), usage);
  std::vector<std::string_view> words = reader.words();
  if (words.size() < 2 || words[1] != kind)
    reader.fail("header of kind {}, expected '{}'", quoted(words.size() < 2 ? "" : words[1]), usage);
  return words;
}

void write_comment_lines(std::ostream& out, const Provenance& provenance) {
  for (const std::string& line : provenance.lines()) out << "c " << line << '\n';
}

}  // namespace subquad
