#include <subquad/core/error.hpp>
#include <subquad/core/execution.hpp>

#include <omp.h>

#include <algorithm>
#include <exception>
#include <mutex>

namespace subquad {

int Execution::thread_count() const {
  return std::clamp(threads > 0 ? threads : omp_get_num_procs(), 1, kMostThreads);
}

void Execution::check_stop() const {
  if (stop != nullptr && stop->load(std::memory_order_relaxed)) fail(ErrorKind::interrupted, "interrupted");
}

ProgressScope::ProgressScope(const Execution& execution, std::string_view name, std::uint64_t total)
    : sink_(execution.progress) {
  if (sink_ != nullptr) sink_->begin(name, total);
}

ProgressScope::~ProgressScope() {
  if (sink_ != nullptr) sink_->end();
}

void ProgressScope::advance(std::uint64_t units) const {
  if (sink_ != nullptr) sink_->advance(units);
}

void parallel_for(const Execution& execution, std::uint64_t count, std::uint64_t block,
                  const std::function<void(std::uint64_t begin, std::uint64_t end)>& body) {
  require(block >= 1, ErrorKind::parameter, "parallel_for: block is 0, expected at least 1");
  if (count == 0) return;
  const std::uint64_t ranges = (count - 1) / block + 1;
  const int threads =
      static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(execution.thread_count()), ranges));
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr first_error;
  std::mutex error_mutex;
  // Ranges are handed out by a counter rather than a static schedule: bodies differ in cost (early exit, tails).
#pragma omp parallel num_threads(threads) default(shared) if (threads > 1)
  {
    while (!failed.load(std::memory_order_relaxed)) {
      const std::uint64_t range = next.fetch_add(1, std::memory_order_relaxed);
      if (range >= ranges) break;
      const std::uint64_t begin = range * block;
      const std::uint64_t end = block < count - begin ? begin + block : count;  // begin + block may overflow
      try {
        execution.check_stop();
        body(begin, end);
        if (execution.progress != nullptr) execution.progress->advance(end - begin);
      } catch (...) {
        const std::lock_guard lock(error_mutex);
        if (!first_error) first_error = std::current_exception();
        failed.store(true, std::memory_order_relaxed);
      }
    }
  }
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace subquad
