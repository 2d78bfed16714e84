// expect_error: the call throws subquad::Error of this kind, and its message holds this text on one line.
#pragma once

#include <subquad/core/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace subquad::test {

/// Fails the test, at the caller's line, unless `call()` throws an Error of this kind with `part` in its message.
template <class Call>
void expect_error(ErrorKind kind, std::string_view part, Call&& call, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  const ::testing::ScopedTrace caller(file, line, "expect_error");
  try {
    call();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.kind(), kind) << message;
    EXPECT_NE(message.find(part), std::string::npos) << "message: " << message << "\nexpected in it: " << part;
    EXPECT_EQ(message.find('\n'), std::string::npos) << "a message is one line: " << message;
    return;
  }
  ADD_FAILURE() << "nothing was thrown, expected an error of kind " << to_string(kind) << " with: " << part;
}

/// The same with any message.
template <class Call>
void expect_error(ErrorKind kind, Call&& call, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  expect_error(kind, std::string_view(), call, file, line);
}

}  // namespace subquad::test
