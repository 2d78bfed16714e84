// Softmax samples a second from a row whose k best keys are given: Algorithm 1 with the maximum drawn at once, and
// rejection.
//
// Inputs: n = 10^5 logits, independent normal with the standard deviation in the name; the sqrt(n) largest are listed.
// The other logits are looked up in an array (800 kB: it stays in the cache).
#include <subquad/attention/lazy_gumbel.hpp>
#include <subquad/core/random.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace {

using subquad::Random;
using subquad::attention::GumbelHead;
using subquad::attention::LazyGumbelSampler;

constexpr std::uint32_t kKeys = 100'000;
constexpr std::uint32_t kListed = 316;

void draws(benchmark::State& state, GumbelHead head, double deviation) {
  Random random(1);
  std::vector<double> logits(kKeys);
  for (double& z : logits) z = deviation * random.normal();
  std::vector<std::uint32_t> listed(kKeys);
  std::iota(listed.begin(), listed.end(), 0u);
  std::nth_element(listed.begin(), listed.begin() + kListed, listed.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return logits[a] > logits[b]; });
  listed.resize(kListed);
  std::vector<double> best;
  for (const std::uint32_t key : listed) best.push_back(logits[key]);
  const LazyGumbelSampler sampler(
      listed, best, kKeys, [&](std::uint32_t key) { return logits[key]; }, 0.0, head);
  std::uint64_t looked_at = 0;
  for (auto _ : state) {
    const auto sample = sampler.draw(random);
    looked_at += sample.tail_draws;
    benchmark::DoNotOptimize(sample.key);
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["logits"] = benchmark::Counter(static_cast<double>(looked_at), benchmark::Counter::kAvgIterations);
}

BENCHMARK_CAPTURE(draws, maximum_flat, GumbelHead::maximum, 0.0);
BENCHMARK_CAPTURE(draws, rejection_flat, GumbelHead::rejection, 0.0);
BENCHMARK_CAPTURE(draws, maximum_1, GumbelHead::maximum, 1.0);
BENCHMARK_CAPTURE(draws, rejection_1, GumbelHead::rejection, 1.0);
BENCHMARK_CAPTURE(draws, maximum_4, GumbelHead::maximum, 4.0);
BENCHMARK_CAPTURE(draws, rejection_4, GumbelHead::rejection, 4.0);
BENCHMARK_CAPTURE(draws, maximum_8, GumbelHead::maximum, 8.0);
BENCHMARK_CAPTURE(draws, rejection_8, GumbelHead::rejection, 8.0);

}  // namespace
