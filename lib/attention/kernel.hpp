// Kernels: things that compute attention, behind one small handle.
#pragma once

#include <subquad/core/execution.hpp>
#include <subquad/problems/attention.hpp>
#include <subquad/problems/attention_mask.hpp>

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace subquad::attention {

/// A kernel as the drivers see it.
struct Kernel {
  std::string name;         ///< "exact", "exact-f32", "rigorous", "low-rank", "low-rank-f32", "knn"
  std::string arithmetic;   ///< "float64", "float32", "MPFR intervals"
  std::string description;  ///< one line
  bool log_domain = false;  ///< fills Answer::log_column with rigorous enclosures: may serve the paper's parameters
  std::function<problems::Attention::Answer(const problems::Attention::Instance&, const Execution&)> run;
  /// The same under a mask; empty: this kernel has no masks.
  std::function<problems::Attention::Answer(const problems::Attention::Instance&, const problems::AttentionMask&,
                                            const Execution&)>
      run_masked{};
};

/// The kernels built in, in a fixed order: exact, exact-f32, rigorous, low-rank, low-rank-f32, knn.
std::span<const Kernel> kernels();

/// Throws Error(parameter) with the list of names.
const Kernel& kernel(std::string_view name);

}  // namespace subquad::attention
