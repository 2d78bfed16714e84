#include <subquad/core/provenance.hpp>

#include <gtest/gtest.h>

namespace subquad {
namespace {

using Lines = std::vector<std::string>;

TEST(Provenance, SaysWhatIsKnown) {
  EXPECT_EQ(Provenance{}.lines(), Lines{"subquad " + version()});
  const Provenance all{"subquad gen ov", 0, "x.cnf", "0123"};
  EXPECT_EQ(all.lines(), (Lines{"subquad " + version(), "command: subquad gen ov", "seed: 0", "source: x.cnf (0123)"}));
}

TEST(Provenance, NoLineBreaksOutOfItsComment) {
  const Provenance hostile{"gen\np ov 1 1 1\r", 7, "a\tb\x7f", "d"};
  for (const std::string& line : hostile.lines())
    for (const char c : line) EXPECT_TRUE(c >= 0x20 && c != 0x7f) << line;
  EXPECT_EQ(hostile.lines()[1], "command: gen\\x0ap ov 1 1 1\\x0d");
}

}  // namespace
}  // namespace subquad
