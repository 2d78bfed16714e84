// Shell commands: runs one, waits for it, and ends it when the user interrupts.
#pragma once

#include <subquad/core/execution.hpp>

#include <filesystem>
#include <string>

namespace subquad::drivers {

/// Runs `command` through /bin/sh with no input and its output on our stderr, and waits.
///
/// Returns   the exit status, or 128 + the signal that ended it
/// Threads   a stop request ends the command and all it started (they run in a process group of their own)
/// Errors    Error(interrupted) after a stop request; Error(resource) if no process can be made
int run_shell_command(const std::string& command, const Execution& execution);

/// Returns the text as one word for the shell.
std::string shell_quoted(const std::string& text);

/// A folder that only this user can read, removed with all it holds when the object goes.
class PrivateFolder {
 public:
  /// Made under $TMPDIR, or /tmp. Throws Error(resource) if that fails.
  PrivateFolder();
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace subquad::drivers
