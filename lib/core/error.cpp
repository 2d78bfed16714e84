#include <subquad/core/error.hpp>

namespace subquad {

std::string_view to_string(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::input:
      return "input";
    case ErrorKind::parameter:
      return "parameter";
    case ErrorKind::resource:
      return "resource";
    case ErrorKind::unsupported:
      return "unsupported";
    case ErrorKind::refuted:
      return "refuted";
    case ErrorKind::undecided:
      return "undecided";
    case ErrorKind::interrupted:
      return "interrupted";
    case ErrorKind::internal:
      return "internal";
  }
  return "unknown";
}

}  // namespace subquad
