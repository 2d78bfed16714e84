#include <subquad/core/stopwatch.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace subquad {
namespace {

TEST(Stopwatch, MeasuresAtLeastTheTimeSlept) {
  const Stopwatch stopwatch;
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_GE(stopwatch.seconds(), 0.005);
}

TEST(Memory, PeakGrowsWithWhatIsTouched) {
  const std::uint64_t before = peak_memory_bytes();
  EXPECT_GT(before, 0u);
  const std::uint64_t size = before + (std::uint64_t{16} << 20);
  std::vector<char> block(size, 1);
  EXPECT_EQ(block[size / 2], 1);
  EXPECT_GE(peak_memory_bytes(), size);
}

TEST(Memory, AvailableIsPlausible) {
  const std::uint64_t available = available_memory_bytes();
  EXPECT_GT(available, std::uint64_t{1} << 20);
  EXPECT_LT(available, std::uint64_t{1} << 50);
}

}  // namespace
}  // namespace subquad
