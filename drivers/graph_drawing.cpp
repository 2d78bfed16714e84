#include "graph_drawing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace subquad::drivers {

namespace {

using reductions::ProblemEntry;
using reductions::ReductionEntry;

std::string escape_dot(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return result;
}

std::string kind_word(const ReductionEntry& entry) {
  return entry.info.kind == reductions::ReductionKind::many_one ? "many-one" : "Turing";
}

std::vector<reductions::SizeBound> default_bounds(const ReductionEntry& entry) {
  return entry.make({})->size_bounds();
}

std::size_t index_of(const GraphView& view, const std::string& id) {
  for (std::size_t i = 0; i < view.problems.size(); ++i)
    if (view.problems[i]->id == id) return i;
  return view.problems.size();
}

}  // namespace

GraphView whole_graph() {
  GraphView view;
  for (const ProblemEntry& entry : reductions::problems()) view.problems.push_back(&entry);
  for (const ReductionEntry& entry : reductions::reductions()) view.reductions.push_back(&entry);
  return view;
}

GraphView graph_of_paths(const std::vector<std::vector<const ReductionEntry*>>& paths) {
  const auto on_a_path = [&paths](const auto& test) {
    return std::any_of(paths.begin(), paths.end(),
                       [&](const auto& path) { return std::any_of(path.begin(), path.end(), test); });
  };
  GraphView view;
  for (const ProblemEntry& entry : reductions::problems())
    if (on_a_path([&](const ReductionEntry* r) { return r->info.source == entry.id || r->info.target == entry.id; }))
      view.problems.push_back(&entry);
  for (const ReductionEntry& entry : reductions::reductions())
    if (on_a_path([&](const ReductionEntry* r) { return r == &entry; })) view.reductions.push_back(&entry);
  return view;
}

std::vector<int> graph_layers(const GraphView& view) {
  // Depth-first, so that exactly the reductions that lead back into the current path (a cycle) are left out.
  const std::size_t n = view.problems.size();
  std::vector<std::vector<std::size_t>> next(n);
  for (const ReductionEntry* r : view.reductions) {
    const std::size_t from = index_of(view, r->info.source);
    const std::size_t to = index_of(view, r->info.target);
    if (from < n && to < n && from != to) next[from].push_back(to);
  }
  enum class Mark { fresh, open, closed };
  std::vector<Mark> mark(n, Mark::fresh);
  std::vector<std::size_t> order;  // targets before sources
  std::vector<std::vector<std::size_t>> kept(n);
  const auto visit = [&](const auto& self, std::size_t v) -> void {
    mark[v] = Mark::open;
    for (const std::size_t w : next[v]) {
      if (mark[w] == Mark::open) continue;
      kept[v].push_back(w);
      if (mark[w] == Mark::fresh) self(self, w);
    }
    mark[v] = Mark::closed;
    order.push_back(v);
  };
  for (std::size_t v = 0; v < n; ++v)
    if (mark[v] == Mark::fresh) visit(visit, v);
  std::vector<int> layer(n, 0);
  for (auto v = order.rbegin(); v != order.rend(); ++v)
    for (const std::size_t w : kept[*v]) layer[w] = std::max(layer[w], layer[*v] + 1);
  return layer;
}

std::string describe_bound(const reductions::SizeBound& bound) {
  return fmt::format("{} {} {}", bound.field,
                     bound.kind == reductions::BoundKind::exact ? "=" : "<=", bound.expression.to_string());
}

std::vector<reductions::SizeBound> composed_bounds(const std::vector<const ReductionEntry*>& path) {
  std::vector<reductions::SizeBound> bounds = default_bounds(*path.front());
  for (std::size_t step = 1; step < path.size(); ++step)
    bounds = reductions::compose(bounds, default_bounds(*path[step]));
  return bounds;
}

std::string draw_text(const GraphView& view) {
  std::string text = "Problems\n";
  for (const ProblemEntry* p : view.problems)
    text += fmt::format("  {:<11}{} [{}]: {}\n", p->id, p->title, p->extension, fmt::join(p->size_fields, ", "));
  text += "\nReductions (= exact size, <= upper bound)\n";
  for (const ReductionEntry* r : view.reductions) {
    text += fmt::format("  {} --{}--> {}  ({})\n      {}\n", r->info.source, r->info.name, r->info.target,
                        kind_word(*r), r->info.title);
    for (const auto& bound : default_bounds(*r)) text += fmt::format("      {}\n", describe_bound(bound));
    text += fmt::format("      cite {}; claim {}; transfers {}\n", r->info.citation, r->info.claim, r->info.hypothesis);
  }
  return text;
}

std::string draw_dot(const GraphView& view) {
  std::string text = "digraph subquad {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n";
  for (const ProblemEntry* p : view.problems)
    text += fmt::format("  \"{}\" [label=\"{}\\n{}\"];\n", escape_dot(p->id), escape_dot(p->id), escape_dot(p->title));
  for (const ReductionEntry* r : view.reductions)
    text += fmt::format("  \"{}\" -> \"{}\" [label=\"{}\\n{}\"{}];\n", escape_dot(r->info.source),
                        escape_dot(r->info.target), escape_dot(r->info.name), escape_dot(r->info.claim),
                        r->info.kind == reductions::ReductionKind::turing ? ", style=dashed" : "");
  return text + "}\n";
}

}  // namespace subquad::drivers
