// Registry: every problem and every reduction of the library in two explicit tables, type-erased.
//
// Notes  Explicit tables, because static libraries drop self-registering objects. A layering test compares the tables
//        with the folder's files, tests and docs pages.
#pragma once

#include <subquad/core/problem.hpp>
#include <subquad/reductions/reduction.hpp>

#include <any>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace subquad::reductions {

/// An instance (answer) of the problem with this id; `value` holds P::Instance (P::Answer).
struct AnyInstance {
  std::string problem;
  std::any value;
};
struct AnyAnswer {
  std::string problem;
  std::any value;
};
using AnyOracle = std::function<AnyAnswer(const AnyInstance&)>;

/// A problem, with its static members behind functions of type-erased values. Each function throws Error(parameter) for
/// an instance or answer of another problem, and what the problem itself throws.
struct ProblemEntry {
  std::string id;
  std::string title;
  std::string extension;
  std::vector<std::string> size_fields;
  std::function<AnyInstance(std::istream&, const std::string& name)> read_instance;
  std::function<void(std::ostream&, const AnyInstance&, const Provenance&)> write_instance;
  std::function<std::pair<AnyAnswer, std::optional<Digest>>(std::istream&, const std::string& name)> read_answer;
  std::function<void(std::ostream&, const AnyInstance&, const AnyAnswer&, const Provenance&)> write_answer;
  std::function<Sizes(const AnyInstance&)> size;
  std::function<Digest(const AnyInstance&)> digest;
  std::function<AnyAnswer(const AnyInstance&, const Execution&)> solve_brute_force;
  std::function<Report(const AnyInstance&, const AnyAnswer&)> check;
};

/// A reduction with its parameters fixed.
class AnyReduction {
 public:
  virtual ~AnyReduction() = default;
  virtual std::vector<SizeBound> size_bounds() const = 0;
  /// Many-one only; a Turing reduction throws Error(unsupported).
  virtual AnyInstance reduce(const AnyInstance& source, const Execution& execution) const = 0;
  virtual AnyAnswer lift(const AnyInstance& source, const AnyInstance& target, const AnyAnswer& answer) const = 0;
  /// Both kinds.
  virtual AnyAnswer solve(const AnyInstance& source, const AnyOracle& oracle, const Execution& execution) const = 0;
};

/// A reduction whose parameters are still open.
struct ReductionEntry {
  ReductionInfo info;
  std::vector<ParameterSpec> parameters;
  /// Throws Error(parameter) for an unknown name or a value outside its range.
  std::function<std::shared_ptr<const AnyReduction>(const ParameterValues&)> make;
};

/// All problems, in the order in which a chain usually meets them.
std::span<const ProblemEntry> problems();
/// All reductions, by source in the same order.
std::span<const ReductionEntry> reductions();

/// Looks an entry up. Throws Error(parameter) with the nearest known name.
const ProblemEntry& problem(std::string_view id);
const ReductionEntry& reduction(std::string_view name);

/// All simple paths of reductions from one problem to another, shortest first. Throws Error(parameter) for unknown ids.
std::vector<std::vector<const ReductionEntry*>> paths(std::string_view from, std::string_view to);

/// The known name nearest to `wanted` by edit distance, for "did you mean"; empty if none is near.
std::string nearest_name(std::string_view wanted, std::span<const std::string> known);

}  // namespace subquad::reductions
