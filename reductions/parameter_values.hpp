// Parameter values: text -> typed values for the parse() functions of the reductions, with one wording of their errors.
#pragma once

#include <subquad/reductions/reduction.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace subquad::reductions {

/// The values given for one reduction, looked up by name. Refers to its arguments, which must outlive it.
class ParameterReader {
 public:
  /// Throws Error(parameter), with the nearest known name, if `values` has a name that `specs` does not.
  ParameterReader(std::string_view reduction, const std::vector<ParameterSpec>& specs, const ParameterValues& values);

  /// The text given for `name`, or its default.
  const std::string& text(std::string_view name) const;
  /// "true" or "false", else Error(parameter).
  bool boolean(std::string_view name) const;
  /// A decimal integer in [low, high], else Error(parameter).
  std::uint64_t integer(std::string_view name, std::uint64_t low, std::uint64_t high) const;
  /// Throws Error(parameter): "REDUCTION: NAME = VALUE, expected RANGE".
  [[noreturn]] void refuse(std::string_view name) const;

 private:
  const ParameterSpec& spec(std::string_view name) const;

  std::string_view reduction_;
  const std::vector<ParameterSpec>& specs_;
  const ParameterValues& values_;
};

}  // namespace subquad::reductions
