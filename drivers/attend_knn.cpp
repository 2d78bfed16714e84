// attend --kernel knn: softmax over the k best keys with certificates, or over as many keys as the tolerance needs.
#include "attend_kernel.hpp"
#include "resource_guard.hpp"
#include "size_json.hpp"

#include <subquad/ann/approximate_index.hpp>
#include <subquad/ann/top_k.hpp>
#include <subquad/attention/adaptive_top_k.hpp>
#include <subquad/attention/top_k_attention.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/stopwatch.hpp>

#include <algorithm>

namespace subquad::drivers {
namespace {

using Json = nlohmann::ordered_json;
using problems::Attention;
using problems::MatrixD;

/// Refuses a search, and attention over k keys a query, beyond the limits: all scores at most, and the listed ones
/// held.
void guard_search(const Attention::Instance& x, std::uint64_t k, const AttendOptions& options,
                  const VerbCommand& command) {
  const Count n = static_cast<std::uint64_t>(x.q.rows());
  const Count d = static_cast<std::uint64_t>(x.q.cols());
  ResourceNeed need;
  need.bytes = n * k * 12 + Count(static_cast<std::uint64_t>(x.k.rows())) * d * 8;
  need.operations =
      n * static_cast<std::uint64_t>(x.k.rows()) * d + n * k * (d + static_cast<std::uint64_t>(x.v.cols()));
  need.operation_name = "multiply-adds";
  if (!command.shared.dry_run) check_resources("running knn", need, options.force);
}

/// A fixed number of keys, from an exact or an approximate search.
class FixedKnn final : public AttendKernel {
 public:
  FixedKnn(const AttendOptions& options, const Attention::Instance& instance) : options_(options), instance_(instance) {
    require(options.index == "exact" || options.index == "lsh" || options.index == "faiss", ErrorKind::parameter,
            "--index: '{}', expected exact, lsh or faiss", options.index);
    require(!options.gap || options.index != "exact", ErrorKind::parameter,
            "--gap is for approximate indexes: an exact search misses nothing");
    require(!options.gap || *options.gap >= 0, ErrorKind::parameter, "--gap: {}, expected >= 0",
            options.gap.value_or(0.0));
  }

  std::string arithmetic() const override { return "float64"; }
  bool has_masks() const override { return options_.index == "exact"; }

  void plan(Json& report, const VerbCommand& command) override {
    command.note("knn: the {} best of {} keys, {} search", *options_.k, instance_.k.rows(), options_.index);
    guard_search(instance_, *options_.k, options_, command);
    report["k"] = *options_.k;
    report["index"] = options_.index;
  }

  MatrixD run(const problems::AttentionMask& mask, const Execution& execution, Json& report,
              const VerbCommand& command) override {
    const Stopwatch search_watch;
    ann::Neighbors neighbors;
    if (options_.index == "exact") {
      neighbors =
          ann::exact_top_k(instance_.q, instance_.k, *options_.k, {ann::Similarity::inner_product, mask}, execution);
    } else {
      const auto index = options_.index == "lsh" ? ann::make_lsh_index(instance_.k, {.seed = options_.seed}, execution)
                                                 : ann::make_faiss_index(instance_.k);
      command.note("knn: {}", index->description());
      neighbors = index->search(instance_.q, *options_.k, execution);
    }
    report["search_seconds"] = search_watch.seconds();
    attention::TopKResult result = attention::top_k_attention(instance_, neighbors, options_.gap, execution);
    report["tail_mass"] = {{"mean", mean(result.tail_mass)}, {"max", largest(result.tail_mass)}};
    report["error_bound"] = number_json(largest(result.error_bound));
    if (options_.index == "exact" || options_.gap) {
      command.note("softmax mass outside the listed keys: mean <= {:.4g}, largest <= {:.4g}", mean(result.tail_mass),
                   largest(result.tail_mass));
      command.note("error <= {:.4g} certain for this output{}", largest(result.error_bound),
                   options_.gap ? ", if no missed logit is above the worst listed one + gap" : "");
    } else {
      command.note(
          "nothing is certain about this output: the index may have missed keys (give --gap C if it cannot miss "
          "more)");
    }
    return std::move(result.output);
  }

 private:
  static double mean(const Eigen::VectorXd& x) { return x.size() == 0 ? 0.0 : x.mean(); }
  static double largest(const Eigen::VectorXd& x) { return x.size() == 0 ? 0.0 : x.maxCoeff(); }

  const AttendOptions& options_;
  const Attention::Instance& instance_;
};

/// As many keys as the tolerance needs.
class AdaptiveKnn final : public AttendKernel {
 public:
  AdaptiveKnn(const AttendOptions& options, const Attention::Instance& instance)
      : options_(options), tolerance_(*options.tolerance), instance_(instance) {}

  std::string arithmetic() const override { return "float64"; }

  void plan(Json& report, const VerbCommand& command) override {
    command.note("knn: for every query as many of the {} keys as eps_a = {:g} needs", instance_.k.rows(), tolerance_);
    guard_search(instance_, static_cast<std::uint64_t>(instance_.k.rows()), options_, command);  // all, at worst
    report["tolerance"] = tolerance_;
  }

  MatrixD run(const problems::AttentionMask&, const Execution& execution, Json& report,
              const VerbCommand& command) override {
    attention::AdaptiveTopKResult result =
        attention::adaptive_top_k_attention(instance_, tolerance_, ann::Arithmetic::float32, execution);
    std::vector<std::uint64_t> keys = result.keys;
    std::sort(keys.begin(), keys.end());
    const double bound = result.error_bound.size() == 0 ? 0.0 : result.error_bound.maxCoeff();
    report["error_bound"] = bound;
    if (!keys.empty()) {
      const auto all = static_cast<std::uint64_t>(instance_.k.rows());
      const auto with_all = static_cast<std::uint64_t>(keys.end() - std::lower_bound(keys.begin(), keys.end(), all));
      report["keys"] = {{"median", keys[keys.size() / 2]}, {"max", keys.back()}, {"rows_with_all", with_all}};
      command.note("keys a query: median {}, largest {}; {} of {} queries needed all", keys[keys.size() / 2],
                   keys.back(), with_all, keys.size());
    }
    command.note("error <= {:.4g} certain for this output", bound);
    return std::move(result.output);
  }

 private:
  const AttendOptions& options_;
  double tolerance_;
  const Attention::Instance& instance_;
};

}  // namespace

std::unique_ptr<AttendKernel> make_knn_kernel(const AttendOptions& options, const Attention::Instance& instance) {
  if (options.k) return std::make_unique<FixedKnn>(options, instance);
  require(options.tolerance.has_value(), ErrorKind::parameter,
          "attend: knn needs --k K, or --tolerance T to choose the number of keys for each query");
  require(options.index == "exact" && !options.gap, ErrorKind::parameter, "--index and --gap need --k K");
  return std::make_unique<AdaptiveKnn>(options, instance);
}

}  // namespace subquad::drivers
