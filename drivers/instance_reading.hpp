// Reading instances and answers for the verbs: any problem, from a file or standard input, liberties reported.
#pragma once

#include "input_source.hpp"
#include "verb_command.hpp"

#include <subquad/reductions/registry.hpp>
#include <subquad/sat/cnf.hpp>

#include <string>

namespace subquad::drivers {

/// Reads a DIMACS formula leniently; each liberty taken becomes a note on stderr. Throws Error(input).
sat::Cnf read_formula(InputSource& input, const VerbCommand& command);

/// Reads an instance of a registered problem; CNFs as read_formula does. Throws Error(input).
reductions::AnyInstance read_any_instance(const reductions::ProblemEntry& problem, InputSource& input,
                                          const VerbCommand& command);

/// Reads an answer for this instance. Throws Error(input) if its digest line names another instance; an answer without
/// a digest line is accepted with a note.
reductions::AnyAnswer read_any_answer(const reductions::ProblemEntry& problem, const reductions::AnyInstance& instance,
                                      InputSource& input, const VerbCommand& command);

}  // namespace subquad::drivers
