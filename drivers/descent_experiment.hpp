// Gradient descent with estimated gradients (H25 Section 4), and how good the estimates are.
#pragma once

#include <subquad/attention/gradient_quality.hpp>
#include <subquad/core/execution.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace subquad::drivers {

/// What is minimised. squared: 1/2 |O(V) - T|^2 over V, convex, T uniform in [-1, 1]; cross-entropy: sum over tokens of
/// -ln softmax(O_i)[label_i] over Q, K and V, not convex. Starts are uniform in [-1, 1], scale 1/sqrt(d).
enum class DescentLoss { squared, cross_entropy };
std::string to_string(DescentLoss loss);

struct DescentOptions {
  std::uint64_t n = 100;
  std::uint64_t dim = 3;
  std::uint64_t steps = 1500;
  double rate = 0.5;
  std::vector<DescentLoss> losses{DescentLoss::squared, DescentLoss::cross_entropy};
  std::uint64_t samples = 10;  ///< of each row and step, and walks of each column and sign
  std::uint64_t seed = 1;
};

/// The loss before some step, by exact and by estimated gradients, from the same start.
struct DescentRow {
  DescentLoss loss = DescentLoss::squared;
  std::uint64_t step = 0;
  double exact = 0.0;
  double sampled = 0.0;     ///< walks and softmax samples
  double upweighted = 0.0;  ///< listed keys and up-weighted tail
};
/// About 100 rows a loss; the last is after all steps. Errors: Error(parameter) for sizes of 0, a rate that is not
/// positive.
std::vector<DescentRow> run_descent(const DescentOptions& options, const Execution& execution);
std::string draw_descent(const DescentOptions& options, const std::vector<DescentRow>& rows);

struct GradientQualityOptions {
  std::vector<std::uint64_t> sizes{10000};
  std::uint64_t dim = 3;
  std::vector<std::uint64_t> samples{1, 10, 100};  ///< of each row, and n times as many walks
  std::uint64_t seed = 1;
};

/// One gradient evaluation.
struct GradientQualityRow {
  std::uint64_t n = 0;
  std::string method;    ///< "exact float32", "sampled", "up-weighted"
  std::string gradient;  ///< "dQ", "dK", "dV"; empty for exact: all three at once
  std::uint64_t samples = 0;
  double seconds = 0.0;         ///< of the estimate
  double search_seconds = 0.0;  ///< of the neighbours, once for all three
  attention::GradientQuality quality;
};
/// Inputs as for cross-entropy at the start; k = sqrt(n) neighbours; against the exact kernel in float64.
std::vector<GradientQualityRow> run_gradient_quality(const GradientQualityOptions& options, const Execution& execution);

}  // namespace subquad::drivers
