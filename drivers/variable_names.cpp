#include "variable_names.hpp"

#include <subquad/core/line_reader.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace subquad::drivers {

namespace {

// NAME(I,J,..) with non-negative integers.
struct IndexedName {
  std::string name;
  std::vector<std::uint64_t> indices;
};

std::optional<IndexedName> parse_indexed(const std::string& text) {
  const std::size_t open = text.find('(');
  if (open == 0 || open == std::string::npos || text.back() != ')') return std::nullopt;
  IndexedName result{text.substr(0, open), {}};
  std::size_t begin = open + 1;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size() - 1);
    const auto index = parse_int(text.substr(begin, end - begin));
    if (!index || *index < 0) return std::nullopt;
    result.indices.push_back(static_cast<std::uint64_t>(*index));
    begin = end + 1;
  }
  return result;
}

std::string color_word(std::uint64_t color) {
  static constexpr const char* kWords[] = {"red", "green", "blue", "yellow", "violet", "orange"};
  return color < std::size(kWords) ? kWords[color] : fmt::format("colour {}", color);
}

// The bits of a number: bit -> value.
using Bits = std::map<std::uint64_t, bool>;

std::string number_of(const Bits& bits) {
  std::uint64_t value = 0;
  for (const auto& [bit, set] : bits) value |= static_cast<std::uint64_t>(set) << bit;
  return std::to_string(value);
}

}  // namespace

std::map<std::uint32_t, std::string> variable_names(const sat::Cnf& formula) {
  std::map<std::uint32_t, std::string> names;
  for (const std::string& comment : formula.kept_comments) {
    const auto words = split_words(comment);
    if (words.size() != 4 || words[0] != "c" || words[1] != "varname") continue;
    const auto variable = parse_int(words[2]);
    if (!variable || *variable < 1 || *variable > static_cast<std::int64_t>(formula.num_variables())) continue;
    names[static_cast<std::uint32_t>(*variable - 1)] = std::string(words[3]);
  }
  return names;
}

std::vector<std::string> decode_model(const sat::Cnf& formula, const sat::Model& model) {
  const auto names = variable_names(formula);
  std::map<std::string, Bits> numbers;
  for (const auto& [variable, text] : names)
    if (const auto name = parse_indexed(text); name && name->indices.size() == 1 && name->indices[0] < 64)
      numbers[name->name][name->indices[0]] = model[variable];
  // A family with a gap (or one that does not start at 0) is a set of things rather than the bits of a number.
  std::erase_if(numbers, [](const auto& entry) { return entry.second.rbegin()->first + 1 != entry.second.size(); });

  std::vector<std::string> lines;
  std::vector<std::string> seen;
  for (const auto& [variable, text] : names) {
    const auto name = parse_indexed(text);
    if (name && name->indices.size() == 1 && numbers.count(name->name) != 0) {
      if (std::find(seen.begin(), seen.end(), name->name) != seen.end()) continue;
      seen.push_back(name->name);
      lines.push_back(fmt::format("{} = {}", name->name, number_of(numbers.at(name->name))));
    } else if (model[variable]) {
      lines.push_back(name && name->name == "v" && name->indices.size() == 2
                          ? fmt::format("vertex {} = {}", name->indices[0], color_word(name->indices[1]))
                          : text);
    }
  }
  return lines;
}

}  // namespace subquad::drivers
