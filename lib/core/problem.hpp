// Problems: what every problem type of the library offers, as a concept.
//
// A problem is a struct of static members (sat::CnfSat, problems::OrthogonalVectors, ...), used as a template argument:
// instances and answers are plain regular values. The concept is structural: rooms below need not know each other.
#pragma once

#include <subquad/core/count.hpp>
#include <subquad/core/digest.hpp>
#include <subquad/core/execution.hpp>
#include <subquad/core/provenance.hpp>
#include <subquad/core/verdict.hpp>

#include <concepts>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace subquad {

/// Named size fields of an instance, in a fixed order per problem, for example {"num_a", 1024}, {"dim", 91}.
using Sizes = std::vector<std::pair<std::string, Count>>;

/// Returns the value of a size field. Throws Error(internal) if there is none of that name.
const Count& size_field(const Sizes& sizes, std::string_view name);

/// An answer read from a file, with the digest of the instance it claims to answer (if the file says so).
template <class Answer>
struct AnswerFile {
  Answer answer;
  std::optional<Digest> instance;
};

/// What a problem type P must offer. `kId` is the name on the command line and in the graph ("ov").
///   P::size_fields()                  names of the fields of P::size, in order
///   P::digest(instance)               depends on the mathematical instance only, not on comments or file layout
///   P::solve_brute_force(instance,e)  reference answer straight from the definition
///   P::check(instance, answer)        from the definition; refuted, certified or undecided (rounding)
///   P::read_* / write_*               the text format; read_* throw Error(input) "name:line: what, expected what"
template <class P>
concept Problem = requires(const typename P::Instance& instance, const typename P::Answer& answer,
                           const Execution& execution, std::istream& in, std::ostream& out, const std::string& name,
                           const Provenance& provenance) {
  requires std::regular<typename P::Instance>;
  requires std::regular<typename P::Answer>;
  { P::kId } -> std::convertible_to<std::string_view>;
  { P::kTitle } -> std::convertible_to<std::string_view>;
  { P::kExtension } -> std::convertible_to<std::string_view>;
  { P::size_fields() } -> std::same_as<std::vector<std::string>>;
  { P::size(instance) } -> std::same_as<Sizes>;
  { P::digest(instance) } -> std::same_as<Digest>;
  { P::solve_brute_force(instance, execution) } -> std::same_as<typename P::Answer>;
  { P::check(instance, answer) } -> std::same_as<Report>;
  { P::read_instance(in, name) } -> std::same_as<typename P::Instance>;
  {P::write_instance(out, instance, provenance)};
  { P::read_answer(in, name) } -> std::same_as<AnswerFile<typename P::Answer>>;
  {P::write_answer(out, instance, answer, provenance)};
};

}  // namespace subquad
