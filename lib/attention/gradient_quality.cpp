#include <subquad/attention/gradient_quality.hpp>
#include <subquad/core/error.hpp>

#include <limits>

namespace subquad::attention {

GradientQuality gradient_quality(const problems::MatrixD& estimate, const problems::MatrixD& exact) {
  require(estimate.rows() == exact.rows() && estimate.cols() == exact.cols(), ErrorKind::parameter,
          "gradient quality: an estimate {} x {} of a gradient {} x {}", estimate.rows(), estimate.cols(), exact.rows(),
          exact.cols());
  GradientQuality quality;
  if (exact.size() == 0) {
    quality.cosine = 1;
    return quality;
  }
  const double estimate_norm = estimate.norm();
  const double exact_norm = exact.norm();
  const double difference = (estimate - exact).norm();
  quality.mean_abs = (estimate - exact).cwiseAbs().mean();
  if (estimate_norm == 0 || exact_norm == 0) {
    quality.cosine = estimate_norm == exact_norm ? 1 : 0;
  } else {
    quality.cosine = estimate.cwiseProduct(exact).sum() / estimate_norm / exact_norm;
  }
  quality.relative_l2 = exact_norm > 0      ? difference / exact_norm
                        : difference == 0.0 ? 0.0
                                            : std::numeric_limits<double>::infinity();
  return quality;
}

}  // namespace subquad::attention
