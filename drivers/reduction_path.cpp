#include "reduction_path.hpp"

#include "verb_command.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/line_reader.hpp>

#include <algorithm>

namespace subquad::drivers {

namespace {

using reductions::ReductionEntry;
using reductions::ReductionKind;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> pieces;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(separator, begin);
    pieces.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return pieces;
}

std::vector<const ReductionEntry*> named_path(const std::string& from, const std::string& to,
                                              const std::string& through) {
  std::vector<const ReductionEntry*> path;
  std::string at = reductions::problem(from).id;
  for (const std::string& name : split(through, ',')) {
    const ReductionEntry& entry = reductions::reduction(name);
    require(entry.info.source == at, ErrorKind::parameter, "--through: {} starts at {}, but the path is at {} there",
            name, entry.info.source, at);
    path.push_back(&entry);
    at = entry.info.target;
  }
  require(at == reductions::problem(to).id, ErrorKind::parameter, "--through: the path ends at {}, expected {}", at,
          to);
  return path;
}

std::vector<const ReductionEntry*> shortest_path(const std::string& from, const std::string& to) {
  const auto all = reductions::paths(from, to);
  require(from != to, ErrorKind::parameter, "{} and {} are the same problem", from, to);
  require(!all.empty(), ErrorKind::parameter, "no path of reductions leads from {} to {}", from, to);
  const auto many_one = [](const ReductionEntry* entry) { return entry->info.kind == ReductionKind::many_one; };
  for (const auto& path : all)
    if (std::all_of(path.begin(), path.end(), many_one)) return path;
  const auto turing = std::find_if_not(all.front().begin(), all.front().end(), many_one);
  fail(ErrorKind::unsupported,
       "from {} to {} lead only Turing reductions ({}), which make many instances and no single file", from, to,
       (*turing)->info.name);
}

bool knows(const ReductionEntry& entry, const std::string& parameter) {
  return std::any_of(entry.parameters.begin(), entry.parameters.end(),
                     [&](const auto& spec) { return spec.name == parameter; });
}

}  // namespace

std::vector<PathStep> choose_path(const std::string& from, const std::string& to, const std::string& through,
                                  const std::vector<std::string>& parameters) {
  const auto entries = through.empty() ? shortest_path(from, to) : named_path(from, to, through);
  std::vector<reductions::ParameterValues> values(entries.size());
  for (const std::string& word : parameters) {
    const std::size_t equals = word.find('=');
    require(equals != std::string::npos && equals > 0, ErrorKind::parameter, "--param {}: expected name=value",
            subquad::quoted(word));
    std::string name = word.substr(0, equals);
    std::string owner;
    if (const std::size_t dot = name.find('.'); dot != std::string::npos) {
      owner = name.substr(0, dot);
      name = name.substr(dot + 1);
    }
    std::vector<std::size_t> takers;
    std::vector<std::string> known;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      for (const auto& spec : entries[i]->parameters) known.push_back(spec.name);
      if ((owner.empty() || owner == entries[i]->info.name) && knows(*entries[i], name)) takers.push_back(i);
    }
    if (takers.empty() && known.empty())
      fail(ErrorKind::parameter, "--param {}: the reductions of this path have no parameters", subquad::quoted(word));
    if (takers.empty()) VerbCommand::unknown("parameter", word.substr(0, equals), known);
    require(takers.size() == 1, ErrorKind::parameter, "--param {}: {} and {} both have it, write {}.{}=value",
            subquad::quoted(word), entries[takers[0]]->info.name, entries[takers.back()]->info.name,
            entries[takers[0]]->info.name, name);
    const bool fresh = values[takers[0]].emplace(name, word.substr(equals + 1)).second;
    require(fresh, ErrorKind::parameter, "--param {}: given twice", subquad::quoted(word));
  }
  std::vector<PathStep> path;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    require(entries[i]->info.kind == ReductionKind::many_one, ErrorKind::unsupported,
            "{} is a Turing reduction: it makes many instances and no single file", entries[i]->info.name);
    path.push_back({entries[i], entries[i]->make(values[i])});
  }
  return path;
}

std::vector<PlannedInstance> plan_path(const std::vector<PathStep>& path, const Sizes& source) {
  std::vector<PlannedInstance> plan;
  Sizes sizes = source;
  for (const PathStep& step : path) {
    sizes = planned_sizes(step.reduction->size_bounds(), sizes);
    plan.push_back(
        {step.entry->info.target, step.entry->info.name, sizes, instance_bytes(step.entry->info.target, sizes)});
  }
  return plan;
}

std::vector<reductions::AnyInstance> reduce_along(const std::vector<PathStep>& path,
                                                  const reductions::AnyInstance& source, const Execution& execution) {
  std::vector<reductions::AnyInstance> instances{source};
  for (const PathStep& step : path) instances.push_back(step.reduction->reduce(instances.back(), execution));
  return instances;
}

reductions::AnyAnswer lift_along(const std::vector<PathStep>& path,
                                 const std::vector<reductions::AnyInstance>& instances, reductions::AnyAnswer answer) {
  for (std::size_t i = path.size(); i-- > 0;) answer = path[i].reduction->lift(instances[i], instances[i + 1], answer);
  return answer;
}

std::string describe(const std::vector<PathStep>& path) {
  std::string text = path.empty() ? std::string() : path.front().entry->info.source;
  for (const PathStep& step : path) text += fmt::format(" --{}--> {}", step.entry->info.name, step.entry->info.target);
  return text;
}

}  // namespace subquad::drivers
