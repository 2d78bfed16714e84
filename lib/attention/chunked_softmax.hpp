// Chunked attention: exact softmax attention inside each part of a given partition of the tokens, as in Reformer with
// buckets that do not depend on the input.
#pragma once

#include <subquad/core/execution.hpp>
#include <subquad/problems/attention.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace subquad::attention {

/// Token i attends to exactly the tokens j with part_of[j] = part_of[i]: row i is the softmax average of their values.
///
/// L layers of it with parts of at most B tokens depend on at most B^L inputs a token, as long as the parts do not
/// depend on the input (L25.E3); stride_digit_parts attains that.
///
/// Shapes   self-attention: instance.q, k: n x d, v: n x d_v; part_of: n labels, any numbers; part_of[i] = part_of[j]
///          iff the tokens are in one part
/// Order    within a part, tokens ascending: the row of a token is a function of its part's rows and nothing else, to
///          the last bit
/// Ranges   as streaming_softmax, which computes each part
/// Threads  over parts, and inside a part if there is only one; the result does not depend on their number
/// Cost     O(sum over parts of size^2 (d + d_v)) time; memory of a copy of the parts in work
/// Errors   Error(parameter) for shapes; Error(interrupted)
problems::MatrixD chunked_softmax(const problems::Attention::Instance& instance, std::span<const std::uint64_t> part_of,
                                  const Execution& execution = {});

/// Parts of tokens whose indices differ in digit `digit` of their base-`base` representation only (digit 0: the last):
/// consecutive tokens for digit 0, stride base^digit in general; every part has at most `base` tokens. base >= 2, else
/// Error(parameter).
std::vector<std::uint64_t> stride_digit_parts(std::uint64_t num_tokens, std::uint64_t base, std::uint64_t digit);

}  // namespace subquad::attention
