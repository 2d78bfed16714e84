// The graph as SVG: one column a layer, long arrows led around the boxes between.
#include "graph_drawing.hpp"
#include "line_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace subquad::drivers {

namespace {

using reductions::ProblemEntry;
using reductions::ReductionEntry;

constexpr int kBoxWidth = 190, kColumn = 440, kRow = 152, kMargin = 30, kHead = 22, kLine = 15;

struct Box {
  int x = 0;
  int y = 0;
  int height = 0;

  int middle() const { return y + height / 2; }
};

// Where boxes and arrows stand. Each box has a row of its column, and so has each arrow that passes through a column.
class Layout {
 public:
  explicit Layout(const GraphView& view) : layers_(graph_layers(view)) {
    for (std::size_t i = 0; i < view.problems.size(); ++i) {
      const int lines = 1 + static_cast<int>(view.problems[i]->size_fields.size());
      boxes_.push_back({column_x(layers_[i]), next_row_y(layers_[i]), kHead + kLine * lines});
    }
  }

  const Box& box(std::size_t problem) const { return boxes_[problem]; }

  // The arrow's path, and the place of its label.
  struct Arrow {
    std::string path;
    int label_x = 0;
    int label_y = 0;
  };
  Arrow arrow(std::size_t from, std::size_t to) {
    const bool forward = layers_[from] < layers_[to];
    int x = boxes_[from].x + (forward ? kBoxWidth : 0);
    int y = boxes_[from].middle();
    Arrow result{fmt::format("M{},{}", x, y), 0, 0};
    const auto curve_to = [&](int next_x, int next_y) {
      const int bend = (next_x - x) / 2;
      result.path += fmt::format(" C{},{} {},{} {},{}", x + bend, y, next_x - bend, next_y, next_x, next_y);
      if (result.label_x == 0) {
        result.label_x = (x + next_x) / 2;
        result.label_y = (y + next_y) / 2 - 5;
      }
      x = next_x;
      y = next_y;
    };
    for (int layer = layers_[from] + 1; layer < layers_[to]; ++layer) {
      curve_to(column_x(layer), next_row_y(layer) + kRow / 3);
      x += kBoxWidth;
      result.path += fmt::format(" L{},{}", x, y);
    }
    curve_to(boxes_[to].x + (forward ? 0 : kBoxWidth), boxes_[to].middle());
    return result;
  }

  int width() const {
    int most = 0;
    for (const int layer : layers_) most = std::max(most, layer);
    return column_x(most) + kBoxWidth + kMargin;
  }
  int height() const {
    int most = 1;
    for (const auto& [layer, rows] : rows_) most = std::max(most, rows);
    return 2 * kMargin + most * kRow;
  }

 private:
  static int column_x(int layer) { return kMargin + layer * kColumn; }
  int next_row_y(int layer) { return kMargin + rows_[layer]++ * kRow; }

  std::vector<int> layers_;
  std::vector<Box> boxes_;
  std::map<int, int> rows_;  // rows taken in each column
};

std::size_t index_of(const GraphView& view, const std::string& id) {
  const auto found =
      std::find_if(view.problems.begin(), view.problems.end(), [&](const auto* p) { return p->id == id; });
  return static_cast<std::size_t>(found - view.problems.begin());
}

std::string box_svg(const ProblemEntry& problem, const Box& box) {
  std::string text = fmt::format(
      "<g><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\" fill=\"#eef3fa\" "
      "stroke=\"#345\"/>\n"
      "<text x=\"{}\" y=\"{}\" font-weight=\"bold\">{}</text>\n",
      escape_xml(problem.title), box.x, box.y, kBoxWidth, box.height, box.x + 10, box.y + kHead - 5,
      escape_xml(problem.id));
  for (std::size_t f = 0; f < problem.size_fields.size(); ++f)
    text += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"#456\">{}</text>\n", box.x + 10,
                        box.y + kHead + kLine * (static_cast<int>(f) + 1), escape_xml(problem.size_fields[f]));
  return text + "</g>\n";
}

std::string arrow_svg(const ReductionEntry& reduction, const Layout::Arrow& arrow) {
  const bool turing = reduction.info.kind == reductions::ReductionKind::turing;
  return fmt::format(
      "<g><title>{}</title><path d=\"{}\" fill=\"none\" stroke=\"black\"{} marker-end=\"url(#tip)\"/>\n"
      "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" stroke=\"white\" stroke-width=\"4\" paint-order=\"stroke\">{} "
      "[{}]</text></g>\n",
      escape_xml(reduction.info.title), arrow.path, turing ? " stroke-dasharray=\"5,4\"" : "", arrow.label_x,
      arrow.label_y, escape_xml(reduction.info.name), escape_xml(reduction.info.claim));
}

}  // namespace

std::string draw_svg(const GraphView& view) {
  Layout layout(view);
  std::string arrows;
  for (const ReductionEntry* r : view.reductions) {
    const std::size_t from = index_of(view, r->info.source);
    const std::size_t to = index_of(view, r->info.target);
    if (from < view.problems.size() && to < view.problems.size()) arrows += arrow_svg(*r, layout.arrow(from, to));
  }
  std::string boxes;
  for (std::size_t i = 0; i < view.problems.size(); ++i) boxes += box_svg(*view.problems[i], layout.box(i));
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"sans-serif\" "
             "font-size=\"12\">\n"
             "<defs><marker id=\"tip\" markerWidth=\"9\" markerHeight=\"8\" refX=\"8\" refY=\"4\" orient=\"auto\">"
             "<path d=\"M0,0 L9,4 L0,8 z\"/></marker></defs>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
             layout.width(), layout.height()) +
         arrows + boxes + "</svg>\n";
}

}  // namespace subquad::drivers
