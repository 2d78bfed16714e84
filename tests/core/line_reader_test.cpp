#include <subquad/core/line_reader.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

namespace subquad {
namespace {

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "nothing thrown";
}

TEST(LineReader, HandChecked) {
  std::istringstream in("first\n\nthird\r\nlast");
  LineReader reader(in, "file.x");
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.line(), "first");
  EXPECT_EQ(reader.line_number(), 1u);
  EXPECT_FALSE(reader.saw_carriage_return());
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.line(), "");
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.line(), "third");
  EXPECT_TRUE(reader.saw_carriage_return());
  EXPECT_FALSE(reader.missing_final_newline());
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.line(), "last");
  EXPECT_TRUE(reader.missing_final_newline());
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.line_number(), 4u);
  EXPECT_EQ(message_of([&] { reader.fail("{} wrong, expected {}", 1, 2); }), "file.x:4: 1 wrong, expected 2");
}

TEST(LineReader, EmptyInputHasNoLine) {
  std::istringstream in("");
  LineReader reader(in, "-");
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.line_number(), 0u);
  EXPECT_EQ(reader.name(), "standard input");
}

RC_GTEST_PROP(LineReader, GivesBackTheLines, (const std::vector<std::string>& raw)) {
  std::vector<std::string> lines;
  std::string text;
  for (const std::string& piece : raw) {
    std::string line;
    for (const char c : piece)
      if (c != '\n' && c != '\r' && c != '\0') line += c;
    lines.push_back(line);
    text += line + "\n";
  }
  std::istringstream in(text);
  LineReader reader(in, "x");
  for (const std::string& line : lines) {
    RC_ASSERT(reader.next());
    RC_ASSERT(std::string(reader.line()) == line);
  }
  RC_ASSERT(!reader.next());
}

TEST(LineReader, RefusesBinaryAndUnreadableSources) {
  std::istringstream nul(std::string("ab\nc\0d\n", 7));
  LineReader reader(nul, "bin");
  EXPECT_TRUE(reader.next());
  EXPECT_EQ(message_of([&] { reader.next(); }), "bin:2: NUL byte: this looks like a binary file, expected text");

  const std::string folder = std::filesystem::temp_directory_path().string();
  std::ifstream in(folder);
  LineReader of_folder(in, folder);
  EXPECT_NE(message_of([&] { of_folder.next(); }).find(":1: cannot be read"), std::string::npos);
}

TEST(SplitWords, Examples) {
  using Words = std::vector<std::string_view>;
  EXPECT_EQ(split_words(""), Words{});
  EXPECT_EQ(split_words(" \t "), Words{});
  EXPECT_EQ(split_words("p cnf 20  91 "), (Words{"p", "cnf", "20", "91"}));
  EXPECT_EQ(split_words("\ta"), (Words{"a"}));
}

TEST(ParseInt, AcceptsOnlyWholeWords) {
  EXPECT_EQ(parse_int("0"), 0);
  EXPECT_EQ(parse_int("-0"), 0);
  EXPECT_EQ(parse_int("+7"), 7);
  EXPECT_EQ(parse_int("007"), 7);
  EXPECT_EQ(parse_int("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_int("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  for (const char* word : {"", "+", "-", "+-5", "-+5", "++5", "--5", "5x", "x5", " 5", "5 ", "0x10", "1e3", "1.0",
                           "9223372036854775808", "-9223372036854775809", "99999999999999999999999"})
    EXPECT_EQ(parse_int(word), std::nullopt) << word;
}

TEST(ParseReal, AcceptsOnlyFiniteWholeWords) {
  EXPECT_EQ(parse_real("0.5"), 0.5);
  EXPECT_EQ(parse_real("-1e-3"), -1e-3);
  EXPECT_EQ(parse_real("0x1.8p1"), 3.0);
  EXPECT_EQ(parse_real("-0X1P-2"), -0.25);
  EXPECT_EQ(parse_real("+5e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_TRUE(std::signbit(parse_real("-0").value()));
  for (const char* word :
       {"",    "+",   "-",   "nan", "-nan", "inf",   "infinity", "-inf", "1e400", "1,5", "1.5f",  "0x",
        "0xg", "--1", "+-1", "-+1", "0x-1", "0xinf", "0xnan",    "1e",   "e5",    "1 ",  "nan(3)"})
    EXPECT_EQ(parse_real(word), std::nullopt) << word;
}

RC_GTEST_PROP(ParseReal, ReadsBackEveryFiniteDouble, (std::uint64_t pattern)) {
  const double value = std::bit_cast<double>(pattern);
  RC_PRE(std::isfinite(value));
  for (const std::string& word :
       {fmt::format("{}", value), fmt::format("{:a}", value), fmt::format("{:.17e}", value)}) {
    const std::optional<double> again = parse_real(word);
    RC_ASSERT(again.has_value());
    RC_ASSERT(std::bit_cast<std::uint64_t>(*again) == pattern);
  }
}

TEST(Quoted, IsShortPrintableAndUnambiguous) {
  EXPECT_EQ(subquad::quoted("abc"), "'abc'");
  EXPECT_EQ(subquad::quoted("a'b\\"), "'a\\x27b\\x5c'");
  EXPECT_EQ(subquad::quoted("\x1b[31m\n"), "'\\x1b[31m\\x0a'");
  EXPECT_EQ(subquad::quoted("\xc3\xa9"), "'\\xc3\\xa9'");
  EXPECT_EQ(subquad::quoted(std::string(100, 'x')), "'" + std::string(40, 'x') + "...'");
}

}  // namespace
}  // namespace subquad
