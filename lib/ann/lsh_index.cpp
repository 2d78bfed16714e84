#include "candidate_scoring.hpp"

#include <subquad/ann/approximate_index.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace subquad::ann {
namespace {

using problems::MatrixD;

constexpr int kMostBits = 60;
constexpr Eigen::Index kBlock = 64;

/// One table: keys sorted by code.
struct Table {
  std::vector<std::uint64_t> codes;
  std::vector<std::uint32_t> keys;
};

/// Codes of one query in one table.
struct Probe {
  std::uint64_t code;
  double margin;
};

class LshIndex final : public ApproximateIndex {
 public:
  LshIndex(const MatrixD& keys, const LshOptions& options, const Execution& execution)
      : keys_(keys), options_(options) {
    require(keys.rows() >= 1 && keys.rows() < kNoKey, ErrorKind::parameter,
            "lsh index: {} keys, expected 1 to 2^32 - 2", keys.rows());
    if (options_.bits == 0) {
      options_.bits = std::clamp(static_cast<int>(std::log2(static_cast<double>(keys.rows()) / 16)), 1, kMostBits);
    }
    require(options_.bits >= 1 && options_.bits <= kMostBits, ErrorKind::parameter,
            "lsh index: {} bits, expected 1 to {}", options_.bits, kMostBits);
    require(options_.tables >= 1 && options_.probes >= 1, ErrorKind::parameter,
            "lsh index: {} tables, {} probes; expected at least 1 each", options_.tables, options_.probes);
    check_finite_points(keys, "K");
    draw_hyperplanes();
    build(execution);
  }

  Neighbors search(const Eigen::Ref<const MatrixD>& q, std::uint64_t count, const Execution& execution) const override {
    check_index_query(q, keys_, count);
    Neighbors result = empty_neighbors(q.rows(), count);
    const ProgressScope progress(execution, "lsh search", static_cast<std::uint64_t>(q.rows()));
    parallel_for(execution, static_cast<std::uint64_t>(q.rows()), kBlock, [&](std::uint64_t begin, std::uint64_t end) {
      const auto first = static_cast<Eigen::Index>(begin);
      const MatrixD block = q.middleRows(first, static_cast<Eigen::Index>(end - begin));
      const MatrixD projections = block * directions_.transpose();
      CandidateScoring scoring(keys_);
      for (Eigen::Index i = 0; i < block.rows(); ++i) {
        scoring.start(block.row(i));
        collect(projections.row(i), count, scoring);
        scoring.finish(count, result, first + i);
      }
    });
    return result;
  }

  std::string description() const override {
    return fmt::format("lsh: {} bits, {} tables, {} probes", options_.bits, options_.tables, options_.probes);
  }

  std::uint64_t bytes() const override {
    const std::uint64_t entries = static_cast<std::uint64_t>(tables_.size()) * static_cast<std::uint64_t>(keys_.rows());
    return entries * (sizeof(std::uint64_t) + sizeof(std::uint32_t)) +
           static_cast<std::uint64_t>(directions_.size() + lifts_.size()) * sizeof(double);
  }

 private:
  void draw_hyperplanes() {
    const Eigen::Index count = static_cast<Eigen::Index>(options_.tables) * options_.bits;
    directions_.resize(count, keys_.cols());
    lifts_.resize(count);
    Random random = Random(options_.seed).split("lsh index");
    for (Eigen::Index h = 0; h < count; ++h) {
      for (Eigen::Index c = 0; c < keys_.cols(); ++c) directions_(h, c) = random.normal();
      lifts_[h] = random.normal();
    }
  }

  void build(const Execution& execution) {
    const auto n = static_cast<std::uint64_t>(keys_.rows());
    double largest = 0;
    for (Eigen::Index j = 0; j < keys_.rows(); ++j) largest = std::max(largest, keys_.row(j).squaredNorm());
    tables_.resize(static_cast<std::size_t>(options_.tables));
    std::vector<std::vector<std::uint64_t>> codes(tables_.size(), std::vector<std::uint64_t>(n));
    parallel_for(execution, n, 1024, [&](std::uint64_t begin, std::uint64_t end) {
      const auto first = static_cast<Eigen::Index>(begin);
      const auto block = keys_.middleRows(first, static_cast<Eigen::Index>(end - begin));
      const MatrixD projections = block * directions_.transpose();
      for (Eigen::Index j = 0; j < block.rows(); ++j) {
        const double lift = std::sqrt(std::max(0.0, largest - block.row(j).squaredNorm()));
        const Eigen::RowVectorXd signs = projections.row(j) + lift * lifts_.transpose();
        for (std::size_t t = 0; t < tables_.size(); ++t)
          codes[t][begin + static_cast<std::uint64_t>(j)] = code(signs, t);
      }
    });
    parallel_for(execution, tables_.size(), 1, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t t = begin; t < end; ++t) {
        Table& table = tables_[t];
        table.keys.resize(n);
        std::iota(table.keys.begin(), table.keys.end(), 0u);
        std::sort(table.keys.begin(), table.keys.end(), [&](std::uint32_t a, std::uint32_t b) {
          return codes[t][a] != codes[t][b] ? codes[t][a] < codes[t][b] : a < b;
        });
        table.codes.resize(n);
        for (std::uint64_t a = 0; a < n; ++a) table.codes[a] = codes[t][table.keys[a]];
      }
    });
  }

  template <class Row>
  std::uint64_t code(const Row& projections, std::size_t table) const {
    std::uint64_t bits = 0;
    for (int b = 0; b < options_.bits; ++b) {
      bits = bits << 1 | (projections[static_cast<Eigen::Index>(table) * options_.bits + b] > 0 ? 1u : 0u);
    }
    return bits;
  }

  /// The query's code and those with one of its least certain bits flipped.
  template <class Row>
  void probes(const Row& projections, std::size_t table, std::vector<Probe>& result) const {
    const std::uint64_t own = code(projections, table);
    result.clear();
    for (int b = 0; b < options_.bits; ++b) {
      const double margin = std::fabs(projections[static_cast<Eigen::Index>(table) * options_.bits + b]);
      result.push_back({own ^ (std::uint64_t{1} << (options_.bits - 1 - b)), margin});
    }
    const std::size_t flips = std::min(result.size(), static_cast<std::size_t>(options_.probes - 1));
    std::partial_sort(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(flips), result.end(),
                      [](const Probe& a, const Probe& b) { return a.margin < b.margin; });
    result.resize(flips);
    result.push_back({own, 0.0});
  }

  template <class Row>
  void collect(const Row& projections, std::uint64_t count, CandidateScoring& scoring) const {
    std::vector<Probe> codes;
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      const Table& table = tables_[t];
      probes(projections, t, codes);
      for (const Probe& probe : codes) {
        const auto range = std::equal_range(table.codes.begin(), table.codes.end(), probe.code);
        for (auto at = range.first; at != range.second; ++at) {
          scoring.add(table.keys[static_cast<std::size_t>(at - table.codes.begin())]);
        }
      }
    }
    // Too few: outwards from the query's place in each table, a step in every table at a time.
    const std::uint64_t n = static_cast<std::uint64_t>(keys_.rows());
    for (std::uint64_t step = 0; scoring.size() < count && step < n; ++step) {
      for (std::size_t t = 0; t < tables_.size() && scoring.size() < count; ++t) {
        const Table& table = tables_[t];
        const auto place = static_cast<std::uint64_t>(
            std::lower_bound(table.codes.begin(), table.codes.end(), code(projections, t)) - table.codes.begin());
        if (place + step < n) scoring.add(table.keys[place + step]);
        if (place > step) scoring.add(table.keys[place - step - 1]);
      }
    }
  }

  const MatrixD& keys_;
  LshOptions options_;
  MatrixD directions_;     // hyperplanes of all tables, the coordinates of the points
  Eigen::VectorXd lifts_;  // and the lifted coordinate
  std::vector<Table> tables_;
};

}  // namespace

std::unique_ptr<ApproximateIndex> make_lsh_index(const MatrixD& keys, const LshOptions& options,
                                                 const Execution& execution) {
  return std::make_unique<LshIndex>(keys, options, execution);
}

}  // namespace subquad::ann
