// The experiments about nearest-neighbour attention as subcommands of `subquad experiment`.
#pragma once

#include "verb_command.hpp"

#include <functional>

namespace subquad::drivers {

/// Adds knn-error, knn-time, gradient-descent and gradient-quality. After parsing, the returned function runs the one
/// that was asked for; it returns false if none was.
std::function<bool()> add_neighbor_experiments(VerbCommand& command);

}  // namespace subquad::drivers
