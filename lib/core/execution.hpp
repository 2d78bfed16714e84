// Execution: how a long loop runs (threads), how it is stopped, and where it reports progress.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

namespace subquad {

/// Receives progress of long loops. Implementations are called from several threads and must be thread-safe.
class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  /// A stage of `total` equal units of work starts; `name` says what a person would call it.
  virtual void begin(std::string_view name, std::uint64_t total) = 0;
  /// `units` more units of the current stage are done.
  virtual void advance(std::uint64_t units) = 0;
  /// The current stage ended (also when it ended by an exception).
  virtual void end() = 0;
};

/// How a heavy function runs. Cheap to copy; results never depend on it.
struct Execution {
  int threads = 0;                          ///< number of threads, >= 1; 0 means all processors of the machine
  const std::atomic<bool>* stop = nullptr;  ///< when it becomes true the function throws Error(interrupted) soon
  ProgressSink* progress = nullptr;         ///< may be null

  /// More threads than this are never started: the OpenMP run time aborts the process when the system refuses one.
  static constexpr int kMostThreads = 1024;

  /// Returns the number of threads to use: `threads` (at most kMostThreads), or the machine's if it is 0 or negative.
  int thread_count() const;
  /// Throws Error(interrupted) if a stop was requested.
  void check_stop() const;
};

/// Announces a stage to `execution.progress` (if any) for as long as it lives.
class ProgressScope {
 public:
  ProgressScope(const Execution& execution, std::string_view name, std::uint64_t total);
  ~ProgressScope();
  ProgressScope(const ProgressScope&) = delete;
  ProgressScope& operator=(const ProgressScope&) = delete;
  void advance(std::uint64_t units) const;

 private:
  ProgressSink* sink_;
};

/// Calls `body(begin, end)` on consecutive ranges of at most `block` indices that cover [0, count), on
/// `execution.thread_count()` OpenMP threads. `block >= 1`.
///
/// Which thread runs which range is unspecified, so `body` must write only to places owned by its range. The first
/// exception thrown by `body` is rethrown after all threads have stopped taking new ranges. A stop request is looked at
/// before each range. Progress advances by `end - begin` after each range (announce the total with ProgressScope).
void parallel_for(const Execution& execution, std::uint64_t count, std::uint64_t block,
                  const std::function<void(std::uint64_t begin, std::uint64_t end)>& body);

}  // namespace subquad
