// Every malformed file of tests/data/bad is refused with one clear line at the right place, and costs no memory.
#include "text_round_trip.hpp"

#include <subquad/core/stopwatch.hpp>
#include <subquad/problems/attention.hpp>
#include <subquad/problems/gap_ann.hpp>
#include <subquad/problems/orthogonal_vectors.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace subquad::problems {
namespace {

namespace fs = std::filesystem;

struct Expectation {
  std::string file;
  std::string line;  // "-": the message need not name a line
  std::string part;
};

fs::path bad(const std::string& kind) {
  return fs::path(SUBQUAD_SOURCE_DIR) / "tests/data/bad" / kind;
}

std::vector<Expectation> expectations(const std::string& kind) {
  std::vector<Expectation> rows;
  std::ifstream in(bad(kind) / "expected.tsv");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream cells(line);
    Expectation row;
    std::getline(cells, row.file, '\t');
    std::getline(cells, row.line, '\t');
    std::getline(cells, row.part);
    rows.push_back(row);
  }
  return rows;
}

template <Problem P>
void expect_refused(const std::string& kind, std::size_t at_least) {
  const std::vector<Expectation> rows = expectations(kind);
  EXPECT_GE(rows.size(), at_least);
  std::set<std::string> listed{"expected.tsv", ".gitattributes"};
  const std::uint64_t memory = peak_memory_bytes();
  for (const Expectation& row : rows) {
    listed.insert(row.file);
    std::ifstream in(bad(kind) / row.file, std::ios::binary);
    ASSERT_TRUE(in.is_open()) << row.file;
    try {
      P::read_instance(in, row.file);
      ADD_FAILURE() << row.file << " is accepted";
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_EQ(error.kind(), ErrorKind::input) << message;
      EXPECT_TRUE(test::well_worded(message)) << message;
      EXPECT_NE(message.find(row.part), std::string::npos) << message << "\n  lacks: " << row.part;
      EXPECT_NE(message.find("expected"), std::string::npos) << message;
      if (row.line != "-") {
        EXPECT_TRUE(message.starts_with(row.file + ":" + row.line + ": ")) << message;
      }
    }
  }
  // "p ov 1000000000000 .." must not reserve what it promises.
  EXPECT_LE(peak_memory_bytes() - memory, std::uint64_t{32} << 20);
  for (const fs::directory_entry& entry : fs::directory_iterator(bad(kind)))
    EXPECT_TRUE(listed.contains(entry.path().filename().string())) << entry.path() << " is not in expected.tsv";
}

TEST(MalformedFiles, OrthogonalVectors) {
  expect_refused<OrthogonalVectors>("ov", 12);
}
TEST(MalformedFiles, GapAnn) {
  expect_refused<GapAnn>("gap_ann", 12);
}
TEST(MalformedFiles, Attention) {
  expect_refused<Attention>("attention", 8);
}

}  // namespace
}  // namespace subquad::problems
