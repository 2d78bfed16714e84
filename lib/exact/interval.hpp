// Intervals: rigorous enclosures of real numbers over MPFR with directed rounding.
#pragma once

#include <mpfr.h>

namespace subquad::exact {}  // namespace subquad::exact
