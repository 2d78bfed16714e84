#include "expect_error.hpp"

#include <subquad/core/execution.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <string>
#include <vector>

namespace subquad {
namespace {

class CountingSink : public ProgressSink {
 public:
  void begin(std::string_view name, std::uint64_t total) override {
    name_ = name;
    total_ = total;
    ++begun_;
  }
  void advance(std::uint64_t units) override { done_ += units; }
  void end() override { ++ended_; }

  std::string name_;
  std::uint64_t total_ = 0;
  std::atomic<std::uint64_t> done_{0};
  int begun_ = 0;
  int ended_ = 0;
};

Execution with_threads(int threads) {
  Execution execution;
  execution.threads = threads;
  return execution;
}

RC_GTEST_PROP(ParallelFor, CoversEveryIndexOnceInBlocks, ()) {
  const std::uint64_t count = *rc::gen::inRange<std::uint64_t>(0, 200);
  const std::uint64_t block = *rc::gen::element<std::uint64_t>(1, 2, 7, 64, 199, 200, 1000);
  std::vector<std::atomic<int>> visits(count);
  std::atomic<bool> bad_range{false};
  parallel_for(with_threads(*rc::gen::inRange(1, 6)), count, block, [&](std::uint64_t begin, std::uint64_t end) {
    if (begin % block != 0 || begin >= end || end - begin > block || end > count) bad_range = true;
    for (std::uint64_t i = begin; i < end; ++i) ++visits[i];
  });
  RC_ASSERT(!bad_range);
  for (const std::atomic<int>& visit : visits) RC_ASSERT(visit == 1);
}

TEST(ParallelFor, ReallyUsesSeveralThreads) {
  // Two ranges that wait for each other finish only if two threads run them.
  std::atomic<int> arrived{0};
  parallel_for(with_threads(2), 2, 1, [&](std::uint64_t, std::uint64_t) {
    ++arrived;
    while (arrived < 2) {
    }
  });
  EXPECT_EQ(arrived, 2);
}

TEST(ParallelFor, RethrowsTheFirstExceptionAndStops) {
  for (const int threads : {1, 4}) {
    std::atomic<std::uint64_t> ran{0};
    try {
      parallel_for(with_threads(threads), 1'000'000, 1, [&](std::uint64_t begin, std::uint64_t) {
        ++ran;
        if (begin == 3) throw std::domain_error("range 3");
      });
      FAIL() << "no exception";
    } catch (const std::domain_error& error) {
      EXPECT_STREQ(error.what(), "range 3");
    }
    EXPECT_GE(ran, 1u);
    EXPECT_LT(ran, 1'000'000u);
  }
}

TEST(ParallelFor, StopsOnRequest) {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> ran{0};
  Execution execution = with_threads(1);
  execution.stop = &stop;
  test::expect_error(ErrorKind::interrupted, [&] {
    parallel_for(execution, 1000, 1, [&](std::uint64_t, std::uint64_t) {
      if (++ran == 5) stop = true;
    });
  });
  EXPECT_EQ(ran, 5u);  // looked at before each range
  test::expect_error(ErrorKind::interrupted, [&] { execution.check_stop(); });
  stop = false;
  EXPECT_NO_THROW(execution.check_stop());
  EXPECT_NO_THROW(Execution{}.check_stop());
}

TEST(ParallelFor, ProgressAddsUpToTheTotal) {
  for (const int threads : {1, 3}) {
    CountingSink sink;
    Execution execution = with_threads(threads);
    execution.progress = &sink;
    {
      const ProgressScope scope(execution, "rows", 101);
      parallel_for(execution, 100, 7, [](std::uint64_t, std::uint64_t) {});
      scope.advance(1);
      EXPECT_EQ(sink.ended_, 0);
    }
    EXPECT_EQ(sink.name_, "rows");
    EXPECT_EQ(sink.total_, 101u);
    EXPECT_EQ(sink.done_, 101u);
    EXPECT_EQ(sink.begun_, 1);
    EXPECT_EQ(sink.ended_, 1);
  }
}

TEST(ParallelFor, ProgressEndsAfterAnException) {
  CountingSink sink;
  Execution execution = with_threads(2);
  execution.progress = &sink;
  EXPECT_THROW(
      {
        const ProgressScope scope(execution, "rows", 10);
        parallel_for(execution, 10, 1, [](std::uint64_t, std::uint64_t) { throw std::domain_error("x"); });
      },
      std::domain_error);
  EXPECT_EQ(sink.ended_, 1);
  EXPECT_EQ(sink.done_, 0u);  // a range that failed is not done
}

TEST(ParallelFor, Edges) {
  bool called = false;
  parallel_for({}, 0, 1, [&](std::uint64_t, std::uint64_t) { called = true; });
  EXPECT_FALSE(called);
  test::expect_error(ErrorKind::parameter, [] { parallel_for({}, 1, 0, [](std::uint64_t, std::uint64_t) {}); });
  std::vector<std::uint64_t> ends;
  parallel_for(with_threads(1), ~std::uint64_t{0}, std::uint64_t{1} << 63,
               [&](std::uint64_t, std::uint64_t end) { ends.push_back(end); });
  EXPECT_EQ(ends, (std::vector<std::uint64_t>{std::uint64_t{1} << 63, ~std::uint64_t{0}}));
}

TEST(Execution, ThreadCountIsAtLeastOneAndBounded) {
  EXPECT_GE(Execution{}.thread_count(), 1);
  EXPECT_EQ(with_threads(3).thread_count(), 3);
  EXPECT_GE(with_threads(-5).thread_count(), 1);
  EXPECT_EQ(with_threads(2'000'000'000).thread_count(), Execution::kMostThreads);
}

}  // namespace
}  // namespace subquad
