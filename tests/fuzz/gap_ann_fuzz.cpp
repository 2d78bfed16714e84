// The .gap format and its answers under libFuzzer.
#include "reading.hpp"

#include <subquad/problems/gap_ann.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return subquad::fuzz::read_all<subquad::problems::GapAnn>(data, size);
}
