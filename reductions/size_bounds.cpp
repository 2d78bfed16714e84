// Size bounds: checking built sizes against them, and composing them along a path of reductions.
#include <subquad/core/error.hpp>
#include <subquad/reductions/size_expression.hpp>

#include <algorithm>

namespace subquad::reductions {

namespace {

const SizeBound* find_bound(const std::vector<SizeBound>& bounds, std::string_view field) {
  const auto found = std::find_if(bounds.begin(), bounds.end(), [&](const SizeBound& b) { return b.field == field; });
  return found == bounds.end() ? nullptr : &*found;
}

std::string_view to_string(BoundKind kind) {
  return kind == BoundKind::exact ? "exact" : "at most";
}

}  // namespace

std::vector<std::string> violations(const std::vector<SizeBound>& bounds, const Sizes& source, const Sizes& target) {
  std::vector<std::string> lines;
  for (const auto& [field, value] : target) {
    const SizeBound* bound = find_bound(bounds, field);
    if (bound == nullptr) {
      lines.push_back(fmt::format("{}: {}, no bound stated", field, value.str()));
      continue;
    }
    const Count promised = bound->expression.evaluate(source);
    const bool holds = bound->kind == BoundKind::exact ? value == promised : value <= promised;
    if (!holds) {
      lines.push_back(fmt::format("{}: {}, bound {} {} = {}", field, value.str(), to_string(bound->kind),
                                  bound->expression.to_string(), promised.str()));
    }
  }
  for (const SizeBound& bound : bounds) {
    const bool known = std::any_of(target.begin(), target.end(), [&](const auto& s) { return s.first == bound.field; });
    if (!known) lines.push_back(fmt::format("{}: bound stated, but the target has no such size field", bound.field));
  }
  return lines;
}

std::vector<SizeBound> compose(const std::vector<SizeBound>& first, const std::vector<SizeBound>& second) {
  std::vector<SizeBound> result;
  result.reserve(second.size());
  for (const SizeBound& outer : second) {
    BoundKind kind = outer.kind;
    const std::set<std::string> decreasing = outer.expression.decreasing_variables();
    for (const std::string& name : outer.expression.variables()) {
      const SizeBound* inner = find_bound(first, name);
      require(inner != nullptr, ErrorKind::internal,
              "cannot compose bounds: {} uses {}, which the first step does not bound", outer.field, name);
      if (inner->kind == BoundKind::exact) continue;
      require(!decreasing.contains(name), ErrorKind::internal,
              "cannot compose bounds: {} = {} decreases in {}, which has an upper bound only", outer.field,
              outer.expression.to_string(), name);
      kind = BoundKind::upper_bound;
    }
    const auto lookup = [&](std::string_view name) { return &find_bound(first, name)->expression; };
    result.push_back({outer.field, kind, outer.expression.substitute(lookup)});
  }
  return result;
}

}  // namespace subquad::reductions
