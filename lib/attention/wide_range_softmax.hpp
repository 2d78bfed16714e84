// Softmax attention in long double: for inputs whose logits or sums could leave the range of float or double.
#pragma once

#include <subquad/core/execution.hpp>
#include <subquad/problems/attention.hpp>

#include <Eigen/Core>

namespace subquad::attention {

/// Computes softmax(scale * q k^T) v in two passes over the keys for each query, in scalar long double arithmetic.
///
/// Shapes    as in streaming_softmax, n_k >= 1 unless n = 0
/// Ranges    any finite doubles: products of three doubles stay far inside long double's range
/// Cost      O(n n_k (2 d + d_v)) scalar operations, some 30 times slower than the tiled kernel; O(d_v) memory a thread
/// Errors    Error(unsupported) where long double has no more range than double; Error(interrupted)
template <class Scalar>
problems::RowMajorMatrix<Scalar> wide_range_softmax(const Eigen::Ref<const problems::RowMajorMatrix<Scalar>>& q,
                                                    const Eigen::Ref<const problems::RowMajorMatrix<Scalar>>& k,
                                                    const Eigen::Ref<const problems::RowMajorMatrix<Scalar>>& v,
                                                    double scale, const Execution& execution);

extern template problems::MatrixF wide_range_softmax<float>(const Eigen::Ref<const problems::MatrixF>&,
                                                            const Eigen::Ref<const problems::MatrixF>&,
                                                            const Eigen::Ref<const problems::MatrixF>&, double,
                                                            const Execution&);
extern template problems::MatrixD wide_range_softmax<double>(const Eigen::Ref<const problems::MatrixD>&,
                                                             const Eigen::Ref<const problems::MatrixD>&,
                                                             const Eigen::Ref<const problems::MatrixD>&, double,
                                                             const Execution&);

}  // namespace subquad::attention
