// GapANN instances for tests: random with planted distances, adversarial, and the promise from its definition.
#pragma once

#include "bit_matrices.hpp"

#include <subquad/core/random.hpp>
#include <subquad/problems/gap_ann.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace subquad::test {

enum class Row { near, far, outside };

/// From the definition, coordinate by coordinate.
inline Row promise_of(const problems::GapAnn::Instance& gap, std::uint64_t i) {
  bool all_far = true;
  for (std::uint64_t j = 0; j < gap.keys.rows(); ++j) {
    std::int64_t distance = 0;
    for (std::uint64_t c = 0; c < gap.keys.cols(); ++c) distance += gap.queries.get(i, c) != gap.keys.get(j, c) ? 1 : 0;
    if (distance <= gap.r_yes) return Row::near;
    all_far = all_far && distance >= gap.r_no;
  }
  return all_far ? Row::far : Row::outside;
}

struct GapShape {
  std::uint64_t num_queries = 0;
  std::uint64_t num_keys = 0;
  std::uint64_t dim = 0;
  std::int64_t r_yes = 0;
  std::int64_t r_no = 1;
};

/// Random keys; each query is a random key (or 0) with exactly r_yes, r_no, or a random number of coordinates flipped.
inline problems::GapAnn::Instance random_gap(Random& random, const GapShape& shape) {
  problems::GapAnn::Instance gap{BitMatrix(shape.num_queries, shape.dim), BitMatrix(shape.num_keys, shape.dim),
                                 shape.r_yes, shape.r_no};
  for (std::uint64_t j = 0; j < shape.num_keys; ++j)
    for (std::uint64_t c = 0; c < shape.dim; ++c) gap.keys.set(j, c, random.bernoulli(0.5));
  for (std::uint64_t i = 0; i < shape.num_queries; ++i) {
    const std::uint64_t j = shape.num_keys == 0 ? 0 : random.below(shape.num_keys);
    for (std::uint64_t c = 0; c < shape.dim && shape.num_keys != 0; ++c) gap.queries.set(i, c, gap.keys.get(j, c));
    const std::uint64_t kind = random.below(3);
    const std::int64_t wanted = kind == 0   ? shape.r_yes
                                : kind == 1 ? shape.r_no
                                            : static_cast<std::int64_t>(random.below(shape.dim + 1));
    std::uint64_t flips =
        std::min<std::uint64_t>(static_cast<std::uint64_t>(std::max<std::int64_t>(wanted, 0)), shape.dim);
    for (std::uint64_t c = 0; c < shape.dim; ++c) {  // uniform subset of that size
      if (random.below(shape.dim - c) >= flips) continue;
      gap.queries.set(i, c, !gap.queries.get(i, c));
      --flips;
    }
  }
  return gap;
}

/// One query with one key at exactly r_yes; the other keys are the opposite point: the weakest near row there is.
inline problems::GapAnn::Instance weakest_near(std::uint64_t num_keys, std::uint64_t dim, std::int64_t r_yes,
                                               std::int64_t r_no) {
  problems::GapAnn::Instance gap{BitMatrix(1, dim), BitMatrix(num_keys, dim), r_yes, r_no};
  for (std::uint64_t j = 0; j < num_keys; ++j)
    for (std::uint64_t c = 0; c < dim; ++c)
      gap.keys.set(j, c, j != num_keys / 2 || c < static_cast<std::uint64_t>(r_yes));
  return gap;
}

/// One query with every key at exactly r_no, in different directions: the strongest far row there is.
inline problems::GapAnn::Instance strongest_far(std::uint64_t num_keys, std::uint64_t dim, std::int64_t r_yes,
                                                std::int64_t r_no) {
  problems::GapAnn::Instance gap{BitMatrix(1, dim), BitMatrix(num_keys, dim), r_yes, r_no};
  for (std::uint64_t j = 0; j < num_keys; ++j)
    for (std::uint64_t c = 0; c < static_cast<std::uint64_t>(r_no); ++c) gap.keys.set(j, (j + c) % dim, true);
  return gap;
}

}  // namespace subquad::test
