// Generated instances: an instance together with what its generator knows about the answer.
#pragma once

#include <optional>

namespace subquad::problems {

/// An instance of the problem P from a generator.
template <class P>
struct Generated {
  typename P::Instance instance;
  /// A right answer that the construction guarantees; empty if the generator does not know one.
  std::optional<typename P::Answer> known;
};

}  // namespace subquad::problems
