// Minimal degrees of polynomials for e^x, as published: what the certified search must find, cell by cell.
#pragma once

#include <array>

namespace subquad::test {

/// One interval: R for the relative error on [-R, R], B for the absolute error on [0, B].
struct DegreeRow {
  const char* size;
  std::array<int, 9> degrees;  ///< one for each of kDegreeEpsilons
};

inline constexpr std::array<const char*, 9> kDegreeEpsilons{"1e-1", "1e-2",  "1e-3",  "1e-4", "1e-6",
                                                            "1e-8", "1e-10", "1e-12", "1e-16"};

/// Relative error on [-R, R].
inline constexpr std::array<DegreeRow, 11> kRelativeDegrees{{
    {"0.25", {1, 2, 2, 3, 4, 6, 7, 8, 10}},
    {"0.5", {1, 2, 3, 4, 5, 7, 8, 9, 12}},
    {"1", {2, 3, 4, 5, 7, 9, 10, 12, 14}},
    {"2", {3, 5, 6, 7, 9, 11, 13, 15, 18}},
    {"3", {4, 6, 8, 9, 11, 13, 15, 17, 21}},
    {"4", {6, 7, 9, 10, 13, 15, 17, 19, 23}},
    {"6", {8, 10, 12, 13, 16, 19, 21, 23, 28}},
    {"9", {11, 13, 15, 17, 20, 23, 26, 29, 33}},
    {"12", {14, 17, 19, 21, 24, 28, 31, 33, 38}},
    {"16", {18, 21, 24, 26, 30, 33, 36, 39, 45}},
    {"25", {28, 31, 34, 36, 41, 45, 48, 52, 58}},
}};

/// Absolute error on [0, B].
inline constexpr std::array<DegreeRow, 6> kAbsoluteDegrees{{
    {"1", {2, 2, 3, 4, 6, 7, 8, 9, 12}},
    {"2", {3, 4, 5, 6, 7, 9, 10, 12, 15}},
    {"4", {5, 6, 7, 8, 10, 12, 14, 15, 19}},
    {"8", {9, 10, 12, 13, 15, 17, 19, 21, 25}},
    {"16", {18, 19, 21, 22, 24, 27, 29, 31, 36}},
    {"32", {35, 37, 38, 40, 42, 45, 48, 50, 55}},
}};

}  // namespace subquad::test
