// Terminal progress: one line on stderr with the share done, the rate and the time left.
#pragma once

#include <subquad/core/execution.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace subquad::drivers {

/// Draws the current stage on stderr, at most ten times a second, and wipes the line when the stage ends.
/// Stages shorter than 0.3 s are never drawn. Thread-safe.
class TerminalProgress : public ProgressSink {
 public:
  void begin(std::string_view name, std::uint64_t total) override;
  void advance(std::uint64_t units) override;
  void end() override;

  /// True iff stderr is a terminal.
  static bool wanted();

 private:
  using Clock = std::chrono::steady_clock;
  void draw(std::uint64_t done, Clock::time_point now);

  std::mutex mutex_;  // guards everything but the counters
  std::string name_;
  std::uint64_t total_ = 0;
  Clock::time_point start_;
  bool drawn_ = false;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::int64_t> next_draw_ms_{0};  // milliseconds since start_
};

/// Returns a duration as a person writes it: "0.31 s", "42 s", "3 min 10 s", "2 h 5 min", "4 days", "3.1e5 years".
std::string describe_seconds(double seconds);

/// Returns a rate as a person writes it: "980", "12.3k", "4.56M", "1.2G".
std::string describe_rate(double per_second);

}  // namespace subquad::drivers
