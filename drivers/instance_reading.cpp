#include "instance_reading.hpp"

#include <subquad/core/error.hpp>
#include <subquad/sat/dimacs.hpp>

namespace subquad::drivers {

sat::Cnf read_formula(InputSource& input, const VerbCommand& command) {
  sat::DimacsFile file = sat::read_dimacs(input.stream(), input.path());
  for (const std::string& liberty : file.liberties) command.note("{}", liberty);
  return std::move(file.formula);
}

reductions::AnyInstance read_any_instance(const reductions::ProblemEntry& problem, InputSource& input,
                                          const VerbCommand& command) {
  if (problem.id == sat::CnfSat::kId) return {problem.id, read_formula(input, command)};
  return problem.read_instance(input.stream(), input.path());
}

reductions::AnyAnswer read_any_answer(const reductions::ProblemEntry& problem, const reductions::AnyInstance& instance,
                                      InputSource& input, const VerbCommand& command) {
  auto [answer, digest] = problem.read_answer(input.stream(), input.path());
  if (digest) {
    const Digest expected = problem.digest(instance);
    require(*digest == expected, ErrorKind::input,
            "{}: answers the {} instance {}, expected {}: it is for another instance", input.path(), problem.id,
            to_string(*digest), to_string(expected));
  } else {
    command.note("{}: names no instance, so whether it belongs to this one is not checked", input.path());
  }
  return answer;
}

}  // namespace subquad::drivers
