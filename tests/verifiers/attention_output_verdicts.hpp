// What the tests of the attention output verifier share: verdicts on one thread, and exact outputs rounded to doubles.
#pragma once

#include "attention_hundred_digits.hpp"

#include <subquad/core/execution.hpp>
#include <subquad/verifiers/attention_output.hpp>

#include <vector>

namespace subquad::test {

inline const Execution kOneThread = {.threads = 1};

inline verifiers::AttentionOutputReport verify(const problems::Attention::Instance& instance,
                                               const problems::MatrixD& output, double tolerance,
                                               const verifiers::AttentionOutputOptions& options = {}) {
  return verify_attention_output(instance, output, tolerance, options, kOneThread);
}

/// The exact outputs, each rounded to the nearest double.
inline problems::MatrixD rounded_truth(const problems::Attention::Instance& instance) {
  problems::MatrixD result(instance.q.rows(), instance.v.cols());
  for (Eigen::Index i = 0; i < result.rows(); ++i) {
    const std::vector<HundredDigits> row = attention_hundred_digits(instance, i);
    for (Eigen::Index c = 0; c < result.cols(); ++c) {
      result(i, c) = row[static_cast<std::size_t>(c)].value.convert_to<double>();
    }
  }
  return result;
}

}  // namespace subquad::test
