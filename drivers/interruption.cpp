#include "interruption.hpp"

#include <signal.h>

namespace subquad::drivers {

namespace {

std::atomic<bool> stop_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "the handler may only touch lock-free objects");

extern "C" void request_stop(int) {
  stop_flag.store(true, std::memory_order_relaxed);
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action = {};
  sigemptyset(&action.sa_mask);
  action.sa_handler = request_stop;
  // No SA_RESTART: a read that waits for standard input must return. SA_RESETHAND: a second signal ends the process.
  action.sa_flags = SA_RESETHAND;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

const std::atomic<bool>& stop_requested() noexcept {
  return stop_flag;
}

}  // namespace subquad::drivers
