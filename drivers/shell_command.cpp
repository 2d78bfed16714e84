#include "shell_command.hpp"

#include <subquad/core/error.hpp>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace subquad::drivers {

namespace {

[[noreturn]] void become_shell(const char* command) {
  // Only async-signal-safe calls here: other threads of the parent may hold locks.
  ::setpgid(0, 0);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  const int null = ::open("/dev/null", O_RDONLY);
  if (null >= 0) ::dup2(null, STDIN_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);  // our stdout carries the verdict only
  ::execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
  ::_exit(127);
}

void end_group(pid_t group) {
  ::kill(-group, SIGTERM);
  for (int tenth = 0; tenth < 20; ++tenth) {
    if (::waitpid(group, nullptr, WNOHANG) == group) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  ::kill(-group, SIGKILL);
  ::waitpid(group, nullptr, 0);
}

}  // namespace

int run_shell_command(const std::string& command, const Execution& execution) {
  execution.check_stop();
  const pid_t child = ::fork();
  require(child >= 0, ErrorKind::resource, "no process can be started ({})", std::strerror(errno));
  if (child == 0) become_shell(command.c_str());
  ::setpgid(child, child);  // also here, so that the group exists before the first look at the stop flag
  auto pause = std::chrono::milliseconds(1);
  while (true) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    require(ended == 0 || errno == EINTR, ErrorKind::resource, "waiting for '{}' failed ({})", command,
            std::strerror(errno));
    if (execution.stop != nullptr && execution.stop->load()) {
      end_group(child);
      execution.check_stop();
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(50));
  }
}

std::string shell_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

PrivateFolder::PrivateFolder() {
  const char* parent = ::getenv("TMPDIR");
  std::string name = std::string(parent != nullptr && *parent != '\0' ? parent : "/tmp") + "/subquad-XXXXXX";
  require(::mkdtemp(name.data()) != nullptr, ErrorKind::resource, "{}: no temporary folder can be made ({})", name,
          std::strerror(errno));
  path_ = name;
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace subquad::drivers
