// Weighted sums: the double arithmetic under the attention verifier, in tiles, for the machine's best instruction set.
//
// For base-2 logits y_j = <query, key_j> it computes 2^-M * sum_j 2^(y_j) v_jc for each column c of v, and the same
// with v = 1, where M is the ceiling of the largest computed y_j of the query. What is promised about the rounding is
// in the constants below; the error bound that rests on them is proved in docs/proofs/attention_output.md.
#pragma once

#include <subquad/problems/attention.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace subquad::verifiers {

/// Keys and values packed for the vector code. Immutable, shared by threads.
class WeightedSums {
 public:
  /// Relative error of the computed 2^y against 2^(computed y), y the computed logit (lemma 2 of the proof).
  static constexpr double kExp2RelativeError = 0x1p-45;
  /// A weight below this (in units of 2^M) may be replaced by 0 (lemma 3).
  static constexpr double kDroppedWeight = 0x1p-999;
  /// Computed logits must not be larger in absolute value: 2^y is split exactly up to here.
  static constexpr double kLargestLogit = 0x1p40;
  /// So many queries share one pass over the keys: the unit of work.
  static constexpr std::size_t kQueryBlock = 32;
  /// Taylor coefficients ln(2)^i / i!, each rounded to nearest.
  static constexpr std::array<double, 12> kExp2Taylor = {
      1.0,
      0x1.62e42fefa39efp-1,
      0x1.ebfbdff82c58fp-3,
      0x1.c6b08d704a0c0p-5,
      0x1.3b2ab6fba4e77p-7,
      0x1.5d87fe78a6731p-10,
      0x1.430912f86c787p-13,
      0x1.ffcbfc588b0c7p-17,
      0x1.62c0223a5c824p-20,
      0x1.b5253d395e7c4p-24,
      0x1.e4cf5158b8ecap-28,
      0x1.e8cac7351bb25p-32,
  };

  /// k: n_k x d, v: n_k x d_v, n_k >= 1. Copies both: 8 n_k (d + d_v + 2) bytes and a little padding.
  WeightedSums(const problems::MatrixD& k, const problems::MatrixD& v);
  ~WeightedSums();
  WeightedSums(const WeightedSums&) = delete;
  WeightedSums& operator=(const WeightedSums&) = delete;

  /// Returns h: the computed sums add each term in at most h roundings of additions (lemma 3).
  std::uint64_t summation_depth() const;

  /// queries: count x d, sums: count x (1 + d_v): the sum of weights, then one weighted sum per column. Both row-major.
  /// count <= kQueryBlock. Each computed logit must be at most kLargestLogit in absolute value.
  /// visible: count numbers, or null for all keys: only the first visible[r] keys count for query r, 1 <= visible[r] <=
  /// n_k. The weights of the others are 0, so all promises hold for the sums over the first visible[r] keys.
  void evaluate(const double* queries, std::size_t count, double* sums, const std::size_t* visible = nullptr) const;

  /// Name of the instruction set in use ("AVX3", "SSE2", ..).
  static const char* target();

  /// weights[i] = the computed 2^(logits[i] - shift), by the vector code of `evaluate`; shift an integer >= each logit.
  /// For tests of lemma 2.
  static void evaluate_weights(const double* logits, std::size_t count, double shift, double* weights);

 private:
  struct Packed;
  std::unique_ptr<Packed> packed_;
};

}  // namespace subquad::verifiers
