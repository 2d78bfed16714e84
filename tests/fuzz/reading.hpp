// What every fuzz target of a text format does: read the bytes as an instance and as an answer.
#pragma once

#include <subquad/core/error.hpp>
#include <subquad/core/problem.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

namespace subquad::fuzz {

/// Stops the fuzzer with a message: the property is violated.
[[noreturn]] inline void violated(std::string_view what, std::string_view detail) {
  fmt::print(stderr, "violated: {}: {}\n", what, detail);
  std::abort();
}

/// Calls `read`. Hostile bytes may be refused as input, or because they ask for too much memory; nothing else may be
/// thrown, and the message is one line without control characters.
template <class Read>
bool accepted(const Read& read) {
  try {
    read();
    return true;
  } catch (const Error& error) {
    const std::string_view message = error.what();
    if (error.kind() != ErrorKind::input && error.kind() != ErrorKind::resource)
      violated("the kind of error is input or resource", fmt::format("{}: {}", to_string(error.kind()), message));
    for (const char c : message)
      if (static_cast<unsigned char>(c) < 0x20) violated("messages are one line without control characters", message);
    return false;
  }
}

/// Reads the bytes as an instance of P. What is accepted is written and read again, and must come out the same.
template <Problem P>
void read_as_instance(const std::string& bytes) {
  typename P::Instance instance;
  if (!accepted([&] {
        std::istringstream in(bytes);
        instance = P::read_instance(in, "fuzz");
      }))
    return;
  std::ostringstream out;
  P::write_instance(out, instance, Provenance{});
  std::istringstream again(out.str());
  typename P::Instance copy;
  if (!accepted([&] { copy = P::read_instance(again, "copy"); })) violated("what is written can be read", out.str());
  if (!(copy == instance)) violated("reading what was written gives the same instance", out.str());
  if (P::digest(copy) != P::digest(instance)) violated("equal instances have equal digests", out.str());
}

/// Reads the bytes as an answer of P.
template <Problem P>
void read_as_answer(const std::string& bytes) {
  accepted([&] {
    std::istringstream in(bytes);
    (void)P::read_answer(in, "fuzz");
  });
}

/// Both.
template <Problem P>
int read_all(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read_as_instance<P>(bytes);
  read_as_answer<P>(bytes);
  return 0;
}

}  // namespace subquad::fuzz
