// The exact backward kernel against the machine's FMA limit, the forward kernel and a peer: see docs/performance.md.
//
// Every repetition measures the limit, the backward kernel from saved forward results, the forward kernel and the peer
// one after the other; each counter is the median over repetitions of a ratio taken within one repetition. Counted are
// the five products, 2 n n_k (3 d + 2 d_v) operations. The peer's gradients are compared with ours before the clock.
#include "fma_peak.hpp"
#include "peers/eigen_blocked_backward.hpp"

#include <subquad/attention/streaming_softmax.hpp>
#include <subquad/attention/streaming_softmax_backward.hpp>
#include <subquad/core/random.hpp>
#include <subquad/core/stopwatch.hpp>
#include <subquad/problems/attention.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace {

using subquad::Execution;
using subquad::Random;
using subquad::Stopwatch;
using subquad::problems::AttentionMask;
using subquad::problems::RowMajorMatrix;

struct Row {
  std::ptrdiff_t n, d;
  bool causal;
  int threads;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

double seconds_of(const std::function<void()>& work) {
  const Stopwatch watch;
  work();
  return watch.seconds();
}

template <class Scalar>
void exact_backward(benchmark::State& state, const Row& row) {
  using Matrix = RowMajorMatrix<Scalar>;
  Random random(1);
  const auto gaussian = [&] {
    Matrix matrix(row.n, row.d);
    for (Eigen::Index e = 0; e < matrix.size(); ++e) matrix.data()[e] = static_cast<Scalar>(random.normal());
    return matrix;
  };
  const Matrix q = gaussian(), k = gaussian(), v = gaussian(), g = gaussian();
  const AttentionMask mask{row.causal, 0};
  const auto scale = static_cast<Scalar>(1 / std::sqrt(static_cast<double>(row.d)));
  Matrix output = Matrix::Zero(row.n, row.d), peer_q = output, peer_k = output, peer_v = output;
  std::vector<double> log_sum_exp(static_cast<std::size_t>(row.n));
  subquad::attention::AttentionGradients<Matrix> ours;
  Execution execution;
  const auto run_forward = [&](int threads) {
    execution.threads = threads;
    subquad::attention::streaming_softmax_into(q, k, v, scale, execution, output, mask, log_sum_exp);
  };
  const auto run_ours = [&](int threads) {
    execution.threads = threads;
    ours = subquad::attention::streaming_softmax_backward(q, k, v, g, output, log_sum_exp, scale, mask, execution);
  };
  const auto run_peer = [&] {
    subquad::bench::eigen_blocked_backward<Scalar>(q.data(), k.data(), v.data(), g.data(), output.data(),
                                                   log_sum_exp.data(), row.n, row.n, row.d, row.d, scale, peer_q.data(),
                                                   peer_k.data(), peer_v.data());
  };
  const bool with_peer = !row.causal && row.threads == 1;
  run_forward(row.threads);
  run_ours(row.threads);
  if (with_peer) {
    run_peer();
    const double difference =
        static_cast<double>(std::max({(ours.q - peer_q).cwiseAbs().maxCoeff(), (ours.k - peer_k).cwiseAbs().maxCoeff(),
                                      (ours.v - peer_v).cwiseAbs().maxCoeff()}));
    if (!(difference <= 1e-4)) state.SkipWithError("the peer computes something else");
  }

  const auto n = static_cast<double>(row.n);
  const double pairs = row.causal ? n * (n + 1) / 2 : n * n;
  const double operations = 10 * pairs * static_cast<double>(row.d);
  std::vector<double> flops, peak, of_peak, over_forward, over_peer, peer_of_peak, speedup;
  for (auto _ : state) {
    const double limit = subquad::bench::fma_peak_flops<Scalar>(row.threads);
    const double own = seconds_of([&] { run_ours(row.threads); });
    const double forward = seconds_of([&] { run_forward(row.threads); });
    state.SetIterationTime(own);
    flops.push_back(operations / own);
    peak.push_back(limit);
    of_peak.push_back(operations / own / limit);
    over_forward.push_back(own / forward);
    if (row.threads > 1) speedup.push_back(seconds_of([&] { run_ours(1); }) / own);
    if (with_peer) {
      const double peer = seconds_of(run_peer);
      over_peer.push_back(peer / own);
      peer_of_peak.push_back(operations / peer / limit);
    }
  }
  state.counters["GFLOP/s"] = median(flops) / 1e9;
  state.counters["peak_GFLOP/s"] = median(peak) / 1e9;
  state.counters["of_peak"] = median(of_peak);
  state.counters["backward/forward"] = median(over_forward);
  state.counters["peak_MiB"] = static_cast<double>(subquad::peak_memory_bytes()) / (1 << 20);
  if (!over_peer.empty()) state.counters["over_eigen"] = median(over_peer);
  if (!over_peer.empty()) state.counters["eigen_of_peak"] = median(peer_of_peak);
  if (!speedup.empty()) state.counters["over_1_thread"] = median(speedup);
}

template <class Scalar>
void add_rows(const char* arithmetic) {
  for (const Row& row :
       {Row{4096, 16, false, 1}, Row{4096, 32, false, 1}, Row{4096, 64, false, 1}, Row{4096, 128, false, 1},
        Row{4096, 64, true, 1}, Row{4096, 64, false, 2}, Row{4096, 64, true, 2}, Row{16384, 64, false, 2}}) {
    const std::string name = "exact_backward/" + std::string(arithmetic) + "/n:" + std::to_string(row.n) +
                             "/d:" + std::to_string(row.d) + (row.causal ? "/causal" : "") +
                             "/threads:" + std::to_string(row.threads);
    benchmark::RegisterBenchmark(name.c_str(), exact_backward<Scalar>, row)
        ->UseManualTime()
        ->Iterations(row.n > 10000 ? 3 : 9)
        ->Unit(benchmark::kMillisecond);
  }
}

const bool kRegistered = [] {
  add_rows<float>("float32");
  add_rows<double>("float64");
  return true;
}();

}  // namespace
