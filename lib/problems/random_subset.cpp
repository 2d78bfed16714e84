#include "random_subset.hpp"

#include <subquad/core/error.hpp>

#include <numeric>
#include <set>

namespace subquad::problems {

std::vector<std::uint64_t> random_subset(std::uint64_t size, std::uint64_t count, Random& random) {
  require(count <= size, ErrorKind::parameter, "a subset of {} elements out of {}", count, size);
  // Floyd's method: every subset of the given size is equally likely, and each element costs one draw.
  std::set<std::uint64_t> chosen;
  for (std::uint64_t top = size - count; top < size; ++top) {
    const std::uint64_t draw = random.below(top + 1);
    if (!chosen.insert(draw).second) chosen.insert(top);
  }
  return {chosen.begin(), chosen.end()};
}

std::vector<std::uint64_t> identity(std::uint64_t size) {
  std::vector<std::uint64_t> values(size);
  std::iota(values.begin(), values.end(), std::uint64_t{0});
  return values;
}

}  // namespace subquad::problems
