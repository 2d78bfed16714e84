// kNN attention measured (H25 Section 4): errors against k, times against n, with the certificates beside.
#pragma once

#include "point_layouts.hpp"

#include <subquad/core/execution.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace subquad::drivers {

/// A number of keys as H25 writes it, by rule: "3" (any number), "ln n", "n^1/8", "n^1/4", "n^1/2"; at least 1, at most
/// n. Throws Error(parameter) for another rule.
std::uint64_t keys_by_rule(const std::string& rule, std::uint64_t n);

struct KnnErrorOptions {
  std::uint64_t n = 2000;
  std::uint64_t dim = 64;
  std::uint64_t heads = 10;
  std::vector<double> bounds{10, 30, 50};
  std::vector<std::string> rules{"3", "ln n", "n^1/8", "n^1/4", "n^1/2"};
  std::vector<std::string> layouts{"uniform", "clustered", "heavy-tailed"};
  double delta = 0.05;  ///< of the up-weighted tail's bound
  std::uint64_t seed = 1;
};

/// One (layout, b, k): all heads together. Errors are absolute, against float64 exact attention.
struct KnnErrorRow {
  std::string layout;
  double bound = 0.0;
  std::string rule;
  std::uint64_t k = 0;
  double mean_error = 0.0, max_error = 0.0;                        ///< top-k attention
  double mean_tail_mass = 0.0, max_tail_mass = 0.0;                ///< certified tau
  double max_error_bound = 0.0;                                    ///< certified
  double slack = 0.0;                                              ///< largest error/certified bound of a row
  double upweighted_mean_error = 0.0, upweighted_max_error = 0.0;  ///< with k listed and l = k sampled keys
  double upweighted_bound = 0.0;  ///< the epsilon that H25 Theorem 2.5 promises an entry for this k and l at delta
};
std::vector<KnnErrorRow> run_knn_error(const KnnErrorOptions& options, const Execution& execution);
std::string draw_knn_error(const KnnErrorOptions& options, const std::vector<KnnErrorRow>& rows);

struct KnnTimeOptions {
  std::vector<std::uint64_t> sizes{500, 1000, 2000, 4000, 8000, 13000};
  std::uint64_t dim = 64;
  double bound = 10;
  std::string layout = "uniform";
  std::vector<std::string> rules{"3", "n^1/2"};
  int repetitions = 3;  ///< medians of so many runs, one after another; exact attention has one more, to warm up
  std::uint64_t seed = 1;
};

/// One way to compute attention.
struct KnnTimeRow {
  std::uint64_t n = 0;
  std::string method;  ///< "exact", "top-k exact search", "top-k lsh", "top-k faiss"
  std::string rule;    ///< empty for exact
  std::uint64_t k = 0;
  double build_seconds = 0.0;  ///< of an index
  double search_seconds = 0.0;
  double attend_seconds = 0.0;
  double recall = 1.0;
  double mean_error = 0.0, max_error = 0.0;  ///< against float64 exact attention
  std::optional<double> mean_tail_mass;      ///< certified tau; nothing for approximate searches, which certify nothing
  double seconds() const { return build_seconds + search_seconds + attend_seconds; }
};
/// Exact attention in float32; searches in float32; FAISS where the build has it.
std::vector<KnnTimeRow> run_knn_time(const KnnTimeOptions& options, const Execution& execution);
std::string draw_knn_time(const KnnTimeOptions& options, const std::vector<KnnTimeRow>& rows);

}  // namespace subquad::drivers
