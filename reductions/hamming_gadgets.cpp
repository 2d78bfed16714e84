#include <subquad/core/error.hpp>
#include <subquad/reductions/hamming_gadgets.hpp>

#include <bit>
#include <set>

namespace subquad::reductions {

namespace {

unsigned distance(std::uint32_t a, std::uint32_t b) {
  return static_cast<unsigned>(std::popcount(a ^ b));
}

}  // namespace

bool measure(const HammingGadget& gadget, GadgetDistances& distances) {
  const unsigned base = distance(gadget.f0, gadget.g0);
  if (distance(gadget.f0, gadget.g1) != base || distance(gadget.f1, gadget.g0) != base) return false;
  const unsigned top = distance(gadget.f1, gadget.g1);
  if (top <= base) return false;
  distances = {base, top - base};
  return true;
}

std::vector<GadgetDistances> attainable_distances(unsigned length) {
  require(length >= 1 && length <= 8, ErrorKind::parameter, "gadgets of {} bits, expected 1..8", length);
  const std::uint32_t words = std::uint32_t{1} << length;
  std::set<GadgetDistances> found;
  GadgetDistances distances;
  for (std::uint32_t f1 = 0; f1 < words; ++f1)
    for (std::uint32_t g0 = 0; g0 < words; ++g0)
      for (std::uint32_t g1 = 0; g1 < words; ++g1)
        if (measure({length, 0, f1, g0, g1}, distances)) found.insert(distances);
  return {found.begin(), found.end()};
}

std::vector<HammingGadget> constant_weight_gadgets(unsigned length, GadgetDistances distances) {
  require(length >= 1 && length <= 6, ErrorKind::parameter, "gadgets of {} bits, expected 1..6", length);
  const std::uint32_t words = std::uint32_t{1} << length;
  std::vector<HammingGadget> found;
  for (std::uint32_t f0 = 0; f0 < words; ++f0) {
    for (std::uint32_t f1 = 0; f1 < words; ++f1) {
      if (std::popcount(f0) != std::popcount(f1)) continue;
      for (std::uint32_t g0 = 0; g0 < words; ++g0) {
        for (std::uint32_t g1 = 0; g1 < words; ++g1) {
          if (std::popcount(g0) != std::popcount(g1)) continue;
          const HammingGadget gadget{length, f0, f1, g0, g1};
          GadgetDistances measured;
          if (measure(gadget, measured) && measured == distances) found.push_back(gadget);
        }
      }
    }
  }
  return found;
}

}  // namespace subquad::reductions
