#include <subquad/core/error.hpp>

#include <gtest/gtest.h>

#include <set>

namespace subquad {
namespace {

TEST(Error, CarriesKindAndNumbers) {
  try {
    fail(ErrorKind::resource, "{} bytes of {}", 7, 5);
    FAIL() << "fail returned";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::resource);
    EXPECT_STREQ(error.what(), "7 bytes of 5");
  }
}

TEST(Error, RequireThrowsOnlyIfBroken) {
  EXPECT_NO_THROW(require(true, ErrorKind::parameter, "never"));
  EXPECT_THROW(require(false, ErrorKind::parameter, "x is {}", 0), Error);
}

TEST(Error, KindsHaveDifferentNames) {
  std::set<std::string_view> names;
  for (const ErrorKind kind : {ErrorKind::input, ErrorKind::parameter, ErrorKind::resource, ErrorKind::unsupported,
                               ErrorKind::refuted, ErrorKind::undecided, ErrorKind::interrupted, ErrorKind::internal})
    names.insert(to_string(kind));
  EXPECT_EQ(names.size(), 8u);
  EXPECT_FALSE(names.contains("unknown"));
}

}  // namespace
}  // namespace subquad
