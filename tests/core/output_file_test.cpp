#include "expect_error.hpp"

#include <subquad/core/output_file.hpp>

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace subquad {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "subquad-output-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string content(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(OutputFileTest, AppearsWholeOnCommit) {
  OutputFile file(path("x"));
  file.stream() << "half";
  file.stream().flush();
  EXPECT_FALSE(fs::exists(path("x")));
  file.stream() << " and half";
  file.commit();
  EXPECT_EQ(content(path("x")), "half and half");
  EXPECT_EQ(files(), 1u);
  EXPECT_NO_THROW(file.commit());  // once is enough
}

TEST_F(OutputFileTest, AnExceptionLeavesNothing) {
  EXPECT_THROW(
      {
        OutputFile file(path("x"));
        file.stream() << "half";
        throw std::domain_error("interrupted");
      },
      std::domain_error);
  EXPECT_EQ(files(), 0u);
}

TEST_F(OutputFileTest, AnExistingFileSurvivesUntilCommit) {
  std::ofstream(path("x")) << "old";
  {
    OutputFile file(path("x"));
    file.stream() << "new";
    file.stream().flush();
    EXPECT_EQ(content(path("x")), "old");
  }
  EXPECT_EQ(content(path("x")), "old");
  EXPECT_EQ(files(), 1u);
  OutputFile file(path("x"));
  file.stream() << "new";
  file.commit();
  EXPECT_EQ(content(path("x")), "new");
}

TEST_F(OutputFileTest, PermissionsAndLinksSurvive) {
  std::ofstream(path("target")) << "old";
  const fs::perms mode = fs::perms::owner_read | fs::perms::owner_write;
  fs::permissions(path("target"), mode);
  fs::create_symlink("target", path("link"));
  OutputFile file(path("link"));
  file.stream() << "new";
  file.commit();
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content(path("target")), "new");
  EXPECT_EQ(fs::status(path("target")).permissions(), mode);
}

TEST_F(OutputFileTest, TwoWritersOfOnePathDoNotMix) {
  OutputFile first(path("x"));
  OutputFile second(path("x"));
  first.stream() << "first";
  second.stream() << "second";
  second.commit();
  first.commit();
  EXPECT_EQ(content(path("x")), "first");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, DevicesAreWrittenInPlace) {
  fs::create_symlink("/dev/null", path("null"));  // a mistake would replace the link here, not the device
  OutputFile file(path("null"));
  file.stream() << "gone";
  file.commit();
  EXPECT_TRUE(fs::is_symlink(path("null")));
  EXPECT_TRUE(fs::is_character_file(path("null")));
}

TEST_F(OutputFileTest, RefusesFoldersAndMissingFolders) {
  test::expect_error(ErrorKind::input, [&] { OutputFile file(folder_.string()); });
  test::expect_error(ErrorKind::input, [&] { OutputFile file(path("missing/x")); });
  EXPECT_EQ(files(), 0u);
}

TEST_F(OutputFileTest, RefusesAnUnwritableFolder) {
  test::expect_error(ErrorKind::input, [] { OutputFile file("/proc/subquad-test"); });  // not even for the superuser
  if (::geteuid() == 0) return;
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  test::expect_error(ErrorKind::input, [&] { OutputFile file(path("x")); });
}

TEST_F(OutputFileTest, AFullDiskIsReported) {
  if (!fs::is_character_file("/dev/full")) GTEST_SKIP() << "no /dev/full";
  OutputFile file("/dev/full");
  file.stream() << "text";
  test::expect_error(ErrorKind::resource, [&] { file.commit(); });
}

TEST_F(OutputFileTest, ABadStreamIsNotCommitted) {
  std::ofstream(path("x")) << "old";
  {
    OutputFile file(path("x"));
    file.stream() << "new";
    file.stream().setstate(std::ios::badbit);
    test::expect_error(ErrorKind::resource, [&] { file.commit(); });
  }
  EXPECT_EQ(content(path("x")), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, DashIsStandardOutput) {
  testing::internal::CaptureStdout();
  OutputFile file("-");
  file.stream() << "text";
  file.commit();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "text");
}

}  // namespace
}  // namespace subquad
