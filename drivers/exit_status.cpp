#include "exit_status.hpp"

namespace subquad::drivers {

ExitStatus exit_status(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::input:
    case ErrorKind::parameter:
    case ErrorKind::unsupported:
      return kBadUsage;
    case ErrorKind::resource:
      return kResourceGuard;
    case ErrorKind::refuted:
      return kRefuted;
    case ErrorKind::undecided:
      return kUndecided;
    case ErrorKind::interrupted:
      return kInterrupted;
    case ErrorKind::internal:
      return kInternalError;
  }
  return kInternalError;
}

ExitStatus exit_status(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::certified:
      return kDone;
    case Verdict::refuted:
      return kRefuted;
    case Verdict::undecided:
      return kUndecided;
  }
  return kUndecided;
}

}  // namespace subquad::drivers
