// Line plots as SVG: a few series over one axis, for the experiments.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace subquad::drivers {

/// One curve. Points outside the plot's range are cut off; NaN breaks the line.
struct PlotSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;
  bool dashed = false;
  int colour = -1;  ///< 0 to 7; by the order of the series if negative
};

struct LinePlot {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<PlotSeries> series;
  double x_low = 0.0, x_high = 1.0;
  double y_low = 0.0, y_high = 1.0;
  int x_ticks = 8;
  int y_ticks = 8;
};

/// Returns a complete SVG document, 900 x 560. Works with up to eight series.
std::string draw_line_plot(const LinePlot& plot);

/// Escapes text for XML.
std::string escape_xml(const std::string& text);

}  // namespace subquad::drivers
