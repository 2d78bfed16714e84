// Experiment output: data as JSON lines behind a line that says what was run, and an optional plot.
#pragma once

#include "line_plot.hpp"
#include "output_writing.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace subquad::drivers {

/// Where an experiment's results go.
struct ExperimentFiles {
  std::string output = "-";
  std::string svg;
};

inline void add_experiment_files(CLI::App& app, ExperimentFiles& files) {
  app.add_option("-o,--output", files.output, "Where the data go, one JSON object a line")->capture_default_str();
  app.add_option("--svg", files.svg, "Write a plot");
}

/// The first line says what was run, then one line a row.
inline void write_experiment(const ExperimentFiles& files, const nlohmann::ordered_json& head,
                             const std::vector<nlohmann::ordered_json>& rows, const std::string& svg) {
  write_output(files.output, [&](std::ostream& out) {
    out << head.dump() << '\n';
    for (const auto& row : rows) out << row.dump() << '\n';
  });
  if (!files.svg.empty()) {
    write_output(files.svg, [&](std::ostream& out) { out << svg; });
  }
}

/// The median of measurements; at least one.
inline double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace subquad::drivers
