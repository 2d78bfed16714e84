// Attention matrices: the shapes that the reductions to attention fill, checked before anything is allocated.
#pragma once

#include <subquad/core/count.hpp>
#include <subquad/core/error.hpp>
#include <subquad/problems/attention.hpp>

#include <cstdint>
#include <limits>

namespace subquad::reductions {

/// Rows that a thread writes at a time.
inline constexpr std::uint64_t kRowBlock = 256;

/// Returns zero matrices with one value column. Throws Error(resource), with the sizes, beyond the address space.
inline problems::Attention::Instance zero_attention_instance(std::uint64_t num_queries, std::uint64_t num_keys,
                                                             std::uint64_t dim) {
  constexpr auto kMostEntries = static_cast<std::uint64_t>(std::numeric_limits<Eigen::Index>::max()) / sizeof(double);
  for (const std::uint64_t rows : {num_queries, num_keys}) {
    require(dim == 0 || rows <= kMostEntries / dim, ErrorKind::resource,
            "an attention matrix of {} x {} doubles is too large", rows, dim);
  }
  problems::Attention::Instance instance;
  const auto index = [](std::uint64_t x) { return static_cast<Eigen::Index>(x); };
  instance.q = problems::MatrixD::Zero(index(num_queries), index(dim));
  instance.k = problems::MatrixD::Zero(index(num_keys), index(dim));
  instance.v = problems::MatrixD::Zero(index(num_keys), 1);
  return instance;
}

/// Throws Error(parameter) unless the target has the sizes that a reduction gave it.
inline void require_made_from(const problems::Attention::Instance& target, std::uint64_t num_queries,
                              std::uint64_t num_keys, std::uint64_t dim) {
  const auto rows = [](const problems::MatrixD& m) { return static_cast<std::uint64_t>(m.rows()); };
  require(
      rows(target.q) == num_queries && rows(target.k) == num_keys && static_cast<std::uint64_t>(target.q.cols()) == dim,
      ErrorKind::parameter,
      "the attention instance ({} queries, {} keys, dim {}) was not made from this source ({}, {}, {})", rows(target.q),
      rows(target.k), target.q.cols(), num_queries, num_keys, dim);
}

}  // namespace subquad::reductions
