// The files under tests/data: every malformed one is refused with its line, every sloppy one is read and reported.
#include "expect_error.hpp"

#include <subquad/sat/cadical_solver.hpp>
#include <subquad/sat/dimacs.hpp>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace subquad::sat {
namespace {

namespace fs = std::filesystem;
using test::expect_error;

/// The rows of FOLDER/expected.tsv, split at tabs, without comments.
std::vector<std::vector<std::string>> expected_rows(const fs::path& folder) {
  std::ifstream in(folder / "expected.tsv");
  EXPECT_TRUE(in.is_open()) << folder;
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream cells(line);
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, '\t');) rows.back().push_back(cell);
  }
  return rows;
}

/// Every .cnf file of the folder has a row, and every row a file.
void expect_complete(const fs::path& folder, const std::vector<std::vector<std::string>>& rows) {
  std::set<std::string> listed;
  for (const auto& row : rows) listed.insert(row.at(0));
  EXPECT_EQ(listed.size(), rows.size());
  std::set<std::string> present;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".cnf") present.insert(entry.path().filename());
  }
  EXPECT_EQ(listed, present);
}

DimacsFile read(const fs::path& path, DimacsMode mode) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.is_open()) << path;
  return read_dimacs(in, path.filename(), mode);
}

TEST(DimacsFiles, MalformedFilesAreRefusedInBothModes) {
  const fs::path folder = fs::path(SUBQUAD_SOURCE_DIR) / "tests/data/bad/dimacs";
  const auto rows = expected_rows(folder);
  expect_complete(folder, rows);
  EXPECT_GE(rows.size(), 22U);
  for (const auto& row : rows) {
    SCOPED_TRACE(row.at(0));
    ASSERT_EQ(row.size(), 3U);
    const std::string place = row[1] == "-" ? row[0] + ": " : row[0] + ":" + row[1] + ": ";
    expect_error(ErrorKind::input, place, [&] { read(folder / row[0], DimacsMode::lenient); });
    expect_error(ErrorKind::input, row[2], [&] { read(folder / row[0], DimacsMode::lenient); });
    expect_error(ErrorKind::input, row[0], [&] { read(folder / row[0], DimacsMode::strict); });
  }
}

TEST(DimacsFiles, LibertiesAreForgivenReportedAndStrictlyRefused) {
  const fs::path folder = fs::path(SUBQUAD_SOURCE_DIR) / "tests/data/good/dimacs";
  const auto rows = expected_rows(folder);
  expect_complete(folder, rows);
  for (const auto& row : rows) {
    SCOPED_TRACE(row.at(0));
    ASSERT_EQ(row.size(), 5U);
    const DimacsFile file = read(folder / row[0], DimacsMode::lenient);
    EXPECT_EQ(std::to_string(file.formula.num_variables()), row[1]);
    EXPECT_EQ(std::to_string(file.formula.num_clauses()), row[2]);
    if (file.formula.num_variables() <= 20) {
      EXPECT_EQ(CnfSat::solve_brute_force(file.formula).model ? "SAT" : "UNSAT", row[3]);
    }
    if (row[4] == "-") {
      EXPECT_TRUE(file.liberties.empty()) << file.liberties.front();
      EXPECT_EQ(read(folder / row[0], DimacsMode::strict).formula, file.formula);
    } else {
      const std::string liberty = row[0] + ":" + row[4];
      EXPECT_TRUE(std::any_of(file.liberties.begin(), file.liberties.end(),
                              [&](const std::string& reported) { return reported.starts_with(liberty); }))
          << "not reported: " << liberty;
      expect_error(ErrorKind::input, "not allowed in strict mode", [&] { read(folder / row[0], DimacsMode::strict); });
    }
  }
}

// Public uniform random formulas (SATLIB's uf20-91) are not part of the project; where they lie on this machine they
// are read. Their folder: SUBQUAD_PUBLIC_CNF, by default ../shared/data/cnf beside the source tree.
TEST(DimacsFiles, PublicUniformFormulas) {
  const char* const named = std::getenv("SUBQUAD_PUBLIC_CNF");
  const fs::path folder = named != nullptr ? fs::path(named) : fs::path(SUBQUAD_SOURCE_DIR) / "../shared/data/cnf";
  if (!fs::exists(folder / "uf20-01.cnf")) GTEST_SKIP() << "no public formulas in " << folder;
  for (const std::string number : {"01", "02", "03", "04", "05"}) {
    SCOPED_TRACE(number);
    const DimacsFile file = read(folder / ("uf20-" + number + ".cnf"), DimacsMode::lenient);
    EXPECT_EQ(file.formula.num_variables(), 20U);
    EXPECT_EQ(file.formula.num_clauses(), 91U);
    EXPECT_EQ(file.declared_clauses, 91U);
    EXPECT_FALSE(file.liberties.empty());
    const CnfSat::Answer answer = solve_with_cadical(file.formula);
    ASSERT_TRUE(answer.model);
    EXPECT_EQ(CnfSat::check(file.formula, answer).verdict, Verdict::certified);
    EXPECT_TRUE(CnfSat::solve_brute_force(file.formula).model);
  }
}

}  // namespace
}  // namespace subquad::sat
