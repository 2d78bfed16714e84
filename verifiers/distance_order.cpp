#include "distance_order.hpp"

#include <subquad/core/forward_error.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace subquad::verifiers {
namespace {

using exact::from_double;
using exact::Rational;
using exact::Rounding;
using problems::MatrixD;
using View = Eigen::Ref<const MatrixD>;

/// Scales each row by a power of two. Entries that become denormal lose at most 2^-1075; the others are exact.
MatrixD scale_rows(const View& points) {
  MatrixD scaled = points;
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    int exponent = 0;
    std::frexp(points.row(i).cwiseAbs().maxCoeff(), &exponent);
    for (Eigen::Index c = 0; c < points.cols(); ++c) scaled(i, c) = std::ldexp(points(i, c), -exponent);
  }
  return scaled;
}

double dot(const double* x, const double* y, Eigen::Index size) {
  double sum = 0;
  for (Eigen::Index t = 0; t < size; ++t) sum += x[t] * y[t];
  return sum;
}

std::vector<double> squared_lengths(const MatrixD& points) {
  std::vector<double> squares;
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    const double* x = points.data() + i * points.cols();
    squares.push_back(dot(x, x, points.cols()));
  }
  return squares;
}

Rational exact_dot(const View& a, Eigen::Index i, const View& b, Eigen::Index j) {
  Rational sum = 0;
  for (Eigen::Index c = 0; c < a.cols(); ++c) sum += from_double(a(i, c)) * from_double(b(j, c));
  return sum;
}

}  // namespace

DistanceOrder::Threshold::Threshold(const Rational& t)
    : square(t * t), below(exact::to_double(square, Rounding::down)), above(exact::to_double(square, Rounding::up)) {}

DistanceOrder::DistanceOrder(const View& q, const View& k, AnnaMetric metric, double radius, double ratio)
    : q_(q), k_(k), metric_(metric), near_(from_double(radius)), far_(from_double(radius) * from_double(ratio)) {
  const auto dim = static_cast<double>(q.cols());
  if (metric == AnnaMetric::euclidean) {
    // A difference, a square, and at most d additions on a path: gamma_(d + 3) of the true value, doubled because the
    // bound is used from the computed side; what underflows is below 2^-1074 a term.
    relative_ = 2 * gamma_bound(dim + 4) * kEvaluationSlack;
    absolute_ = dim * 0x1p-1072;
  } else if (metric == AnnaMetric::hamming) {
    const auto most = [&](const Rational& t) {
      return t >= q.cols() ? q.cols() : static_cast<Eigen::Index>(exact::floor_integer(t).convert_to<std::int64_t>());
    };
    near_count_ = most(from_double(radius));
    far_count_ = most(from_double(radius) * from_double(ratio));
  } else {
    // Scalar product: gamma_(d + 1)|x||y|; the root of the product of two squared lengths: gamma_(2d + 5) relative, and
    // its reciprocal twice that; a quotient, a difference from 2 (below 4.1 u). In all below 2 gamma_(5d + 16), what
    // became denormal by scaling included: lengths are at least 1/2.
    absolute_ = 2 * gamma_bound(5 * dim + 20) * kEvaluationSlack;
    scaled_q_ = scale_rows(q);
    scaled_k_ = scale_rows(k);
    squares_q_ = squared_lengths(scaled_q_);
    squares_k_ = squared_lengths(scaled_k_);
  }
}

DistanceOrder::Enclosure DistanceOrder::euclidean(const double* x, const double* y) const {
  double sum = 0;
  for (Eigen::Index t = 0; t < q_.cols(); ++t) sum += (x[t] - y[t]) * (x[t] - y[t]);
  // Terms are not negative: a sum that overflows is at least the largest double, up to its relative error.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!std::isfinite(sum)) return {relative_ <= 0.5 ? std::numeric_limits<double>::max() / 4 : 0.0, kInfinity};
  return {sum * (1 - relative_) - absolute_, sum * (1 + relative_) + absolute_};
}

DistanceOrder::Enclosure DistanceOrder::angular(Eigen::Index query, Eigen::Index key) const {
  const Eigen::Index d = q_.cols();
  const double product = dot(scaled_q_.data() + query * d, scaled_k_.data() + key * d, d);
  const double lengths =
      std::sqrt(squares_q_[static_cast<std::size_t>(query)] * squares_k_[static_cast<std::size_t>(key)]);
  const double square = 2 - 2 * (product / lengths);
  return {square - absolute_, square + absolute_};
}

bool DistanceOrder::exactly_within(Eigen::Index query, Eigen::Index key, const Threshold& threshold) const {
  if ((q_.row(query).array() == k_.row(key).array()).all()) return true;
  if (metric_ == AnnaMetric::angular) {
    // 2 - 2 p/sqrt(L) <= t^2 is p >= s sqrt(L) with s = 1 - t^2/2: signs first, then squares.
    const Rational p = exact_dot(q_, query, k_, key);
    const Rational s = 1 - threshold.square / 2;
    if (p >= 0 && s <= 0) return true;
    if (p < 0 && s >= 0) return false;
    const Rational bound = s * s * exact_dot(q_, query, q_, query) * exact_dot(k_, key, k_, key);
    return p >= 0 ? p * p >= bound : p * p <= bound;
  }
  Rational sum = 0;
  for (Eigen::Index c = 0; c < q_.cols(); ++c) {
    const Rational difference = from_double(q_(query, c)) - from_double(k_(key, c));
    sum += difference * difference;
  }
  return sum <= threshold.square;
}

DistanceClass DistanceOrder::classify(Eigen::Index query, Eigen::Index key, std::uint64_t& exact_count) const {
  if (metric_ == AnnaMetric::hamming) {  // counts are exact as they are
    const Eigen::Index differing = (q_.row(query).array() != k_.row(key).array()).count();
    if (differing <= near_count_) return DistanceClass::near;
    return differing <= far_count_ ? DistanceClass::middle : DistanceClass::far;
  }
  const Enclosure square = metric_ == AnnaMetric::angular
                               ? angular(query, key)
                               : euclidean(q_.data() + query * q_.outerStride(), k_.data() + key * k_.outerStride());
  // NaN decides nothing: each comparison below is then false.
  if (square.low > far_.above) return DistanceClass::far;
  if (square.high < near_.below) return DistanceClass::near;
  const bool beyond_near = square.low > near_.above;
  if (beyond_near && square.high < far_.below) return DistanceClass::middle;
  ++exact_count;
  if (!beyond_near && exactly_within(query, key, near_)) return DistanceClass::near;
  return exactly_within(query, key, far_) ? DistanceClass::middle : DistanceClass::far;
}

}  // namespace subquad::verifiers
