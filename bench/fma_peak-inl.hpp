// The measured loop of fma_peak, once per SIMD target: the guard toggles on purpose.
#if defined(SUBQUAD_BENCH_FMA_PEAK_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef SUBQUAD_BENCH_FMA_PEAK_INL_HPP_
#undef SUBQUAD_BENCH_FMA_PEAK_INL_HPP_
#else
#define SUBQUAD_BENCH_FMA_PEAK_INL_HPP_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace subquad::bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Runs `rounds` rounds of 12 independent FMA chains (latency 4 times 2 units needs 8, some machines 10); returns the
/// number of operations. The result goes to `sink`, so that nothing is optimised away.
template <class T>
HWY_NOINLINE std::uint64_t fma_chains(std::uint64_t rounds, T factor, T* sink) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const V x = hn::Set(d, factor), y = hn::Set(d, T{1} - factor);
  // Different starts: equal chains would be computed once.
  const auto start = [d](int chain) HWY_ATTR { return hn::Set(d, static_cast<T>(chain)); };
  V a = start(1), b = start(2), c = start(3), e = start(4), f = start(5), g = start(6);
  V h = start(7), i = start(8), j = start(9), k = start(10), l = start(11), m = start(12);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    a = hn::MulAdd(a, x, y);
    b = hn::MulAdd(b, x, y);
    c = hn::MulAdd(c, x, y);
    e = hn::MulAdd(e, x, y);
    f = hn::MulAdd(f, x, y);
    g = hn::MulAdd(g, x, y);
    h = hn::MulAdd(h, x, y);
    i = hn::MulAdd(i, x, y);
    j = hn::MulAdd(j, x, y);
    k = hn::MulAdd(k, x, y);
    l = hn::MulAdd(l, x, y);
    m = hn::MulAdd(m, x, y);
  }
  const V sum = hn::Add(hn::Add(hn::Add(hn::Add(a, b), hn::Add(c, e)), hn::Add(hn::Add(f, g), hn::Add(h, i))),
                        hn::Add(hn::Add(j, k), hn::Add(l, m)));
  *sink = hn::GetLane(hn::SumOfLanes(d, sum));
  return rounds * 12 * 2 * hn::Lanes(d);
}

inline std::uint64_t fma_chains_float(std::uint64_t rounds, float factor, float* sink) {
  return fma_chains<float>(rounds, factor, sink);
}
inline std::uint64_t fma_chains_double(std::uint64_t rounds, double factor, double* sink) {
  return fma_chains<double>(rounds, factor, sink);
}

}  // namespace subquad::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SUBQUAD_BENCH_FMA_PEAK_INL_HPP_
