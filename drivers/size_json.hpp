// Numbers in JSON: sizes beyond 2^53 are strings of digits, NaN and infinities are strings.
#pragma once

#include <subquad/core/count.hpp>
#include <subquad/core/problem.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>

namespace subquad::drivers {

/// Returns a number if x < 2^53, else its decimal digits as a string (JSON readers use doubles).
inline nlohmann::ordered_json count_json(const Count& x) {
  if (x < (Count(1) << 53)) return x.convert_to<std::uint64_t>();
  return x.str();
}

/// Returns a number if x is one, else "nan", "inf" or "-inf".
inline nlohmann::ordered_json number_json(double x) {
  if (std::isfinite(x)) return x;
  return fmt::format("{}", x);
}

/// Returns one member a size field.
inline nlohmann::ordered_json sizes_json(const Sizes& sizes) {
  nlohmann::ordered_json result = nlohmann::ordered_json::object();
  for (const auto& [name, value] : sizes) result[name] = count_json(value);
  return result;
}

}  // namespace subquad::drivers
