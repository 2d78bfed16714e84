// The battery: what every reduction has to pass, driven by the registry.
//
// For each parameter set of a plan, on every small, degenerate and random source instance:
//   size         the target's sizes obey the stated bounds (Turing: the instance of every call)
//   determinism  built again, with another number of threads, the target is the same
//   lift         every answer that a correct oracle may give lifts to an answer that is right by the source's
//                definition, and that says yes exactly where brute force does
//   refute       for sources with witnesses, an answer that claims too much is refuted, or what it lifts to is right
//                nevertheless
//   law          what the theorem says beyond that: source witnesses push forward, counts and distances agree
//   solve        the oracle form gives right answers with the reference solver and with a capricious but correct oracle
//   round trip   instance, target and answers survive their text formats, and the answer file names its instance
// A fault is a reduction with one planted mistake; the battery must find it, by the check that is meant to.
#pragma once

#include <subquad/reductions/registry.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace subquad::battery {

/// Every oracle call of one solve().
struct CallLog {
  std::uint64_t calls = 0;
  std::uint64_t row_questions = 0;  ///< sum of the calls' first size field
  std::vector<Sizes> sizes;
};

/// What the battery needs to know about one reduction, beyond the registry.
struct Plan {
  std::string reduction;
  /// Parameter sets to run, and which instances each one accepts (null: all).
  struct Variant {
    reductions::ParameterValues values;
    std::function<bool(const reductions::AnyInstance& source)> accepts;
  };
  std::vector<Variant> variants;
  /// Returns what is wrong with source -> target, empty if nothing. Many-one only; may be null.
  std::function<std::string(const reductions::ParameterValues& values, const reductions::AnyInstance& source,
                            const reductions::AnyInstance& target)>
      law;
  /// Returns what is wrong with the calls that one solve() made. May be null.
  std::function<std::string(const reductions::AnyInstance& source, const CallLog& calls)> call_law;
};

/// The plan of a reduction, or null. Every registered reduction must have one.
const Plan* plan(std::string_view reduction);

/// A planted mistake.
struct Fault {
  std::string reduction;
  std::string what;       ///< the mistake in words
  std::string caught_by;  ///< the check that must find it
  std::function<std::shared_ptr<const reductions::AnyReduction>(const reductions::ReductionEntry& entry,
                                                                const reductions::ParameterValues& values)>
      make;
};

/// The faults of a reduction. Every registered reduction must have one at least.
std::vector<const Fault*> faults(std::string_view reduction);

/// A failed check.
struct Failure {
  std::string check;    ///< "size", "lift", ...
  std::string message;  ///< one line
};

struct Findings {
  std::vector<Failure> failures;  ///< at most Options::most_failures
  std::uint64_t instances = 0;
  std::uint64_t answers = 0;  ///< lifted
  std::uint64_t refuted = 0;  ///< wrong answers refuted
  std::uint64_t calls = 0;    ///< of the oracle form

  std::string summary() const;
  bool found_by(std::string_view check) const;
};

struct Options {
  std::uint64_t seed = 20260101;
  std::uint64_t random_instances = 40;  ///< per parameter set
  std::size_t most_failures = 8;        ///< stop there
};

/// Runs the battery on a registry entry. `fault` replaces the reduction by a faulty one. A reduction without plan,
/// without fault or whose source has no generator is a failure of check "coverage".
Findings run_battery(const reductions::ReductionEntry& entry, const Options& options, const Fault* fault = nullptr);

}  // namespace subquad::battery
