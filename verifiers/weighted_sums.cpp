#include <subquad/verifiers/weighted_sums.hpp>

#include <algorithm>
#include <limits>
#include <new>
#include <vector>

// This file is included again by foreach_target.h, once per instruction set.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "weighted_sums.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include "weighted_sums-inl.hpp"
// clang-format on

#if HWY_ONCE

#include <hwy/aligned_allocator.h>

namespace subquad::verifiers {
namespace {

HWY_EXPORT(panel_keys);
HWY_EXPORT(weighted_sums);
HWY_EXPORT(weights);
HWY_EXPORT(target_name);

// Keys per block: its logits for kQueryBlock queries (60 KiB) stay in the second cache beside the keys themselves.
constexpr std::size_t kBlockKeys = 240;

using Buffer = hwy::AlignedFreeUniquePtr<double[]>;

Buffer zeros(std::size_t size) {
  Buffer buffer = hwy::AllocateAligned<double>(std::max<std::size_t>(size, 1));
  if (!buffer) throw std::bad_alloc();
  std::fill_n(buffer.get(), size, 0.0);
  return buffer;
}

std::size_t rounded_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

struct WeightedSums::Packed {
  std::size_t dim = 0;
  std::size_t num_keys = 0;
  std::size_t padded_keys = 0;
  std::size_t block_keys = 0;
  std::size_t value_dim = 0;
  std::size_t columns = 0;
  Buffer keys;
  Buffer values;
};

WeightedSums::WeightedSums(const problems::MatrixD& k, const problems::MatrixD& v)
    : packed_(std::make_unique<Packed>()) {
  Packed& p = *packed_;
  const std::size_t panel = HWY_DYNAMIC_DISPATCH(panel_keys)();
  p.dim = static_cast<std::size_t>(k.cols());
  p.num_keys = static_cast<std::size_t>(k.rows());
  p.padded_keys = rounded_up(p.num_keys, panel);
  p.block_keys = std::max<std::size_t>(1, kBlockKeys / panel) * panel;
  p.value_dim = static_cast<std::size_t>(v.cols());
  p.columns = rounded_up(1 + p.value_dim, 2);
  p.keys = zeros(p.padded_keys * p.dim);
  p.values = zeros(p.padded_keys * p.columns);
  for (std::size_t j = 0; j < p.num_keys; ++j) {
    const auto row = static_cast<Eigen::Index>(j);
    double* panel_column = p.keys.get() + j / panel * panel * p.dim + j % panel;
    for (std::size_t t = 0; t < p.dim; ++t) panel_column[t * panel] = k(row, static_cast<Eigen::Index>(t));
    p.values[j] = 1.0;
    for (std::size_t c = 0; c < p.value_dim; ++c) {
      p.values[(1 + c) * p.padded_keys + j] = v(row, static_cast<Eigen::Index>(c));
    }
  }
}

WeightedSums::~WeightedSums() = default;

std::uint64_t WeightedSums::summation_depth() const {
  return packed_->block_keys + (packed_->padded_keys - 1) / packed_->block_keys + 1;
}

void WeightedSums::evaluate(const double* queries, std::size_t count, double* sums, const std::size_t* visible) const {
  const Packed& p = *packed_;
  const std::size_t padded = rounded_up(count, kQueryTile);
  std::vector<std::size_t> seen(padded, visible == nullptr ? p.num_keys : 1);
  if (visible != nullptr) std::copy_n(visible, count, seen.begin());
  const Buffer query = zeros(padded * p.dim);
  const Buffer logits = zeros(padded * p.block_keys);
  const Buffer shift = zeros(padded);
  const Buffer padded_sums = zeros(padded * p.columns);
  std::copy_n(queries, count * p.dim, query.get());
  std::fill_n(shift.get(), padded, -std::numeric_limits<double>::infinity());
  HWY_DYNAMIC_DISPATCH(weighted_sums)
  ({.query = query.get(),
    .keys = p.keys.get(),
    .values = p.values.get(),
    .logits = logits.get(),
    .shift = shift.get(),
    .sums = padded_sums.get(),
    .queries = padded,
    .dim = p.dim,
    .visible = seen.data(),
    .seen_keys = padded == 0 ? 0 : *std::max_element(seen.begin(), seen.end()),
    .padded_keys = p.padded_keys,
    .block_keys = p.block_keys,
    .columns = p.columns});
  for (std::size_t row = 0; row < count; ++row) {
    std::copy_n(padded_sums.get() + row * p.columns, 1 + p.value_dim, sums + row * (1 + p.value_dim));
  }
}

const char* WeightedSums::target() {
  return HWY_DYNAMIC_DISPATCH(target_name)();
}

void WeightedSums::evaluate_weights(const double* logits, std::size_t count, double shift, double* weights) {
  HWY_DYNAMIC_DISPATCH(weights)(logits, count, shift, weights);
}

}  // namespace subquad::verifiers

#endif  // HWY_ONCE
