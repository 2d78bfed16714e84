// Attention arrays: Q, K, V from .npy files as an instance.
#pragma once

#include "input_source.hpp"

#include <subquad/io/npy.hpp>
#include <subquad/problems/attention.hpp>

#include <optional>
#include <string>
#include <vector>

namespace subquad::drivers {

/// Reads one matrix of float32 or float64. Throws Error(input) "path: what, expected what".
problems::MatrixD read_array(const std::string& path, io::NpyVector vector);

/// Reads Q (n x d), K (n_k x d), V (n_k x d_v; a vector stands for one column). The scale is 1/d unless given; the
/// entry bound is the largest entry. Throws Error(input) for malformed files, Error(parameter) as problems::validate
/// (NaN with its place, shapes).
problems::Attention::Instance read_attention_arrays(const std::string& q, const std::string& k, const std::string& v,
                                                    std::optional<double> scale);

}  // namespace subquad::drivers
