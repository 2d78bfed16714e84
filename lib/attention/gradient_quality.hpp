// Gradient quality: how far an estimated gradient is from the exact one, in the measures that matter for descent.
#pragma once

#include <subquad/problems/attention.hpp>

namespace subquad::attention {

/// Three measures, because one misleads: a published estimator has a small mean absolute error at cosine 0.06 and
/// relative error above 1, where the zero matrix would do better.
struct GradientQuality {
  double cosine = 0.0;       ///< <x, y>/(|x| |y|) over all entries; 1 if both are zero, 0 if one is
  double relative_l2 = 0.0;  ///< |x - y|/|y|, y the exact one; 0 if x = y, inf if only y is zero
  double mean_abs = 0.0;     ///< mean |x - y| of the entries
};

/// Throws Error(parameter) if the shapes differ. NaN in an entry gives NaN.
GradientQuality gradient_quality(const problems::MatrixD& estimate, const problems::MatrixD& exact);

}  // namespace subquad::attention
