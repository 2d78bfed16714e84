// Hamming gadgets: codes f, g of one bit into L bits with distance c, and c + delta exactly when both bits are 1.
//
// Claim OV.HAM.GADGET  (ours, by enumeration; docs/reductions/ov_to_gap_ann.md)
//   for    L >= 1 and f, g: {0,1} -> {0,1}^L with dist(f(x), g(y)) = c for (x,y) != (1,1), and c + delta for (1,1)
//   then   delta <= 2c; L = 3 with c = 1, delta = 2 attains it, and no L < 3 has any gadget with delta > 0
//   check  tests/reductions/hamming_gadgets_test.cpp re-derives the table for L <= 6
// Notes     delta <= 2c: f(1), g(0), f(0), g(1) is a path of three steps of length c, so its ends are within 3c. The
//           same argument holds in every metric.
#pragma once

#include <cstdint>
#include <vector>

namespace subquad::reductions {

/// A gadget of L bits. A code word's bit k is written at position L-1-k, so that 0b001 reads like the string "001".
struct HammingGadget {
  unsigned length = 0;  ///< L
  std::uint32_t f0 = 0, f1 = 0, g0 = 0, g1 = 0;

  friend bool operator==(const HammingGadget&, const HammingGadget&) = default;
};

/// The gadget of the reduction OV -> GapANN: f(0) = 001, f(1) = 010; g(0) = 011, g(1) = 101. c = 1, delta = 2, and each
/// side's code words have equal weight.
inline constexpr HammingGadget kOvGadget{3, 0b001, 0b010, 0b011, 0b101};

/// The bitwise complement: same distances, weights L - w.
constexpr HammingGadget complement(const HammingGadget& gadget) {
  const std::uint32_t mask = (std::uint32_t{1} << gadget.length) - 1;
  return {gadget.length, gadget.f0 ^ mask, gadget.f1 ^ mask, gadget.g0 ^ mask, gadget.g1 ^ mask};
}

/// The distances of a gadget: `base` (c) off (1,1), `base + gap` (c + delta) at (1,1).
struct GadgetDistances {
  unsigned base = 0;
  unsigned gap = 0;
  friend auto operator<=>(const GadgetDistances&, const GadgetDistances&) = default;
};

/// Measures a gadget. Returns false if the three distances off (1,1) differ or (1,1) is not farther.
bool measure(const HammingGadget& gadget, GadgetDistances& distances);

/// All pairs (c, delta) that gadgets of exactly `length` bits attain, ascending, by trying all codes with f(0) = 0...0
/// (which is no restriction: XOR with f(0) keeps distances). O(8^length). 1 <= length <= 8, else Error(parameter).
std::vector<GadgetDistances> attainable_distances(unsigned length);

/// All gadgets of `length` bits with these distances whose sides have constant weight (|f(0)| = |f(1)|, |g(0)| =
/// |g(1)|). O(16^length). 1 <= length <= 6, else Error(parameter).
std::vector<HammingGadget> constant_weight_gadgets(unsigned length, GadgetDistances distances);

}  // namespace subquad::reductions
