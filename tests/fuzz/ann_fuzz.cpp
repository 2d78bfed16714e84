// The .ann format and its answers under libFuzzer.
#include "reading.hpp"

#include <subquad/problems/approximate_nearest_neighbor.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return subquad::fuzz::read_all<subquad::problems::ApproximateNearestNeighbor>(data, size);
}
