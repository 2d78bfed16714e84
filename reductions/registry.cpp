#include "erased.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/line_reader.hpp>
#include <subquad/problems/approximate_nearest_neighbor.hpp>
#include <subquad/problems/attention.hpp>
#include <subquad/problems/gap_ann.hpp>
#include <subquad/problems/orthogonal_tuples.hpp>
#include <subquad/problems/orthogonal_vectors.hpp>
#include <subquad/reductions/ann_to_gap_ann.hpp>
#include <subquad/reductions/cnf_to_ov.hpp>
#include <subquad/reductions/cnf_to_p_ov.hpp>
#include <subquad/reductions/gap_ann_to_attention.hpp>
#include <subquad/reductions/ov_to_attention.hpp>
#include <subquad/reductions/ov_to_gap_ann.hpp>
#include <subquad/reductions/registry.hpp>
#include <subquad/sat/cnf.hpp>

#include <algorithm>
#include <cctype>

namespace subquad::reductions {

std::span<const ProblemEntry> problems() {
  static const std::vector<ProblemEntry> table = {
      erased::problem_entry<sat::CnfSat>(),
      erased::problem_entry<problems::OrthogonalVectors>(),
      erased::problem_entry<problems::OrthogonalTuples>(),
      erased::problem_entry<problems::ApproximateNearestNeighbor>(),
      erased::problem_entry<problems::GapAnn>(),
      erased::problem_entry<problems::Attention>(),
  };
  return table;
}

std::span<const ReductionEntry> reductions() {
  static const std::vector<ReductionEntry> table = {
      erased::reduction_entry<CnfToOv>(),     erased::reduction_entry<CnfToPOv>(),
      erased::reduction_entry<OvToGapAnn>(),  erased::reduction_entry<OvToAttention>(),
      erased::reduction_entry<AnnToGapAnn>(), erased::reduction_entry<GapAnnToAttention>(),
  };
  return table;
}

namespace {

/// Finds the entry named `wanted`, or throws Error(parameter) with the nearest name.
template <class Entry, class Name>
const Entry& look_up(std::span<const Entry> table, std::string_view wanted, std::string_view kind, Name name_of) {
  std::vector<std::string> names;
  for (const Entry& entry : table) {
    if (name_of(entry) == wanted) return entry;
    names.push_back(name_of(entry));
  }
  const std::string nearest = nearest_name(wanted, names);
  if (!nearest.empty())
    fail(ErrorKind::parameter, "no {} {}, did you mean '{}'?", kind, subquad::quoted(wanted), nearest);
  fail(ErrorKind::parameter, "no {} {}, known: {}", kind, subquad::quoted(wanted),
       fmt::format("{}", fmt::join(names, ", ")));
}

/// Upper and lower case, '-' and '_' count as the same letter: people mix them up more than anything else.
std::string folded(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Edit distance with transpositions of neighbours (optimal string alignment).
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

/// Depth-first search for simple paths: `path` ends in `at`, `visited` holds its problems.
void extend_paths(std::string_view at, std::string_view to, std::vector<std::string_view>& visited,
                  std::vector<const ReductionEntry*>& path, std::vector<std::vector<const ReductionEntry*>>& found) {
  if (at == to) {
    found.push_back(path);
    return;
  }
  for (const ReductionEntry& step : reductions()) {
    if (step.info.source != at) continue;
    if (std::find(visited.begin(), visited.end(), step.info.target) != visited.end()) continue;
    visited.push_back(step.info.target);
    path.push_back(&step);
    extend_paths(step.info.target, to, visited, path, found);
    path.pop_back();
    visited.pop_back();
  }
}

}  // namespace

const ProblemEntry& problem(std::string_view id) {
  return look_up(problems(), id, "problem", [](const ProblemEntry& entry) { return entry.id; });
}

const ReductionEntry& reduction(std::string_view name) {
  return look_up(reductions(), name, "reduction", [](const ReductionEntry& entry) { return entry.info.name; });
}

std::vector<std::vector<const ReductionEntry*>> paths(std::string_view from, std::string_view to) {
  const std::string start = problem(from).id;
  const std::string goal = problem(to).id;
  std::vector<std::string_view> visited = {start};
  std::vector<const ReductionEntry*> path;
  std::vector<std::vector<const ReductionEntry*>> found;
  extend_paths(start, goal, visited, path, found);
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return found;
}

std::string nearest_name(std::string_view wanted, std::span<const std::string> known) {
  // A third of the letters may be wrong; beyond that a suggestion is a guess.
  const std::string target = folded(wanted);
  const std::size_t allowed = std::max<std::size_t>(1, target.size() / 3);
  std::string best;
  std::size_t best_distance = allowed + 1;
  for (const std::string& name : known) {
    const std::size_t distance = edit_distance(target, folded(name));
    if (distance < best_distance) {
      best_distance = distance;
      best = name;
    }
  }
  return best;
}

}  // namespace subquad::reductions
