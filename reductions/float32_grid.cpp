#include "float32_grid.hpp"

#include <cmath>

namespace subquad::reductions {

double round_up_to_unit_grid(double x) {
  int exponent = 0;
  const double mantissa = std::frexp(x, &exponent);  // in [1/2, 1)
  return std::ldexp(std::ceil(std::ldexp(mantissa, kUnitBits)), exponent - kUnitBits);
}

double next_on_unit_grid(double x) {
  int exponent = 0;
  const double mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::ldexp(mantissa, kUnitBits) + 1.0, exponent - kUnitBits);
}

}  // namespace subquad::reductions
