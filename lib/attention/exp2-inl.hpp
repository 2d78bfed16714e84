// Vector 2^x for x <= 0: the weight function of the softmax kernels.
//
// Lanes     float, double
// Range     x in [-inf, 0]; below -125 (float) or -1021 (double) the result is 0, so that no weight is ever subnormal
// Accuracy  relative error below 1 ulp (2^-23 resp. 2^-52), an estimate: 0.72 ulp measured with FMA, 0.90 without, over
//           every 17th float in range and three million doubles; exact for integers, so 2^0 = 1
// Method    x = n + f with |f| <= 1/2 by the round-to-nearest shifter; minimax polynomial 1 + f R(f) of degree 6 or 11
//           (relative errors 2.1e-8 and 4.2e-17 with the coefficients rounded); n is added to the exponent field.
//           Degree 5 in float has a relative error of 4.3e-7 once 2^0 = 1 is demanded; the sixth term costs one FMA.
//
// Included once per SIMD target: the guard below toggles on purpose.
#if defined(SUBQUAD_ATTENTION_EXP2_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef SUBQUAD_ATTENTION_EXP2_INL_HPP_
#undef SUBQUAD_ATTENTION_EXP2_INL_HPP_
#else
#define SUBQUAD_ATTENTION_EXP2_INL_HPP_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace subquad::attention::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp2_polynomial(D d, V f, float) {
  V p = hn::Set(d, 0x1.470b48p-13f);
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.5f7276p-10f));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.3b270ep-7f));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.c6ae72p-5f));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.ebfbe2p-3f));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.62e432p-1f));
  return hn::MulAdd(p, f, hn::Set(d, 1.0f));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp2_polynomial(D d, V f, double) {
  V p = hn::Set(d, 0x1.c063841f3a21dp-32);
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.e605f964b639dp-28));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.b54167a1b0034p-24));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.62bfd49ededd3p-20));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.ffcbee3b0a61cp-17));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.43091309610fcp-13));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.5d87fe7bbbe09p-10));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.3b2ab6fba1e1cp-7));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.c6b08d7048f31p-5));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.ebfbdff82c598p-3));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.62e42fefa39f3p-1));
  return hn::MulAdd(p, f, hn::Set(d, 1.0));
}

/// Constants of the shifter: adding it rounds to an integer, which then stands in the low bits of the significand.
template <class T>
struct Exp2Constants;
template <>
struct Exp2Constants<float> {
  static constexpr float kShifter = 0x1.8p23f;
  static constexpr float kSmallest = -125.0f;
  static constexpr int kSignificandBits = 23;
};
template <>
struct Exp2Constants<double> {
  static constexpr double kShifter = 0x1.8p52;
  static constexpr double kSmallest = -1021.0;
  static constexpr int kSignificandBits = 52;
};

/// Returns 2^x in every lane. Lanes below kSmallest pass through the polynomial as garbage and are cleared at the end.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp2_nonpositive(D d, V x) {
  using T = hn::TFromD<D>;
  using C = Exp2Constants<T>;
  const hn::RebindToUnsigned<D> bits;
  const V shifter = hn::Set(d, C::kShifter);
  const V shifted = hn::Add(x, shifter);
  const V f = hn::Sub(x, hn::Sub(shifted, shifter));
  const V p = exp2_polynomial(d, f, T{});
  const auto exponent = hn::ShiftLeft<C::kSignificandBits>(hn::BitCast(bits, shifted));
  const V scaled = hn::BitCast(d, hn::Add(hn::BitCast(bits, p), exponent));
  return hn::IfThenElseZero(hn::Ge(x, hn::Set(d, C::kSmallest)), scaled);
}

}  // namespace subquad::attention::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SUBQUAD_ATTENTION_EXP2_INL_HPP_
