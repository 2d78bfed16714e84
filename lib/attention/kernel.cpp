#include <subquad/attention/adaptive_top_k.hpp>
#include <subquad/attention/kernel.hpp>
#include <subquad/attention/low_rank.hpp>
#include <subquad/attention/rigorous_softmax.hpp>
#include <subquad/attention/streaming_softmax.hpp>
#include <subquad/core/error.hpp>

#include <array>
#include <cmath>

namespace subquad::attention {
namespace {

using problems::Attention;

Attention::Answer run_exact_masked(const Attention::Instance& instance, const problems::AttentionMask& mask,
                                   const Execution& execution) {
  problems::validate(instance);
  return {streaming_softmax(instance.q, instance.k, instance.v, instance.scale, execution, mask), {}};
}

Attention::Answer run_exact(const Attention::Instance& instance, const Execution& execution) {
  return run_exact_masked(instance, problems::AttentionMask::none(), execution);
}

Attention::Answer run_exact_f32_masked(const Attention::Instance& instance, const problems::AttentionMask& mask,
                                       const Execution& execution) {
  problems::validate(instance);
  return {streaming_softmax_in_float32(instance.q, instance.k, instance.v, instance.scale, execution, mask), {}};
}

Attention::Answer run_exact_f32(const Attention::Instance& instance, const Execution& execution) {
  return run_exact_f32_masked(instance, problems::AttentionMask::none(), execution);
}

/// The number in the middle of an enclosure of its logarithm; 0 where the enclosure reaches down to -inf.
double middle(const Attention::LogEnclosure& enclosure) {
  return std::exp(enclosure.log_low + (enclosure.log_high - enclosure.log_low) / 2);
}

/// The oracle encloses one column; the others are put in its place one by one.
Attention::Answer rigorous_softmax(const Attention::Instance& instance, const Execution& execution) {
  problems::validate(instance);
  require(instance.q.rows() == 0 || instance.v.cols() > 0, ErrorKind::parameter,
          "attention: the rigorous kernel encloses the first column of V, but V has none");
  Attention::Answer answer;
  answer.output.resize(instance.q.rows(), instance.v.cols());
  Attention::Instance one_column = instance;
  for (Eigen::Index c = 0; c < instance.v.cols(); ++c) {
    one_column.v = instance.v.col(c);
    std::vector<Attention::LogEnclosure> enclosures = log_softmax_enclosures(one_column, 128, execution);
    for (Eigen::Index i = 0; i < instance.q.rows(); ++i) {
      const Attention::LogEnclosure& enclosure = enclosures[static_cast<std::size_t>(i)];
      answer.output(i, c) = std::isinf(enclosure.log_low) ? 0.0 : middle(enclosure);
    }
    if (c == 0) answer.log_column = std::move(enclosures);
  }
  return answer;
}

Attention::Answer run_low_rank(const Attention::Instance& instance, const Execution& execution) {
  return {low_rank_attention(instance, LowRankArithmetic::float64, execution).output, {}};
}

Attention::Answer run_low_rank_f32(const Attention::Instance& instance, const Execution& execution) {
  return {low_rank_attention(instance, LowRankArithmetic::float32, execution).output, {}};
}

Attention::Answer run_knn(const Attention::Instance& instance, const Execution& execution) {
  const double tolerance = std::exp(instance.log_tolerance);
  require(tolerance > 0, ErrorKind::unsupported, "knn: eps_a = e^({}) is below every double", instance.log_tolerance);
  return {adaptive_top_k_attention(instance, tolerance, ann::Arithmetic::float32, execution).output, {}};
}

const std::array<Kernel, 6>& table() {
  static const std::array<Kernel, 6> kernels{
      Kernel{"exact", "float64", "streaming softmax in float64", false, run_exact, run_exact_masked},
      Kernel{"exact-f32", "float32", "streaming softmax in float32; rounds the instance's entries to float32", false,
             run_exact_f32, run_exact_f32_masked},
      Kernel{"rigorous", "MPFR intervals",
             "proved enclosures of ln u_i by MPFR interval arithmetic; for small instances", true, rigorous_softmax},
      Kernel{"low-rank", "float64", "a certified polynomial for exp (AS23); within the instance's eps_a, or refused",
             false, run_low_rank},
      Kernel{"low-rank-f32", "float32", "the same in float32; refused where rounding alone may exceed eps_a", false,
             run_low_rank_f32},
      Kernel{"knn", "float64", "the best keys of each query, as many as the instance's eps_a needs, by certificate",
             false, run_knn}};
  return kernels;
}

}  // namespace

std::span<const Kernel> kernels() {
  return table();
}

const Kernel& kernel(std::string_view name) {
  std::string names;
  for (const Kernel& candidate : table()) {
    if (candidate.name == name) return candidate;
    names += (names.empty() ? "" : ", ") + candidate.name;
  }
  fail(ErrorKind::parameter, "no kernel is called '{}'; there are: {}", name, names);
}

}  // namespace subquad::attention
