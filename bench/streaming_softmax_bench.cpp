// Exact attention against the machine's FMA limit and a peer, in one run: see docs/performance.md.
//
// Every repetition measures the limit, our kernel (on one thread too, where the row has two) and the peer one after the
// other, so that a change of clock or a noisy neighbour hits all of them; each counter is the median over repetitions
// of a ratio taken within one repetition. Inputs are Gaussian, outputs and inputs are touched before (warm heap), and
// what the peer computes is compared with ours: a peer that is wrong is no peer.
#include "fma_peak.hpp"
#include "peers/eigen_blocked_attention.hpp"

#include <subquad/attention/streaming_softmax.hpp>
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
using subquad::problems::RowMajorMatrix;

struct Row {
  std::ptrdiff_t n, d, d_v;
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
void exact_attention(benchmark::State& state, const Row& row) {
  using Matrix = RowMajorMatrix<Scalar>;
  Random random(1);
  const auto gaussian = [&](std::ptrdiff_t rows, std::ptrdiff_t cols) {
    Matrix matrix(rows, cols);
    for (Eigen::Index e = 0; e < matrix.size(); ++e) matrix.data()[e] = static_cast<Scalar>(random.normal());
    return matrix;
  };
  const Matrix q = gaussian(row.n, row.d), k = gaussian(row.n, row.d), v = gaussian(row.n, row.d_v);
  Matrix ours = Matrix::Zero(row.n, row.d_v), peers = ours;
  const auto scale = static_cast<Scalar>(1 / std::sqrt(static_cast<double>(row.d)));
  const auto run_ours = [&](int threads) {
    Execution execution;
    execution.threads = threads;
    subquad::attention::streaming_softmax_into(q, k, v, scale, execution, ours);
  };
  const auto run_peer = [&] {
    subquad::bench::eigen_blocked_attention<Scalar>(q.data(), k.data(), v.data(), row.n, row.n, row.d, row.d_v, scale,
                                                    row.threads, peers.data());
  };
  run_ours(row.threads);
  run_peer();
  const double difference = static_cast<double>((ours - peers).cwiseAbs().maxCoeff());
  if (!(difference <= 1e-4)) state.SkipWithError("the peer computes something else");

  const double operations =
      2 * static_cast<double>(row.n) * static_cast<double>(row.n) * static_cast<double>(row.d + row.d_v);
  std::vector<double> flops, peak, of_peak, peer_of_peak, over_peer, speedup;
  for (auto _ : state) {
    const double limit = subquad::bench::fma_peak_flops<Scalar>(row.threads);
    const double own = seconds_of([&] { run_ours(row.threads); });
    const double peer = seconds_of(run_peer);
    state.SetIterationTime(own);
    flops.push_back(operations / own);
    peak.push_back(limit);
    of_peak.push_back(operations / own / limit);
    peer_of_peak.push_back(operations / peer / limit);
    over_peer.push_back(peer / own);
    if (row.threads > 1) speedup.push_back(seconds_of([&] { run_ours(1); }) / own);
  }
  state.counters["GFLOP/s"] = median(flops) / 1e9;
  state.counters["peak_GFLOP/s"] = median(peak) / 1e9;
  state.counters["of_peak"] = median(of_peak);
  state.counters["eigen_of_peak"] = median(peer_of_peak);
  state.counters["over_eigen"] = median(over_peer);
  if (!speedup.empty()) state.counters["over_1_thread"] = median(speedup);
}

template <class Scalar>
void add_rows(const char* arithmetic) {
  for (const int threads : {1, 2}) {
    for (const Row& row : {Row{4096, 16, 16, threads}, Row{4096, 32, 32, threads}, Row{4096, 64, 64, threads},
                           Row{4096, 128, 128, threads}, Row{8192, 129, 1, threads}}) {
      const std::string name = "exact_attention/" + std::string(arithmetic) + "/n:" + std::to_string(row.n) +
                               "/d:" + std::to_string(row.d) + "/d_v:" + std::to_string(row.d_v) +
                               "/threads:" + std::to_string(threads);
      benchmark::RegisterBenchmark(name.c_str(), exact_attention<Scalar>, row)
          ->UseManualTime()
          ->Iterations(9)
          ->Unit(benchmark::kMillisecond);
    }
  }
}

const bool kRegistered = [] {
  add_rows<float>("float32");
  add_rows<double>("float64");
  return true;
}();

}  // namespace
