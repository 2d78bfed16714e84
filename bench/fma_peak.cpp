#include "fma_peak.hpp"

#include <subquad/core/execution.hpp>
#include <subquad/core/stopwatch.hpp>

#include <atomic>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fma_peak.cpp"
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include "fma_peak-inl.hpp"

#if HWY_ONCE
namespace subquad::bench {
namespace {

HWY_EXPORT(fma_chains_float);
HWY_EXPORT(fma_chains_double);

template <class Scalar>
std::uint64_t chains(std::uint64_t rounds, Scalar factor, Scalar* sink) {
  if constexpr (std::is_same_v<Scalar, float>) {
    return HWY_DYNAMIC_DISPATCH(fma_chains_float)(rounds, factor, sink);
  } else {
    return HWY_DYNAMIC_DISPATCH(fma_chains_double)(rounds, factor, sink);
  }
}

}  // namespace

template <class Scalar>
double fma_peak_flops(int threads) {
  constexpr std::uint64_t kRounds = 8'000'000;  // some 30 ms at 3 GHz
  Execution execution;
  execution.threads = threads;
  std::atomic<std::uint64_t> operations{0};
  const Stopwatch watch;
  parallel_for(execution, static_cast<std::uint64_t>(threads), 1, [&](std::uint64_t, std::uint64_t) {
    volatile Scalar factor = static_cast<Scalar>(0.999);
    Scalar sink = 0;
    operations += chains<Scalar>(kRounds, factor, &sink);
    volatile Scalar kept = sink;
    (void)kept;
  });
  return static_cast<double>(operations) / watch.seconds();
}

template double fma_peak_flops<float>(int);
template double fma_peak_flops<double>(int);

}  // namespace subquad::bench
#endif  // HWY_ONCE
