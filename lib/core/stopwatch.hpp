// Time and memory of this process, for reports.
#pragma once

#include <chrono>
#include <cstdint>

namespace subquad {

/// Measures wall-clock time from its construction.
class Stopwatch {
 public:
  Stopwatch() : start_(std::chrono::steady_clock::now()) {}
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_;
};

/// Returns the largest resident set of this process so far, in bytes.
std::uint64_t peak_memory_bytes();

/// Returns the memory that the machine can still give (MemAvailable), in bytes; 0 if unknown.
std::uint64_t available_memory_bytes();

}  // namespace subquad
