// Low-rank attention: against the exact kernel and the machine's FMA limit in one run, and how its time grows with n.
//
// Inputs: entries of Q and K uniform in [-1, 1] (R <= 1 at scale 1/d), V uniform in [-1, 1], eps_a = 1e-3. Every
// repetition measures the limit, the low-rank kernel (planning included) and, up to n = 2^16, the exact kernel one
// after the other.
#include "fma_peak.hpp"

#include <subquad/attention/low_rank.hpp>
#include <subquad/attention/streaming_softmax.hpp>
#include <subquad/core/random.hpp>
#include <subquad/core/stopwatch.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace {

using subquad::Execution;
using subquad::Random;
using subquad::Stopwatch;
using subquad::attention::LowRankArithmetic;
using subquad::problems::Attention;
using subquad::problems::MatrixD;

constexpr double kTolerance = 1e-3;

Attention::Instance make_instance(Eigen::Index n, Eigen::Index d) {
  Random random(1);
  const auto uniform = [&] {
    MatrixD matrix(n, d);
    for (Eigen::Index e = 0; e < matrix.size(); ++e) matrix.data()[e] = 2 * random.unit() - 1;
    return matrix;
  };
  Attention::Instance instance;
  instance.q = uniform();
  instance.k = uniform();
  instance.v = uniform();
  instance.scale = 1 / static_cast<double>(d);
  instance.entry_bound = 1;
  return instance;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

subquad::attention::LowRankPlan plan(const Attention::Instance& x, LowRankArithmetic arithmetic,
                                     const Execution& execution) {
  return plan_low_rank(low_rank_request(x, kTolerance, arithmetic), execution.thread_count());
}

void low_rank(benchmark::State& state, Eigen::Index n, Eigen::Index d, LowRankArithmetic arithmetic, int threads) {
  const Attention::Instance x = make_instance(n, d);
  Execution execution;
  execution.threads = threads;
  const bool float32 = arithmetic == LowRankArithmetic::float32;
  const auto planned = plan(x, arithmetic, execution);
  MatrixD output = low_rank_attention(planned, x, execution).output;
  MatrixD exact(n, d);
  std::vector<double> seconds, of_peak, over_exact;
  for (auto _ : state) {
    const double limit =
        float32 ? subquad::bench::fma_peak_flops<float>(threads) : subquad::bench::fma_peak_flops<double>(threads);
    const Stopwatch watch;
    output = low_rank_attention(plan(x, arithmetic, execution), x, execution).output;
    seconds.push_back(watch.seconds());
    state.SetIterationTime(seconds.back());
    of_peak.push_back(2 * planned.operations.convert_to<double>() / seconds.back() / limit);
    if (n > 65536) continue;
    const Stopwatch exact_watch;
    if (float32) {
      subquad::attention::streaming_softmax_in_float32_into(x.q, x.k, x.v, x.scale, execution, exact);
    } else {
      subquad::attention::streaming_softmax_into(x.q, x.k, x.v, x.scale, execution, exact);
    }
    over_exact.push_back(exact_watch.seconds() / seconds.back());
    if (!((exact - output).cwiseAbs().maxCoeff() <= kTolerance)) state.SkipWithError("the two kernels disagree");
  }
  state.counters["rank"] = planned.rank.convert_to<double>();
  state.counters["of_peak"] = median(of_peak);
  if (!over_exact.empty()) state.counters["exact/ours"] = median(over_exact);
  state.counters["extra_MiB"] = planned.bytes.convert_to<double>() / (1 << 20);
}

/// The exponent of n in the time, by least squares on medians from 2^14 to 2^20: 1 is linear.
void growth(benchmark::State& state, LowRankArithmetic arithmetic, int threads) {
  Execution execution;
  execution.threads = threads;
  std::vector<double> log_n, log_t;
  for (auto _ : state) {
    const Stopwatch whole;
    log_n.clear();
    log_t.clear();
    for (int e = 14; e <= 20; ++e) {
      const Attention::Instance x = make_instance(Eigen::Index{1} << e, 4);
      std::vector<double> seconds;
      for (int i = 0; i < 5; ++i) {
        const Stopwatch watch;
        benchmark::DoNotOptimize(low_rank_attention(plan(x, arithmetic, execution), x, execution).output.data());
        seconds.push_back(watch.seconds());
      }
      log_n.push_back(e * std::log(2.0));
      log_t.push_back(std::log(median(seconds)));
    }
    state.SetIterationTime(whole.seconds());
  }
  double mean_n = 0, mean_t = 0, top = 0, bottom = 0;
  for (std::size_t i = 0; i < log_n.size(); ++i) {
    mean_n += log_n[i] / static_cast<double>(log_n.size());
    mean_t += log_t[i] / static_cast<double>(log_n.size());
  }
  for (std::size_t i = 0; i < log_n.size(); ++i) {
    top += (log_n[i] - mean_n) * (log_t[i] - mean_t);
    bottom += (log_n[i] - mean_n) * (log_n[i] - mean_n);
  }
  state.counters["exponent"] = top / bottom;
}

const bool kRegistered = [] {
  for (const auto arithmetic : {LowRankArithmetic::float32, LowRankArithmetic::float64}) {
    const std::string name = std::string("low_rank/") + std::string(to_string(arithmetic));
    for (const int threads : {1, 2}) {
      for (const auto& shape :
           {std::pair<Eigen::Index, Eigen::Index>{65536, 2}, {65536, 4}, {65536, 8}, {16384, 16}, {1 << 20, 4}}) {
        const Eigen::Index n = shape.first;
        const Eigen::Index d = shape.second;
        const std::string row =
            name + "/n:" + std::to_string(n) + "/d:" + std::to_string(d) + "/threads:" + std::to_string(threads);
        benchmark::RegisterBenchmark(row.c_str(),
                                     [=](benchmark::State& state) { low_rank(state, n, d, arithmetic, threads); })
            ->UseManualTime()
            ->Iterations(5)
            ->Unit(benchmark::kMillisecond);
      }
    }
    benchmark::RegisterBenchmark((name + "/growth").c_str(),
                                 [=](benchmark::State& state) { growth(state, arithmetic, 1); })
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
