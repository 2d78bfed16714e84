// Every instruction set that Highway finds on this machine, one after another, for tests of dispatched vector code.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>
#include <string>
#include <vector>

namespace subquad::test {

/// Restricts dispatched code to one instruction set; 0 allows all of them again.
inline void choose_target(std::int64_t target) {
  hwy::SetSupportedTargetsForTest(target);
  hwy::GetChosenTarget().DeInit();  // the next dispatched call looks again
}

/// Restricts the kernels to one SIMD target for the length of a test.
class EveryTarget : public ::testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { choose_target(GetParam()); }
  void TearDown() override { choose_target(0); }
};

inline std::string target_name(const ::testing::TestParamInfo<std::int64_t>& info) {
  return hwy::TargetName(info.param);
}

/// `for (EachTarget target; target.next();) body` runs the body once per instruction set and restores the dispatch.
class EachTarget {
 public:
  EachTarget() {
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) targets_.push_back(target);
  }
  ~EachTarget() { choose_target(0); }
  EachTarget(const EachTarget&) = delete;
  EachTarget& operator=(const EachTarget&) = delete;

  /// Switches to the next instruction set; false if there is none left.
  bool next() {
    if (targets_.empty()) return false;
    choose_target(targets_.back());
    targets_.pop_back();
    return true;
  }

 private:
  std::vector<std::int64_t> targets_;
};

}  // namespace subquad::test
