// Weighted sums, the part that is compiled once per instruction set. Named vectors rather than arrays of them, because
// scalable vectors (SVE, RVV) cannot stand in arrays.
//
// Nothing here relies on a fused multiply-add or on its absence: the proof allows both.
//
// Included once per target: the guard below toggles on purpose.
#if defined(SUBQUAD_VERIFIERS_WEIGHTED_SUMS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef SUBQUAD_VERIFIERS_WEIGHTED_SUMS_INL_HPP_
#undef SUBQUAD_VERIFIERS_WEIGHTED_SUMS_INL_HPP_
#else
#define SUBQUAD_VERIFIERS_WEIGHTED_SUMS_INL_HPP_
#endif

#include "weighted_sums_task.hpp"

#include <subquad/verifiers/weighted_sums.hpp>

#include <hwy/highway.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace subquad::verifiers {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<double>;
using Vector = hn::Vec<Tag>;

const char* target_name() {
  return hwy::TargetName(HWY_TARGET);
}

/// Keys per panel: three vectors, so that 4 x 3 accumulators and their operands fit sixteen registers.
std::size_t panel_keys() {
  return 3 * hn::Lanes(Tag());
}

/// Computes 2^(logit - shift): logit = n + f with n the nearest integer, then Taylor's polynomial in f, then an exact
/// multiplication by 2^(n - shift); 0 if n - shift < kSmallestExponent.
HWY_INLINE Vector weight(Vector logit, Vector shift) {
  const Tag d;
  const hn::RebindToUnsigned<Tag> bits;
  // Adding 1.5 * 2^52 rounds to an integer (|logit| <= 2^50) that then stands in the low bits of the significand.
  const auto rounder = hn::Set(d, 0x1.8p52);
  const auto nearest = hn::Sub(hn::Add(logit, rounder), rounder);
  const auto f = hn::Sub(logit, nearest);
  const auto exponent = hn::Sub(nearest, shift);
  auto polynomial = hn::Set(d, WeightedSums::kExp2Taylor[11]);
  polynomial = hn::MulAdd(polynomial, f, hn::Set(d, WeightedSums::kExp2Taylor[10]));
  polynomial = hn::MulAdd(polynomial, f, hn::Set(d, WeightedSums::kExp2Taylor[9]));
  polynomial = hn::MulAdd(polynomial, f, hn::Set(d, WeightedSums::kExp2Taylor[8]));
  polynomial = hn::MulAdd(polynomial, f, hn::Set(d, WeightedSums::kExp2Taylor[7]));
  polynomial = hn::MulAdd(polynomial, f, hn::Set(d, WeightedSums::kExp2Taylor[6]));
  polynomial = hn::MulAdd(polynomial, f, hn::Set(d, WeightedSums::kExp2Taylor[5]));
  polynomial = hn::MulAdd(polynomial, f, hn::Set(d, WeightedSums::kExp2Taylor[4]));
  polynomial = hn::MulAdd(polynomial, f, hn::Set(d, WeightedSums::kExp2Taylor[3]));
  polynomial = hn::MulAdd(polynomial, f, hn::Set(d, WeightedSums::kExp2Taylor[2]));
  polynomial = hn::MulAdd(polynomial, f, hn::Set(d, WeightedSums::kExp2Taylor[1]));
  polynomial = hn::MulAdd(polynomial, f, hn::Set(d, WeightedSums::kExp2Taylor[0]));
  // The biased exponent lands in the low bits of the same kind of sum, and the shift moves it into its field.
  const auto biased = hn::BitCast(bits, hn::Add(exponent, hn::Set(d, 0x1.8p52 + 1023)));
  const auto power = hn::BitCast(d, hn::ShiftLeft<52>(biased));
  return hn::IfThenElseZero(hn::Ge(exponent, hn::Set(d, kSmallestExponent)), hn::Mul(polynomial, power));
}

/// Logits of 4 queries (rows `stride` apart) with one panel of keys (dim x panel_keys); out: rows `out_stride` apart.
HWY_INLINE void logits_of_panel(const double* HWY_RESTRICT query, std::size_t dim, const double* HWY_RESTRICT panel,
                                double* HWY_RESTRICT out, std::size_t out_stride) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  const double* q0 = query;
  const double* q1 = q0 + dim;
  const double* q2 = q1 + dim;
  const double* q3 = q2 + dim;
  auto s00 = hn::Zero(d), s01 = s00, s02 = s00;
  auto s10 = s00, s11 = s00, s12 = s00;
  auto s20 = s00, s21 = s00, s22 = s00;
  auto s30 = s00, s31 = s00, s32 = s00;
  for (std::size_t t = 0; t < dim; ++t) {
    const auto k0 = hn::Load(d, panel);
    const auto k1 = hn::Load(d, panel + lanes);
    const auto k2 = hn::Load(d, panel + 2 * lanes);
    panel += 3 * lanes;
    const auto x0 = hn::Set(d, q0[t]);
    s00 = hn::MulAdd(x0, k0, s00);
    s01 = hn::MulAdd(x0, k1, s01);
    s02 = hn::MulAdd(x0, k2, s02);
    const auto x1 = hn::Set(d, q1[t]);
    s10 = hn::MulAdd(x1, k0, s10);
    s11 = hn::MulAdd(x1, k1, s11);
    s12 = hn::MulAdd(x1, k2, s12);
    const auto x2 = hn::Set(d, q2[t]);
    s20 = hn::MulAdd(x2, k0, s20);
    s21 = hn::MulAdd(x2, k1, s21);
    s22 = hn::MulAdd(x2, k2, s22);
    const auto x3 = hn::Set(d, q3[t]);
    s30 = hn::MulAdd(x3, k0, s30);
    s31 = hn::MulAdd(x3, k1, s31);
    s32 = hn::MulAdd(x3, k2, s32);
  }
  hn::Store(s00, d, out);
  hn::Store(s01, d, out + lanes);
  hn::Store(s02, d, out + 2 * lanes);
  out += out_stride;
  hn::Store(s10, d, out);
  hn::Store(s11, d, out + lanes);
  hn::Store(s12, d, out + 2 * lanes);
  out += out_stride;
  hn::Store(s20, d, out);
  hn::Store(s21, d, out + lanes);
  hn::Store(s22, d, out + 2 * lanes);
  out += out_stride;
  hn::Store(s30, d, out);
  hn::Store(s31, d, out + lanes);
  hn::Store(s32, d, out + 2 * lanes);
}

/// Turns `keys` logits into weights with the shift max(shift, ceil(largest logit)). Returns the new shift.
HWY_INLINE double weights_of_row(double* HWY_RESTRICT logits, std::size_t keys, double shift) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  auto largest = hn::Load(d, logits);
  for (std::size_t j = lanes; j < keys; j += lanes) largest = hn::Max(largest, hn::Load(d, logits + j));
  shift = std::fmax(shift, std::ceil(hn::GetLane(hn::MaxOfLanes(d, largest))));
  const auto shifts = hn::Set(d, shift);
  for (std::size_t j = 0; j < keys; j += lanes) hn::Store(weight(hn::Load(d, logits + j), shifts), d, logits + j);
  return shift;
}

/// sums[r * columns + c] += <weights of row r, column c> for 4 rows and columns c, c + 1.
HWY_INLINE void add_weighted_columns(const double* HWY_RESTRICT weights, std::size_t stride, std::size_t keys,
                                     const double* HWY_RESTRICT column, std::size_t column_stride,
                                     double* HWY_RESTRICT sums, std::size_t columns) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  auto s00 = hn::Zero(d), s01 = s00, s10 = s00, s11 = s00, s20 = s00, s21 = s00, s30 = s00, s31 = s00;
  for (std::size_t j = 0; j < keys; j += lanes) {
    const auto v0 = hn::Load(d, column + j);
    const auto v1 = hn::Load(d, column + column_stride + j);
    const auto w0 = hn::Load(d, weights + j);
    s00 = hn::MulAdd(w0, v0, s00);
    s01 = hn::MulAdd(w0, v1, s01);
    const auto w1 = hn::Load(d, weights + stride + j);
    s10 = hn::MulAdd(w1, v0, s10);
    s11 = hn::MulAdd(w1, v1, s11);
    const auto w2 = hn::Load(d, weights + 2 * stride + j);
    s20 = hn::MulAdd(w2, v0, s20);
    s21 = hn::MulAdd(w2, v1, s21);
    const auto w3 = hn::Load(d, weights + 3 * stride + j);
    s30 = hn::MulAdd(w3, v0, s30);
    s31 = hn::MulAdd(w3, v1, s31);
  }
  sums[0] += hn::GetLane(hn::SumOfLanes(d, s00));
  sums[1] += hn::GetLane(hn::SumOfLanes(d, s01));
  sums[columns] += hn::GetLane(hn::SumOfLanes(d, s10));
  sums[columns + 1] += hn::GetLane(hn::SumOfLanes(d, s11));
  sums[2 * columns] += hn::GetLane(hn::SumOfLanes(d, s20));
  sums[2 * columns + 1] += hn::GetLane(hn::SumOfLanes(d, s21));
  sums[3 * columns] += hn::GetLane(hn::SumOfLanes(d, s30));
  sums[3 * columns + 1] += hn::GetLane(hn::SumOfLanes(d, s31));
}

/// The exact factor 2^(old - new) of sums made with an older shift; 0 if they are below everything that counts.
HWY_INLINE double rescaling(double old_shift, double new_shift) {
  const double exponent = old_shift - new_shift;
  return exponent < kSmallestExponent ? 0.0 : std::ldexp(1.0, static_cast<int>(exponent));
}

void weighted_sums(const WeightedSumsTask& task) {
  const std::size_t panel = panel_keys();
  for (std::size_t begin = 0; begin < task.seen_keys; begin += task.block_keys) {
    const std::size_t keys = HWY_MIN(task.block_keys, task.padded_keys - begin);
    // A panel stays in the first cache while all queries of the block pass over it.
    for (std::size_t j = 0; j < keys; j += panel) {
      for (std::size_t row = 0; row < task.queries; row += kQueryTile) {
        logits_of_panel(task.query + row * task.dim, task.dim, task.keys + (begin + j) * task.dim,
                        task.logits + row * task.block_keys + j, task.block_keys);
      }
    }
    for (std::size_t row = 0; row < task.queries; ++row) {
      double* logits = task.logits + row * task.block_keys;
      for (std::size_t j = HWY_MAX(task.visible[row], begin); j < begin + keys; ++j) logits[j - begin] = kAbsentLogit;
      const double old_shift = task.shift[row];
      task.shift[row] = weights_of_row(logits, keys, old_shift);
      const double factor = rescaling(old_shift, task.shift[row]);
      for (std::size_t c = 0; c < task.columns; ++c) task.sums[row * task.columns + c] *= factor;
    }
    for (std::size_t row = 0; row < task.queries; row += kQueryTile) {
      for (std::size_t c = 0; c < task.columns; c += 2) {
        add_weighted_columns(task.logits + row * task.block_keys, task.block_keys, keys,
                             task.values + c * task.padded_keys + begin, task.padded_keys,
                             task.sums + row * task.columns + c, task.columns);
      }
    }
  }
}

void weights(const double* logits, std::size_t count, double shift, double* out) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN double buffer[HWY_MAX_BYTES / sizeof(double)] = {};
  for (std::size_t i = 0; i < count; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) buffer[lane] = i + lane < count ? logits[i + lane] : shift;
    hn::Store(weight(hn::Load(d, buffer), hn::Set(d, shift)), d, buffer);
    for (std::size_t lane = 0; lane < lanes && i + lane < count; ++lane) out[i + lane] = buffer[lane];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace subquad::verifiers
HWY_AFTER_NAMESPACE();

#endif
