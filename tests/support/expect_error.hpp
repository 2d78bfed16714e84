// expect_error: the call throws subquad::Error of this kind, and its message holds this text on one line.
#pragma once

#include <subquad/core/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace subquad::testing {

template <class Call>
void expect_error(ErrorKind kind, std::string_view part, Call&& call) {
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

}  // namespace subquad::testing
