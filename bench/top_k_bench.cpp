// Exact top-k search against the machine's limit for matrix products and FAISS, in one run: see docs/performance.md.
//
// Every repetition measures the limit, our search (on one thread too, where the row has two) and the peer one after the
// other; each counter is the median over repetitions of a ratio taken within one repetition. Counted are the
// 2 n n_k d operations of the product, so that what selection costs is what is missing to the limit. Where the build
// has FAISS its IndexFlatIP searches the same keys, on the BLAS that the process finds; its index is built before the
// clock starts, while ours packs the keys in every call. Both scores are compared first: a peer that is wrong is no
// peer. Rows on one thread take the processor time of this process, which other processes disturb less than the clock;
// the limit is the best of three.
#include "fma_peak.hpp"

#include <subquad/ann/top_k.hpp>
#include <subquad/core/random.hpp>
#include <subquad/core/stopwatch.hpp>

#include <benchmark/benchmark.h>

#ifdef SUBQUAD_HAVE_FAISS
#include <faiss/IndexFlat.h>
#include <omp.h>
#endif

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

namespace {

using subquad::Execution;
using subquad::Random;
using subquad::Stopwatch;
using subquad::ann::exact_top_k;
using subquad::ann::Neighbors;
using subquad::ann::Similarity;
using subquad::problems::MatrixF;

constexpr std::ptrdiff_t kQueries = 4096;

struct Row {
  std::ptrdiff_t keys, d, count;
  int threads;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

double seconds_of(int threads, const std::function<void()>& work) {
  const Stopwatch watch;
  const std::clock_t start = std::clock();
  work();
  if (threads > 1) return watch.seconds();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// Operations a second, by the clock that seconds_of takes: the limit itself is measured by the other one.
double limit_of(int threads) {
  double best = 0;
  for (int trial = 0; trial < 3; ++trial) {
    double flops = 0;
    const Stopwatch watch;
    const double seconds = seconds_of(threads, [&] { flops = subquad::bench::fma_peak_flops<float>(threads); });
    best = std::max(best, flops * watch.seconds() / seconds);
  }
  return best;
}

/// The peer; does nothing in a build without FAISS.
class Faiss {
 public:
#ifdef SUBQUAD_HAVE_FAISS
  static constexpr bool kPresent = true;

  Faiss(const MatrixF& keys, std::ptrdiff_t count)
      : index_(keys.cols()), count_(count), scores_(kQueries, count), labels_(kQueries * count) {
    index_.add(keys.rows(), keys.data());
  }
  void search(const MatrixF& q, int threads) {
    omp_set_num_threads(threads);
    index_.search(q.rows(), q.data(), count_, scores_.data(), labels_.data());
  }
  const MatrixF& scores() const {
    return scores_;
  }

 private:
  faiss::IndexFlatIP index_;
  std::ptrdiff_t count_;
  MatrixF scores_;
  std::vector<faiss::Index::idx_t> labels_;
#else
  static constexpr bool kPresent = false;

  Faiss(const MatrixF&, std::ptrdiff_t) {}
  void search(const MatrixF&, int) {}
  MatrixF scores() const {
    return {};
  }
#endif
};

void top_k(benchmark::State& state, const Row& row, Similarity similarity) {
  Random random(1);
  const auto gaussian = [&](std::ptrdiff_t rows) {
    MatrixF matrix(rows, row.d);
    for (Eigen::Index e = 0; e < matrix.size(); ++e) matrix.data()[e] = static_cast<float>(random.normal());
    return matrix;
  };
  const MatrixF q = gaussian(kQueries), k = gaussian(row.keys);
  const auto search = [&](int threads) {
    Execution execution;
    execution.threads = threads;
    return exact_top_k(q, k, static_cast<std::uint64_t>(row.count), {similarity, {}}, execution);
  };
  const bool with_peer = Faiss::kPresent && similarity == Similarity::inner_product;
  Faiss peer(k, row.count);
  const Neighbors found = search(row.threads);
  if (with_peer) {
    peer.search(q, row.threads);
    const double difference = (found.score - peer.scores().cast<double>()).cwiseAbs().maxCoeff();
    if (!(difference <= 1e-3)) state.SkipWithError("the peer finds something else");
  }

  const double operations =
      2 * static_cast<double>(kQueries) * static_cast<double>(row.keys) * static_cast<double>(row.d);
  std::vector<double> rate, of_limit, over_peer, peer_rate, speedup;
  for (auto _ : state) {
    const double limit = limit_of(row.threads);
    const double own = seconds_of(row.threads, [&] { search(row.threads); });
    state.SetIterationTime(own);
    rate.push_back(static_cast<double>(kQueries) / own / 1e3);
    of_limit.push_back(operations / own / limit);
    if (row.threads > 1) speedup.push_back(seconds_of(row.threads, [&] { search(1); }) / own);
    if (with_peer) {
      const double peers = seconds_of(row.threads, [&] { peer.search(q, row.threads); });
      over_peer.push_back(peers / own);
      peer_rate.push_back(static_cast<double>(kQueries) / peers / 1e3);
    }
  }
  state.counters["kqueries/s"] = median(rate);
  state.counters["of_limit"] = median(of_limit);
  if (!(median(of_limit) <= 1)) state.SkipWithError("faster than the limit: the clocks disagree");
  if (with_peer) {
    state.counters["faiss_kqueries/s"] = median(peer_rate);
    state.counters["over_faiss"] = median(over_peer);
  }
  if (!speedup.empty()) state.counters["over_1_thread"] = median(speedup);
}

void add_row(const Row& row, Similarity similarity) {
  const bool euclidean = similarity == Similarity::euclidean;
  const std::string name = std::string("top_k/") + (euclidean ? "euclidean" : "inner_product") +
                           "/keys:" + std::to_string(row.keys) + "/d:" + std::to_string(row.d) +
                           "/k:" + std::to_string(row.count) + "/threads:" + std::to_string(row.threads);
  benchmark::RegisterBenchmark(name.c_str(), top_k, row, similarity)
      ->UseManualTime()
      ->Iterations(7)
      ->Unit(benchmark::kMillisecond);
}

const bool kRegistered = [] {
  for (const int threads : {1, 2}) {
    for (const std::ptrdiff_t count : {16, 128, 256}) {
      add_row({16384, 32, count, threads}, Similarity::inner_product);
      add_row({16384, 64, count, threads}, Similarity::inner_product);
      add_row({65536, 64, count, threads}, Similarity::inner_product);
    }
  }
  for (const std::ptrdiff_t count : {16, 128, 256}) add_row({16384, 64, count, 1}, Similarity::euclidean);
  return true;
}();

}  // namespace
