// Errors: one exception type with a kind and a one-line message that holds the numbers.
//
// Notes  Core lives in the root namespace `subquad`; every other room has a namespace of its own name.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace subquad {

/// Says what went wrong, so that a caller (the command's exit status, say) can react without reading the message.
enum class ErrorKind {
  input,        ///< a file or value from outside is malformed
  parameter,    ///< an argument is outside its documented range
  resource,     ///< would need more memory, time or range than allowed
  unsupported,  ///< asked for something this build or machine cannot do; never silently replaced
  refuted,      ///< an answer from an oracle was proved wrong
  undecided,    ///< the allowed precision does not decide
  interrupted,  ///< a stop was requested while the work was running
  internal      ///< an invariant of subquad itself is broken
};

/// Returns the kind's name in lower case, for example "input".
std::string_view to_string(ErrorKind kind) noexcept;

/// The exception thrown by every function of the library. `what()` is one line without a trailing full stop.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

/// Throws Error(kind) with a formatted message.
template <class... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

/// Throws Error(kind) unless `condition` holds: for preconditions that a caller can break.
template <class... Args>
void require(bool condition, ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) fail(kind, format, std::forward<Args>(args)...);
}

}  // namespace subquad
