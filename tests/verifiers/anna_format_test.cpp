// The files of ANNA's collision counts: round trip, malformed ones, declared sizes.
#include "expect_error.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/provenance.hpp>
#include <subquad/verifiers/anna_format.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace subquad::verifiers;
using subquad::ErrorKind;
using subquad::Provenance;
using subquad::test::expect_error;

AnnaWeights read(const std::string& text) {
  std::istringstream in(text);
  return read_anna_weights(in, "w");
}

TEST(AnnaFormat, RoundTrip) {
  const AnnaWeights weights{
      4, 5, {0.1, 3.0000000000000004, 7, true, AnnaMetric::angular}, {{0, 0, 1}, {0, 4, 9}, {2, 2, 3}}};
  std::ostringstream out;
  write_anna_weights(out, weights, Provenance{});
  EXPECT_EQ(read(out.str()), weights);
  const std::vector<AnnaRow> rows = weights.rows();
  EXPECT_EQ(rows, (std::vector<AnnaRow>{{{0, 1}, {4, 9}}, {}, {{2, 3}}, {}}));
  EXPECT_EQ(make_anna_weights(5, weights.claim, rows), weights);
}

TEST(AnnaFormat, MalformedFilesSayWhere) {
  const auto refuse = [](const std::string& text, const char* part) {
    expect_error(ErrorKind::input, part, [&] { read(text); });
  };
  const std::string header = "p anna-weights 2 3 euclidean 1 2 4 zero 2\n";
  refuse("", "w:1:");
  refuse("p ov 1 1 1\n", "anna-weights");
  refuse("p anna-weights 2 3\n", "header with 4 words");
  refuse("p anna-weights x 3 euclidean 1 2 4 zero 0\n", "queries 'x'");
  refuse("p anna-weights 99999999999999999999 3 euclidean 1 2 4 zero 0\n", "queries");
  refuse("p anna-weights 2 3 cosine 1 2 4 zero 0\n", "metric 'cosine', expected euclidean, angular or hamming");
  refuse("p anna-weights 2 3 hamming -1 2 4 zero 0\n", "radius r '-1'");
  refuse("p anna-weights 2 3 angular nan 2 4 zero 0\n", "radius r 'nan'");
  refuse("p anna-weights 2 3 euclidean 1 0.5 4 zero 0\n", "ratio c '0.5'");
  refuse("p anna-weights 2 3 euclidean 1 2 0 zero 0\n", "tables '0'");
  refuse("p anna-weights 2 3 euclidean 1 2 4 maybe 0\n", "zero or strict");
  refuse("p anna-weights 0 3 euclidean 1 2 4 zero 1\n0 0 1\n", "there are no pairs");
  refuse(header + "0 1 1\n", "file ends");
  refuse(header + "0 1 1\n1 0 1\n1 1 1\n", "2 counts");
  refuse(header + "0 1\n0 2 1\n", "w:2:");
  refuse(header + "2 1 1\n0 2 1\n", "query '2'");
  refuse(header + "0 3 1\n0 2 1\n", "key '3'");
  refuse(header + "0 1 0\n0 2 1\n", "count '0'");
  refuse(header + "0 1 1\n0 1 1\n", "ascending");
  refuse(header + "1 1 1\n0 2 1\n", "ascending");
  refuse(header + "0 1 1\n0 2 1", "w:3:");
}

TEST(AnnaFormat, DeclaredSizesCostNothing) {
  const AnnaWeights weights =
      read("p anna-weights 4000000000000000000 4000000000000000000 hamming 1 2 3 zero 1\n3999999999999999999 0 1\n");
  EXPECT_EQ(weights.entries.size(), 1u);
  expect_error(ErrorKind::input, "line 2 of 4000000000000000000",
               [&] { read("p anna-weights 2 3 hamming 1 2 3 zero 4000000000000000000\n0 0 1\n"); });
}

TEST(AnnaFormat, EveryMalformedFileIsRefusedAtItsLine) {
  const std::string folder = std::string(SUBQUAD_SOURCE_DIR) + "/tests/data/bad/anna_weights/";
  std::ifstream table(folder + "expected.tsv");
  int cases = 0;
  for (std::string row; std::getline(table, row);) {
    if (row.empty() || row[0] == '#') continue;
    const std::size_t tab = row.find('\t');
    const std::size_t second = row.find('\t', tab + 1);
    const std::string name = row.substr(0, tab);
    std::ifstream file(folder + name, std::ios::binary);
    ASSERT_TRUE(file) << name;
    const std::string place = name + ":" + row.substr(tab + 1, second - tab - 1) + ": ";
    expect_error(ErrorKind::input, place, [&] {
      std::ifstream again(folder + name, std::ios::binary);
      read_anna_weights(again, name);
    });
    expect_error(ErrorKind::input, row.substr(second + 1), [&] { read_anna_weights(file, name); });
    ++cases;
  }
  EXPECT_GE(cases, 30);
}

}  // namespace
