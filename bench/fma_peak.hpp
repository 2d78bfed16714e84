// The machine's limit for matrix products: fused multiply-adds that depend on nothing but registers.
#pragma once

namespace subquad::bench {

/// Measures how many floating-point operations (two an FMA) all `threads` together do in a second, on the widest
/// vectors that the machine has. Scalar is float or double. Takes about 30 ms.
template <class Scalar>
double fma_peak_flops(int threads);

}  // namespace subquad::bench
