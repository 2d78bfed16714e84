// The .pov format and its answers under libFuzzer.
#include "reading.hpp"

#include <subquad/problems/orthogonal_tuples.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return subquad::fuzz::read_all<subquad::problems::OrthogonalTuples>(data, size);
}
