// Reductions: what every reduction says about itself and offers.
//
// A reduction is a class with
//   using Source, Target            problem types (core/problem.hpp)
//   struct Parameters               regular; static std::vector<ParameterSpec> specs(); static Parameters parse(values)
//   explicit R(Parameters = {})
//   static ReductionInfo info()
//   std::vector<SizeBound> size_bounds() const      one for every size field of Target (may depend on the parameters)
// and, if it is many-one,
//   Target::Instance reduce(const Source::Instance&, const Execution&) const
//   Source::Answer   lift(const Source::Instance&, const Target::Instance&, const Target::Answer&) const
// or, if it is a Turing reduction (many calls, or none),
//   Source::Answer   solve(const Source::Instance&, const Oracle<Target>&, const Execution&) const
// A many-one reduction may offer solve() as well, for instances that need no oracle; it is then the form that is used.
// The size bounds of a Turing reduction hold for the instance of every call.
#pragma once

#include <subquad/core/error.hpp>
#include <subquad/core/execution.hpp>
#include <subquad/core/problem.hpp>
#include <subquad/reductions/size_expression.hpp>

#include <concepts>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace subquad::reductions {

/// How often a reduction asks: once, or as often as it likes (also never).
enum class ReductionKind { many_one, turing };

/// What a reduction is, in words; everything a reader of `subquad graph` sees.
struct ReductionInfo {
  std::string name;    ///< file stem, "cnf_to_ov"
  std::string source;  ///< problem id
  std::string target;  ///< problem id
  ReductionKind kind = ReductionKind::many_one;
  std::string title;       ///< one line
  std::string citation;    ///< bibliography key and number, "Williams05, Section 5.1"; "ours" where it is
  std::string claim;       ///< id in docs/theorems.yaml, "W05"
  std::string hypothesis;  ///< what is transferred, "SETH => OV conjecture"
};

/// One parameter of a reduction; command-line help, validation and docs come from this table.
struct ParameterSpec {
  std::string name;           ///< "tolerance"
  std::string default_value;  ///< "0.1"
  std::string range;          ///< "(0, 1/2)"
  std::string help;
};

/// Parameter values as text, as they come from a command line. Unknown names are refused by parse().
using ParameterValues = std::map<std::string, std::string>;

/// Thrown when an oracle's answer is proved wrong while it is lifted. Row and values are what a kernel writer needs.
class OracleRefuted : public Error {
 public:
  OracleRefuted(const std::string& message, std::uint64_t row) : Error(ErrorKind::refuted, message), row_(row) {}
  std::uint64_t row() const noexcept { return row_; }

 private:
  std::uint64_t row_;
};

/// Something that answers instances of P. The name is for messages and for whoever fills a ledger; it may be empty.
template <class P>
struct Oracle {
  std::string name;
  std::function<typename P::Answer(const typename P::Instance&)> answer;

  typename P::Answer operator()(const typename P::Instance& instance) const { return answer(instance); }
};

/// What a many-one reduction R offers: build one target, lift its answer.
template <class R>
concept ManyOne = Problem<typename R::Source> && Problem<typename R::Target> &&
    requires(const R& r, const typename R::Source::Instance& source, const typename R::Target::Instance& target,
             const typename R::Target::Answer& answer, const Execution& execution) {
  { R::info() } -> std::same_as<ReductionInfo>;
  { r.size_bounds() } -> std::same_as<std::vector<SizeBound>>;
  { r.reduce(source, execution) } -> std::same_as<typename R::Target::Instance>;
  { r.lift(source, target, answer) } -> std::same_as<typename R::Source::Answer>;
};

/// What a Turing reduction R offers: solve the source with an oracle for the target.
template <class R>
concept Turing = Problem<typename R::Source> && Problem<typename R::Target> &&
    requires(const R& r, const typename R::Source::Instance& source, const Oracle<typename R::Target>& oracle,
             const Execution& execution) {
  { R::info() } -> std::same_as<ReductionInfo>;
  { r.size_bounds() } -> std::same_as<std::vector<SizeBound>>;
  { r.solve(source, oracle, execution) } -> std::same_as<typename R::Source::Answer>;
};

/// The oracle-algorithm form of any reduction: solves a source instance with an oracle for the target. Uses solve()
/// where there is one.
template <class R>
typename R::Source::Answer solve_with(const R& reduction, const typename R::Source::Instance& source,
                                      const Oracle<typename R::Target>& oracle, const Execution& execution = {}) {
  if constexpr (Turing<R>) {
    return reduction.solve(source, oracle, execution);
  } else {
    const auto target = reduction.reduce(source, execution);
    return reduction.lift(source, target, oracle(target));
  }
}

}  // namespace subquad::reductions
