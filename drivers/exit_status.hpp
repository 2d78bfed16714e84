// Exit statuses of the command, as docs/cli.md promises them.
#pragma once

#include <subquad/core/error.hpp>
#include <subquad/core/verdict.hpp>

namespace subquad::drivers {

/// What the process returns. Scripts rely on these numbers: they only ever grow.
enum ExitStatus : int {
  kDone = 0,            ///< the work is done; a verification certified
  kRefuted = 1,         ///< a claim, a verification or a kernel is proved wrong
  kBadUsage = 2,        ///< wrong usage, malformed input, or something this build cannot do
  kResourceGuard = 3,   ///< would need more memory or time than allowed; --force goes on
  kUndecided = 4,       ///< the allowed precision or effort does not decide
  kSatisfiable = 10,    ///< a CNF was decided: satisfiable, with a verified model
  kUnsatisfiable = 20,  ///< a CNF was decided: unsatisfiable
  kInternalError = 70,  ///< an invariant of subquad itself is broken (a bug; please report it)
  kInterrupted = 130    ///< SIGINT or SIGTERM; no half-written output is left
};

/// Returns the status that reports an error of this kind.
ExitStatus exit_status(ErrorKind kind) noexcept;

/// Returns kDone, kRefuted or kUndecided.
ExitStatus exit_status(Verdict verdict) noexcept;

}  // namespace subquad::drivers
