#include <subquad/ann/hash_tables.hpp>
#include <subquad/attention/exact_match.hpp>
#include <subquad/core/error.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace subquad::attention {
namespace {

using View = Eigen::Ref<const problems::MatrixD>;

constexpr std::uint64_t kBlock = 256;  // queries, or buckets, a task

/// The bits of each row, both zeros as one: equal rows have equal codes and no others do.
ann::CodeMatrix bits(const View& points, const char* name) {
  ann::CodeMatrix codes(points.rows(), points.cols());
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    for (Eigen::Index c = 0; c < points.cols(); ++c) {
      require(std::isfinite(points(i, c)), ErrorKind::parameter,
              "exact match: {}[{},{}] is {}, expected a finite number", name, i, c, points(i, c));
      codes(i, c) = std::bit_cast<std::int64_t>(points(i, c) + 0.0);
    }
  }
  return codes;
}

void check_values(const View& v) {
  double largest = 0;
  for (Eigen::Index j = 0; j < v.rows(); ++j) {
    for (Eigen::Index c = 0; c < v.cols(); ++c) {
      require(std::isfinite(v(j, c)), ErrorKind::parameter, "exact match: V[{},{}] is {}, expected a finite number", j,
              c, v(j, c));
      largest = std::max(largest, std::fabs(v(j, c)));
    }
  }
  const auto terms = static_cast<double>(v.rows());
  require(largest * terms <= std::numeric_limits<double>::max() / 2, ErrorKind::parameter,
          "exact match: entries of V up to {:g} could overflow a sum of n_k = {} terms; scale V down", largest,
          v.rows());
}

}  // namespace

ExactMatchResult exact_match_attention(const View& q, const View& k, const View& v, const Execution& execution) {
  require(q.cols() == k.cols() && k.rows() == v.rows(), ErrorKind::parameter,
          "exact match: Q is {} x {}, K {} x {}, V {} x {}; expected n x d, n_k x d, n_k x d_v", q.rows(), q.cols(),
          k.rows(), k.cols(), v.rows(), v.cols());
  check_values(v);
  const ann::CodeMatrix queries = bits(q, "Q");
  const ann::HashTable keys(bits(k, "K"));
  problems::MatrixD means = problems::MatrixD::Zero(static_cast<Eigen::Index>(keys.buckets()), v.cols());
  parallel_for(execution, keys.buckets(), kBlock, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t b = begin; b < end; ++b) {
      auto mean = means.row(static_cast<Eigen::Index>(b));
      for (const std::uint32_t key : keys.points(b)) mean += v.row(key);
      mean /= static_cast<double>(keys.points(b).size());
    }
  });
  ExactMatchResult result{problems::MatrixD::Zero(q.rows(), v.cols()),
                          std::vector<std::uint64_t>(static_cast<std::size_t>(q.rows()), 0)};
  parallel_for(execution, static_cast<std::uint64_t>(q.rows()), kBlock, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      const std::int64_t bucket = keys.find(queries.data() + row * queries.cols());
      if (bucket == ann::HashTable::kNoBucket) continue;
      result.output.row(row) = means.row(bucket);
      result.matches[i] = keys.points(static_cast<std::uint64_t>(bucket)).size();
    }
  });
  return result;
}

}  // namespace subquad::attention
