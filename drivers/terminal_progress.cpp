#include "terminal_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace subquad::drivers {

namespace {
constexpr std::int64_t kFirstDrawMs = 300;
constexpr std::int64_t kDrawEveryMs = 100;
}  // namespace

bool TerminalProgress::wanted() {
  return ::isatty(STDERR_FILENO) == 1;
}

void TerminalProgress::begin(std::string_view name, std::uint64_t total) {
  const std::lock_guard lock(mutex_);
  name_ = name;
  total_ = total;
  start_ = Clock::now();
  drawn_ = false;
  done_.store(0);
  next_draw_ms_.store(kFirstDrawMs);
}

void TerminalProgress::advance(std::uint64_t units) {
  const std::uint64_t done = done_.fetch_add(units) + units;
  const auto now = Clock::now();
  const std::int64_t elapsed_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now - start_).count();
  std::int64_t due = next_draw_ms_.load();
  // Only the thread that moves the due time on draws, so that the others never wait for the terminal.
  if (elapsed_ms < due || !next_draw_ms_.compare_exchange_strong(due, elapsed_ms + kDrawEveryMs)) return;
  draw(done, now);
}

void TerminalProgress::end() {
  const std::lock_guard lock(mutex_);
  if (drawn_) {
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
  }
  drawn_ = false;
}

void TerminalProgress::draw(std::uint64_t done, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double rate = elapsed > 0 ? static_cast<double>(done) / elapsed : 0;
  std::string line = fmt::format("\r\033[K{}: ", name_);
  if (total_ > 0) {
    const double left = rate > 0 ? static_cast<double>(total_ - std::min(done, total_)) / rate : 0;
    line += fmt::format("{:.0f}% of {}, {}/s, {} left", 100.0 * static_cast<double>(done) / static_cast<double>(total_),
                        total_, describe_rate(rate), describe_seconds(left));
  } else {
    line += fmt::format("{}, {}/s", done, describe_rate(rate));
  }
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

std::string describe_seconds(double seconds) {
  if (!(seconds >= 0) || std::isinf(seconds)) return "unknown";
  constexpr double kMinute = 60, kHour = 3600, kDay = 86400, kYear = 365.25 * kDay;
  if (seconds < 0.001) return fmt::format("{:.0f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  if (seconds < kMinute) return fmt::format("{:.0f} s", seconds);
  if (seconds < kHour)
    return fmt::format("{:.0f} min {:.0f} s", std::floor(seconds / kMinute), std::fmod(seconds, kMinute));
  if (seconds < kDay)
    return fmt::format("{:.0f} h {:.0f} min", std::floor(seconds / kHour), std::fmod(seconds, kHour) / kMinute);
  if (seconds < kYear) return fmt::format("{:.1f} days", seconds / kDay);
  return fmt::format("{:.3g} years", seconds / kYear);
}

std::string describe_rate(double per_second) {
  if (!(per_second >= 0)) return "unknown";
  if (per_second < 1e3) return fmt::format("{:.3g}", per_second);
  if (per_second < 1e6) return fmt::format("{:.3g}k", per_second / 1e3);
  if (per_second < 1e9) return fmt::format("{:.3g}M", per_second / 1e6);
  return fmt::format("{:.3g}G", per_second / 1e9);
}

}  // namespace subquad::drivers
