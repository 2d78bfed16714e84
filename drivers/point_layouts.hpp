// Point layouts: how the queries, keys and values of the experiments lie.
#pragma once

#include <subquad/core/random.hpp>
#include <subquad/problems/attention.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace subquad::drivers {

/// uniform: entries uniform in [-b, b] (H25's inputs). clustered: 32 centres, uniform in [-b, b], shared by queries and
/// keys, and noise of b/10. heavy-tailed: entries b/10 times Student's t with 2 degrees of freedom, cut at +-10 b.
enum class PointLayout { uniform, clustered, heavy_tailed };

std::string to_string(PointLayout layout);
/// Throws Error(parameter) for an unknown name.
PointLayout parse_layout(const std::string& name);

/// Queries, keys (n x d) in the layout and values (n x d) uniform in [-b, b]; scale 1/sqrt(d).
problems::Attention::Instance layout_instance(PointLayout layout, std::uint64_t n, std::uint64_t dim, double bound,
                                              const Random& random);

}  // namespace subquad::drivers
