#include <subquad/ann/top_k.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/forward_error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

// Re-includes this file once per target. Scalable vectors (SVE, RVV) cannot stand in arrays, so Arm uses NEON.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "top_k.cpp"
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include "top_k-inl.hpp"

#if HWY_ONCE
namespace subquad::ann {
namespace {

HWY_EXPORT(top_k_float);
HWY_EXPORT(top_k_float_from_double);
HWY_EXPORT(top_k_double);

constexpr std::size_t kPackedBytes = std::size_t{16} << 20;

template <class S>
using View = Eigen::Ref<const problems::RowMajorMatrix<S>>;

template <class S>
void check_entries(const View<S>& matrix, const char* name) {
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
      require(std::isfinite(matrix(i, j)), ErrorKind::parameter, "top-k: {}[{},{}] is {}, expected a finite number",
              name, i, j, matrix(i, j));
    }
  }
}

template <class S>
double row_norm(const View<S>& matrix, Eigen::Index row) {
  return norm_bound(matrix.row(row).data(), static_cast<std::size_t>(matrix.cols()));
}

/// Proved bound of |computed - true score| for a query of this norm: docs/proofs/top_k.md.
template <class T, class S>
double score_error(double query, double key, double dim, Similarity similarity) {
  constexpr double unit = std::is_same_v<T, float> ? kUnitRoundoff32 : kUnitRoundoff64;
  constexpr double smallest = static_cast<double>(std::numeric_limits<T>::denorm_min());
  const double underflow = dim * smallest * (2 + query + key);
  if (similarity == Similarity::inner_product) {
    return (gamma_bound(dim + 4, unit) * query * key + underflow) * kEvaluationSlack;
  }
  const double ranked = gamma_bound(dim + 6, unit) * (2 * query * key + key * key) + 4 * underflow;
  const double rest = gamma_bound(dim + 6) * (query + key) * (query + key) + dim * 0x1p-1073;
  return (ranked + rest) * kEvaluationSlack;
}

/// Subtracting |q|^2 may round different ranks to one score: such keys are put in the order of their indices.
void order_equal_scores(Neighbors& result, Eigen::Index row) {
  const Eigen::Index k = result.index.cols();
  for (Eigen::Index begin = 0; begin < k;) {
    Eigen::Index end = begin + 1;
    while (end < k && result.score(row, end) == result.score(row, begin)) ++end;
    std::uint32_t* index = result.index.data() + row * k;
    std::sort(index + begin, index + end);
    begin = end;
  }
}

template <class T, class S, class Target>
Neighbors search(Target target, const View<S>& q, const View<S>& k, std::uint64_t count, const TopKOptions& options,
                 const Execution& execution) {
  require(q.cols() == k.cols(), ErrorKind::parameter, "top-k: Q is {} x {}, K {} x {}; expected n x d, n_k x d",
          q.rows(), q.cols(), k.rows(), k.cols());
  require(count >= 1 && count <= static_cast<std::uint64_t>(k.rows()), ErrorKind::parameter,
          "top-k: k = {} for {} keys, expected 1 to {}", count, k.rows(), k.rows());
  require(static_cast<std::uint64_t>(k.rows()) < kNoKey, ErrorKind::parameter,
          "top-k: {} keys, expected fewer than 2^32 - 1", k.rows());
  check_entries<S>(q, "Q");
  check_entries<S>(k, "K");
  double key_norm = 0;
  for (Eigen::Index j = 0; j < k.rows(); ++j) key_norm = std::max(key_norm, row_norm<S>(k, j));
  Neighbors result;
  result.similarity = options.similarity;
  result.mask = options.mask;
  result.exact = true;
  result.score_error.resize(q.rows());
  const auto dim = static_cast<double>(q.cols());
  const double limit = static_cast<double>(std::numeric_limits<T>::max()) / 16;
  for (Eigen::Index i = 0; i < q.rows(); ++i) {
    const double query_norm = row_norm<S>(q, i);
    const double largest = query_norm + key_norm;
    require(
        largest <= std::sqrt(limit), ErrorKind::parameter,
        "top-k: norms up to {:.3g} (query {}) and {:.3g} (keys) could overflow {}; expected a sum of at most {:.3g}",
        query_norm, i, key_norm, to_string(std::is_same_v<T, float> ? Arithmetic::float32 : Arithmetic::float64),
        std::sqrt(limit));
    result.score_error[i] = score_error<T, S>(query_norm, key_norm, dim, options.similarity);
  }
  const auto columns = static_cast<Eigen::Index>(count);
  result.index = IndexMatrix::Constant(q.rows(), columns, kNoKey);
  result.score = problems::MatrixD::Constant(q.rows(), columns, -std::numeric_limits<double>::infinity());
  if (q.rows() == 0) return result;
  const auto view = [](const View<S>& matrix) {
    return PointView<S>{matrix.data(), static_cast<std::size_t>(matrix.rows()), static_cast<std::size_t>(matrix.cols()),
                        static_cast<std::size_t>(matrix.outerStride())};
  };
  const TopKTask<S> task{view(q),
                         view(k),
                         static_cast<std::size_t>(count),
                         options.similarity == Similarity::euclidean,
                         options.mask,
                         result.index.data(),
                         result.score.data(),
                         kPackedBytes,
                         &execution};
  target(task);
  if (options.similarity == Similarity::euclidean) {
    for (Eigen::Index i = 0; i < q.rows(); ++i) {
      double square = 0;
      for (Eigen::Index c = 0; c < q.cols(); ++c) square += static_cast<double>(q(i, c)) * static_cast<double>(q(i, c));
      result.score.row(i).array() -= square;
      order_equal_scores(result, i);
    }
  }
  return result;
}

}  // namespace

Neighbors exact_top_k(const Eigen::Ref<const problems::MatrixF>& q, const Eigen::Ref<const problems::MatrixF>& k,
                      std::uint64_t count, const TopKOptions& options, const Execution& execution) {
  return search<float, float>(HWY_DYNAMIC_DISPATCH(top_k_float), q, k, count, options, execution);
}

Neighbors exact_top_k(const Eigen::Ref<const problems::MatrixD>& q, const Eigen::Ref<const problems::MatrixD>& k,
                      std::uint64_t count, const TopKOptions& options, const Execution& execution) {
  return search<double, double>(HWY_DYNAMIC_DISPATCH(top_k_double), q, k, count, options, execution);
}

Neighbors exact_top_k_in_float32(const Eigen::Ref<const problems::MatrixD>& q,
                                 const Eigen::Ref<const problems::MatrixD>& k, std::uint64_t count,
                                 const TopKOptions& options, const Execution& execution) {
  return search<float, double>(HWY_DYNAMIC_DISPATCH(top_k_float_from_double), q, k, count, options, execution);
}

}  // namespace subquad::ann
#endif  // HWY_ONCE
