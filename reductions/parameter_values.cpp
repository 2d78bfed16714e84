#include "parameter_values.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/line_reader.hpp>
#include <subquad/reductions/registry.hpp>

#include <algorithm>

namespace subquad::reductions {

ParameterReader::ParameterReader(std::string_view reduction, const std::vector<ParameterSpec>& specs,
                                 const ParameterValues& values)
    : reduction_(reduction), specs_(specs), values_(values) {
  for (const auto& [name, value] : values) {
    const bool known = std::any_of(specs.begin(), specs.end(), [&n = name](const auto& s) { return s.name == n; });
    if (known) continue;
    std::vector<std::string> names;
    for (const ParameterSpec& s : specs) names.push_back(s.name);
    const std::string nearest = nearest_name(name, names);
    fail(ErrorKind::parameter, "{}: unknown parameter {}{}", reduction, subquad::quoted(name),
         nearest.empty() ? std::string() : ", did you mean '" + nearest + "'?");
  }
}

const ParameterSpec& ParameterReader::spec(std::string_view name) const {
  const auto found = std::find_if(specs_.begin(), specs_.end(), [&](const ParameterSpec& s) { return s.name == name; });
  require(found != specs_.end(), ErrorKind::internal, "{}: no parameter '{}' in its table", reduction_, name);
  return *found;
}

const std::string& ParameterReader::text(std::string_view name) const {
  const auto given = values_.find(std::string(name));
  return given == values_.end() ? spec(name).default_value : given->second;
}

bool ParameterReader::boolean(std::string_view name) const {
  const std::string& value = text(name);
  if (value == "true") return true;
  if (value == "false") return false;
  refuse(name);
}

std::uint64_t ParameterReader::integer(std::string_view name, std::uint64_t low, std::uint64_t high) const {
  const std::optional<std::int64_t> value = parse_int(text(name));
  if (!value || *value < 0) refuse(name);
  const auto number = static_cast<std::uint64_t>(*value);
  if (number < low || number > high) refuse(name);
  return number;
}

void ParameterReader::refuse(std::string_view name) const {
  fail(ErrorKind::parameter, "{}: {} = {}, expected {}", reduction_, name, subquad::quoted(text(name)),
       spec(name).range);
}

}  // namespace subquad::reductions
