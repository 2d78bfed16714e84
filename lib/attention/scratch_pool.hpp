// Scratch pool: working memory of the threads of a kernel, allocated once a thread and not once a task.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace subquad::attention {

/// Hands out working memory: as many pieces as threads run at once, allocated once each. Thread-safe.
template <class Scratch>
class ScratchPool {
 public:
  /// A piece that was given back, or a new one made from `args`, which must be the same in all calls.
  template <class... Args>
  std::unique_ptr<Scratch> take(const Args&... args) {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto scratch = std::move(free_.back());
        free_.pop_back();
        return scratch;
      }
    }
    return std::make_unique<Scratch>(args...);
  }
  void give_back(std::unique_ptr<Scratch> scratch) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(scratch));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> free_;
};

}  // namespace subquad::attention
