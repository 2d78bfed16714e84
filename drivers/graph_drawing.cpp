#include "graph_drawing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace subquad::drivers {

namespace {

using reductions::ProblemEntry;
using reductions::ReductionEntry;

std::string escape_xml(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

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

std::string draw_svg(const GraphView& view) {
  constexpr int kBoxWidth = 190, kColumn = 440, kRow = 130, kMargin = 30, kHead = 22, kLine = 15;
  const std::vector<int> layer = graph_layers(view);
  std::map<int, int> rows_in;
  std::vector<int> x(view.problems.size());
  std::vector<int> y(view.problems.size());
  std::vector<int> height(view.problems.size());
  int width = 2 * kMargin;
  int bottom = 2 * kMargin;
  for (std::size_t i = 0; i < view.problems.size(); ++i) {
    height[i] = kHead + kLine * (1 + static_cast<int>(view.problems[i]->size_fields.size()));
    x[i] = kMargin + layer[i] * kColumn;
    y[i] = kMargin + rows_in[layer[i]]++ * (kRow + kHead);
    width = std::max(width, x[i] + kBoxWidth + kMargin);
    bottom = std::max(bottom, y[i] + height[i] + kMargin);
  }
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n"
      "<defs><marker id=\"tip\" markerWidth=\"9\" markerHeight=\"8\" refX=\"8\" refY=\"4\" orient=\"auto\">"
      "<path d=\"M0,0 L9,4 L0,8 z\"/></marker></defs>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, bottom);
  for (const ReductionEntry* r : view.reductions) {
    const std::size_t a = index_of(view, r->info.source);
    const std::size_t b = index_of(view, r->info.target);
    if (a >= x.size() || b >= x.size()) continue;
    const bool forward = x[a] < x[b];
    const int x1 = forward ? x[a] + kBoxWidth : x[a];
    const int x2 = forward ? x[b] : x[b] + kBoxWidth;
    const int y1 = y[a] + height[a] / 2;
    const int y2 = y[b] + height[b] / 2;
    const int bend = (x2 - x1) / 2;
    text += fmt::format(
        "<g><title>{}</title><path d=\"M{},{} C{},{} {},{} {},{}\" fill=\"none\" stroke=\"black\"{} "
        "marker-end=\"url(#tip)\"/>\n",
        escape_xml(r->info.title), x1, y1, x1 + bend, y1, x2 - bend, y2, x2, y2,
        r->info.kind == reductions::ReductionKind::turing ? " stroke-dasharray=\"5,4\"" : "");
    text += fmt::format(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" stroke=\"white\" stroke-width=\"4\" "
        "paint-order=\"stroke\">{} [{}]</text></g>\n",
        (x1 + x2) / 2, (y1 + y2) / 2 - 5, escape_xml(r->info.name), escape_xml(r->info.claim));
  }
  for (std::size_t i = 0; i < view.problems.size(); ++i) {
    const ProblemEntry& p = *view.problems[i];
    text += fmt::format(
        "<g><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\" fill=\"#eef3fa\" "
        "stroke=\"#345\"/>\n"
        "<text x=\"{}\" y=\"{}\" font-weight=\"bold\">{}</text>\n",
        escape_xml(p.title), x[i], y[i], kBoxWidth, height[i], x[i] + 10, y[i] + kHead - 5, escape_xml(p.id));
    for (std::size_t f = 0; f < p.size_fields.size(); ++f)
      text += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"#456\">{}</text>\n", x[i] + 10,
                          y[i] + kHead + kLine * (static_cast<int>(f) + 1), escape_xml(p.size_fields[f]));
    text += "</g>\n";
  }
  return text + "</svg>\n";
}

}  // namespace subquad::drivers
