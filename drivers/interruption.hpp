// Interruption: SIGINT and SIGTERM become a flag that long loops look at, so that the process ends in an orderly way.
#pragma once

#include <atomic>

namespace subquad::drivers {

/// Installs the handlers for SIGINT and SIGTERM and ignores SIGPIPE (a closed pipe is then an ordinary write error).
/// The first signal sets the flag; a second one ends the process at once. Call it once, early in main.
void install_signal_handlers();

/// The flag. Lives as long as the process.
const std::atomic<bool>& stop_requested() noexcept;

}  // namespace subquad::drivers
