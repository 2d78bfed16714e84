// Sizes in JSON: numbers while a double holds them exactly, strings of digits beyond.
#pragma once

#include <subquad/core/count.hpp>
#include <subquad/core/problem.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>

namespace subquad::drivers {

/// Returns a number if x < 2^53, else its decimal digits as a string (JSON readers use doubles).
inline nlohmann::ordered_json count_json(const Count& x) {
  if (x < (Count(1) << 53)) return x.convert_to<std::uint64_t>();
  return x.str();
}

/// Returns one member a size field.
inline nlohmann::ordered_json sizes_json(const Sizes& sizes) {
  nlohmann::ordered_json result = nlohmann::ordered_json::object();
  for (const auto& [name, value] : sizes) result[name] = count_json(value);
  return result;
}

}  // namespace subquad::drivers
