// subquad graph: the graph of problems and reductions, and paths in it with composed size bounds.
#include "exit_status.hpp"
#include "graph_drawing.hpp"
#include "output_writing.hpp"
#include "verbs.hpp"

#include <subquad/core/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iostream>

namespace subquad::drivers {

namespace {

using Json = nlohmann::ordered_json;
using Path = std::vector<const reductions::ReductionEntry*>;

Json bounds_json(const std::vector<reductions::SizeBound>& bounds) {
  Json result = Json::array();
  for (const auto& bound : bounds)
    result.push_back({{"field", bound.field},
                      {"kind", bound.kind == reductions::BoundKind::exact ? "exact" : "upper_bound"},
                      {"expression", bound.expression.to_string()}});
  return result;
}

Json graph_json(const GraphView& view, const std::vector<Path>& paths) {
  Json result = {{"schema", "subquad.graph/1"},
                 {"version", version()},
                 {"problems", Json::array()},
                 {"reductions", Json::array()}};
  for (const auto* p : view.problems)
    result["problems"].push_back(
        {{"id", p->id}, {"title", p->title}, {"extension", p->extension}, {"size_fields", p->size_fields}});
  for (const auto* r : view.reductions) {
    Json parameters = Json::array();
    for (const auto& spec : r->parameters)
      parameters.push_back(
          {{"name", spec.name}, {"default", spec.default_value}, {"range", spec.range}, {"help", spec.help}});
    result["reductions"].push_back(
        {{"name", r->info.name},
         {"source", r->info.source},
         {"target", r->info.target},
         {"kind", r->info.kind == reductions::ReductionKind::many_one ? "many-one" : "turing"},
         {"title", r->info.title},
         {"citation", r->info.citation},
         {"claim", r->info.claim},
         {"hypothesis", r->info.hypothesis},
         {"parameters", parameters},
         {"size_bounds", bounds_json(r->make({})->size_bounds())}});
  }
  result["paths"] = Json::array();
  for (const Path& path : paths) {
    Json names = Json::array();
    for (const auto* r : path) names.push_back(r->info.name);
    result["paths"].push_back({{"reductions", names}, {"composed_bounds", bounds_json(composed_bounds(path))}});
  }
  return result;
}

std::string paths_text(const std::vector<Path>& paths) {
  std::string text;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    text += fmt::format("{}Path {}: {}", i == 0 ? "" : "\n", i + 1, paths[i].front()->info.source);
    for (const auto* r : paths[i]) text += fmt::format(" --{}--> {}", r->info.name, r->info.target);
    text += fmt::format("\n  composed, in the sizes of {}:\n", paths[i].front()->info.source);
    for (const auto& bound : composed_bounds(paths[i])) text += fmt::format("    {}\n", describe_bound(bound));
    for (const auto* r : paths[i])
      text += fmt::format("  {}: {}; claim {}; transfers {}\n", r->info.name, r->info.citation, r->info.claim,
                          r->info.hypothesis);
  }
  return text;
}

}  // namespace

int run_graph(const Invocation& invocation) {
  VerbCommand command(
      invocation, "Shows the graph of problems and reductions; with --from and --to, the paths between two problems.",
      {Effective::json},
      {{"Bounds are in the size fields of the reduction's source: '=' exact, '<=' upper bound.",
        "Composed bounds use every reduction's default parameters.",
        "SVG: one column a layer, dashed lines are Turing reductions; titles show on hovering."},
       {"0 done", "2 unknown problem, or no path"},
       {"subquad graph --from cnf --to attention", "subquad graph --svg -o graph.svg"}});
  std::string from, to, output = "-";
  bool dot = false, svg = false;
  auto* from_option = command.app.add_option("--from", from, "Problem to start from, for example cnf");
  auto* to_option = command.app.add_option("--to", to, "Problem to arrive at, for example attention");
  from_option->needs(to_option);
  to_option->needs(from_option);
  auto* dot_flag = command.app.add_flag("--dot", dot, "Write Graphviz");
  command.app.add_flag("--svg", svg, "Write SVG")->excludes(dot_flag);
  command.app.add_option("-o,--output", output, "File to write")->capture_default_str();
  if (!command.parse()) return kDone;

  std::vector<Path> paths;
  GraphView view = whole_graph();
  if (!from.empty()) {
    paths = reductions::paths(from, to);
    require(!paths.empty(), ErrorKind::parameter, "no path of reductions leads from {} to {}", from, to);
    // The path of no step, from a problem to itself, has nothing to draw or compose.
    std::erase_if(paths, [](const Path& path) { return path.empty(); });
    require(!paths.empty(), ErrorKind::parameter, "{} and {} are the same problem", from, to);
    view = graph_of_paths(paths);
  }
  write_output(output, [&](std::ostream& out) {
    if (command.shared.json)
      out << graph_json(view, paths).dump(2) << '\n';
    else if (dot)
      out << draw_dot(view);
    else if (svg)
      out << draw_svg(view);
    else
      out << (paths.empty() ? draw_text(view) : paths_text(paths));
  });
  return kDone;
}

}  // namespace subquad::drivers
