// Target answers of the battery: what a correct oracle may say, and what only a wrong one says.
#pragma once

#include <subquad/core/random.hpp>
#include <subquad/reductions/registry.hpp>

#include <string_view>
#include <vector>

namespace subquad::battery {

/// Answers that a correct oracle may give to this instance:
///   ov, p-ov   every witness (at most 64, spread out), or "none" if there is none
///   gap-ann    outside the promise all near, all far, and random mixtures
///   attention  the exact output; the output shifted by the whole allowed error towards 1/2; random errors within it.
///              Where the allowed error is below what doubles show: enclosures of the logarithms, tight and widened
/// Empty for a problem that the battery does not know.
std::vector<reductions::AnyAnswer> valid_answers(const reductions::AnyInstance& instance, Random& random);

/// Answers that claim too much: a pair or tuple that is not orthogonal or does not exist, a far row flagged near, an
/// output of 1 everywhere. Possibly none, if every claim would be right.
std::vector<reductions::AnyAnswer> wrong_answers(const reductions::AnyInstance& instance, Random& random);

/// One of valid_answers, at random, anew on every call.
reductions::AnyAnswer some_valid_answer(const reductions::AnyInstance& instance, Random& random);

}  // namespace subquad::battery
