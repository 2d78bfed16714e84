#include "line_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace subquad::drivers {
namespace {

constexpr double kWidth = 900, kHeight = 560, kLeft = 80, kRight = 190, kTop = 50, kBottom = 60;
// Okabe and Ito's colours, which the colour-blind tell apart.
constexpr std::array<const char*, 8> kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                              "#e69f00", "#56b4e9", "#000000", "#999933"};

class Canvas {
 public:
  explicit Canvas(const LinePlot& plot) : plot_(plot) {}

  double x(double value) const {
    return kLeft + (value - plot_.x_low) / (plot_.x_high - plot_.x_low) * (kWidth - kLeft - kRight);
  }
  double y(double value) const {
    return kHeight - kBottom - (value - plot_.y_low) / (plot_.y_high - plot_.y_low) * (kHeight - kTop - kBottom);
  }

 private:
  const LinePlot& plot_;
};

std::string axes(const LinePlot& plot, const Canvas& canvas) {
  std::string svg = fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#444\"/>\n",
                                kLeft, kTop, kWidth - kLeft - kRight, kHeight - kTop - kBottom);
  for (int i = 0; i <= plot.x_ticks; ++i) {
    const double value = plot.x_low + (plot.x_high - plot.x_low) * i / plot.x_ticks;
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#ddd\"/><text x=\"{0:.1f}\" y=\"{3}\" "
        "text-anchor=\"middle\">{4:g}</text>\n",
        canvas.x(value), kTop, kHeight - kBottom, kHeight - kBottom + 18, value);
  }
  for (int i = 0; i <= plot.y_ticks; ++i) {
    const double value = plot.y_low + (plot.y_high - plot.y_low) * i / plot.y_ticks;
    svg += fmt::format(
        "<line x1=\"{1}\" y1=\"{0:.1f}\" x2=\"{2}\" y2=\"{0:.1f}\" stroke=\"#ddd\"/><text x=\"{3}\" y=\"{4:.1f}\" "
        "text-anchor=\"end\">{5:g}</text>\n",
        canvas.y(value), kLeft, kWidth - kRight, kLeft - 6, canvas.y(value) + 4, value);
  }
  return svg;
}

std::string curve(const PlotSeries& series, const Canvas& canvas, const char* colour) {
  std::string path;
  bool pen_down = false;
  for (const auto& [x, y] : series.points) {
    if (!std::isfinite(x) || !std::isfinite(y)) {
      pen_down = false;
      continue;
    }
    path += fmt::format("{}{:.1f},{:.1f} ", pen_down ? "L" : "M", canvas.x(x), canvas.y(y));
    pen_down = true;
  }
  return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{} clip-path=\"url(#frame)\"/>\n",
                     path, colour, series.dashed ? " stroke-dasharray=\"6 4\"" : "");
}

}  // namespace

std::string escape_xml(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string draw_line_plot(const LinePlot& plot) {
  const Canvas canvas(plot);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n<clipPath id=\"frame\"><rect x=\"{2}\" y=\"{3}\" "
      "width=\"{4}\" height=\"{5}\"/></clipPath>\n",
      kWidth, kHeight, kLeft, kTop, kWidth - kLeft - kRight, kHeight - kTop - kBottom);
  svg += fmt::format("<text x=\"{}\" y=\"28\" font-size=\"16\" text-anchor=\"middle\">{}</text>\n",
                     (kLeft + kWidth - kRight) / 2, escape_xml(plot.title));
  svg += axes(plot, canvas);
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", (kLeft + kWidth - kRight) / 2,
                     kHeight - 16, escape_xml(plot.x_label));
  svg += fmt::format("<text x=\"20\" y=\"{0}\" text-anchor=\"middle\" transform=\"rotate(-90 20 {0})\">{1}</text>\n",
                     (kTop + kHeight - kBottom) / 2, escape_xml(plot.y_label));
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const std::size_t index = plot.series[i].colour < 0 ? i : static_cast<std::size_t>(plot.series[i].colour);
    const char* colour = kColours[index % kColours.size()];
    svg += curve(plot.series[i], canvas, colour);
    const double y = kTop + 14 + 20 * static_cast<double>(i);
    svg += fmt::format(
        "<line x1=\"{0}\" y1=\"{1}\" x2=\"{2}\" y2=\"{1}\" stroke=\"{3}\" stroke-width=\"2\"{4}/><text x=\"{5}\" "
        "y=\"{6}\">{7}</text>\n",
        kWidth - kRight + 12, y, kWidth - kRight + 40, colour, plot.series[i].dashed ? " stroke-dasharray=\"6 4\"" : "",
        kWidth - kRight + 46, y + 4, escape_xml(plot.series[i].name));
  }
  return svg + "</svg>\n";
}

}  // namespace subquad::drivers
