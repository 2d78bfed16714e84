// Candidate scoring: distinct candidate keys of one query, scored exactly, the best kept; and checks that indexes
// share.
#pragma once

#include <subquad/ann/neighbors.hpp>
#include <subquad/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace subquad::ann {

/// Products of entries up to this stay finite in any sum of fewer than 2^64 of them.
inline constexpr double kLargestIndexEntry = 0x1p400;

/// Throws Error(parameter) with the place of an entry that is not finite, or whose products could overflow.
inline void check_finite_points(const Eigen::Ref<const problems::MatrixD>& points, const char* name) {
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    for (Eigen::Index c = 0; c < points.cols(); ++c) {
      require(std::isfinite(points(i, c)), ErrorKind::parameter, "index: {}[{},{}] is {}, expected a finite number",
              name, i, c, points(i, c));
      require(std::fabs(points(i, c)) <= kLargestIndexEntry, ErrorKind::parameter,
              "index: {}[{},{}] is {}, expected at most 2^400", name, i, c, points(i, c));
    }
  }
}

inline void check_index_query(const Eigen::Ref<const problems::MatrixD>& q, const problems::MatrixD& keys,
                              std::uint64_t count) {
  require(q.cols() == keys.cols(), ErrorKind::parameter, "index: Q is {} x {}, but the keys are {} x {}", q.rows(),
          q.cols(), keys.rows(), keys.cols());
  require(count >= 1 && count <= static_cast<std::uint64_t>(keys.rows()), ErrorKind::parameter,
          "index: k = {} for {} keys, expected 1 to {}", count, keys.rows(), keys.rows());
  check_finite_points(q, "Q");
}

/// A result of an approximate search with nothing in it yet.
inline Neighbors empty_neighbors(Eigen::Index rows, std::uint64_t count) {
  Neighbors result;
  result.index = IndexMatrix::Constant(rows, static_cast<Eigen::Index>(count), kNoKey);
  result.score =
      problems::MatrixD::Constant(rows, static_cast<Eigen::Index>(count), -std::numeric_limits<double>::infinity());
  return result;
}

/// Collects the candidates of one query after another. One object a thread: it holds a mark for every key.
class CandidateScoring {
 public:
  explicit CandidateScoring(const problems::MatrixD& keys)
      : keys_(keys), seen_(static_cast<std::size_t>(keys.rows()), 0) {}

  void start(const Eigen::Ref<const Eigen::RowVectorXd>& query) {
    query_ = query;
    found_.clear();
    ++query_number_;
  }
  void add(std::uint32_t key) {
    if (seen_[key] == query_number_) return;
    seen_[key] = query_number_;
    found_.push_back({query_.dot(keys_.row(static_cast<Eigen::Index>(key))), key});
  }
  std::uint64_t size() const { return found_.size(); }

  /// Writes the best `count`.
  void finish(std::uint64_t count, Neighbors& result, Eigen::Index row) {
    const auto kept = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(count, found_.size()));
    std::partial_sort(found_.begin(), found_.begin() + kept, found_.end(), [](const Found& a, const Found& b) {
      return a.score != b.score ? a.score > b.score : a.key < b.key;
    });
    for (Eigen::Index a = 0; a < kept; ++a) {
      result.index(row, a) = found_[static_cast<std::size_t>(a)].key;
      result.score(row, a) = found_[static_cast<std::size_t>(a)].score;
    }
  }

 private:
  struct Found {
    double score;
    std::uint32_t key;
  };

  const problems::MatrixD& keys_;
  Eigen::RowVectorXd query_;
  std::vector<Found> found_;
  std::vector<std::uint32_t> seen_;
  std::uint32_t query_number_ = 0;
};

}  // namespace subquad::ann
