// Verbs: the table of what the command can do. One file per verb.
#pragma once

#include "verb_command.hpp"

#include <span>

namespace subquad::drivers {

struct Verb {
  const char* name;
  const char* task;     ///< heading in `subquad --help`
  const char* summary;  ///< one line
  const char* example;
  int (*run)(const Invocation&);  ///< returns an exit status; throws Error
};

/// All verbs, grouped by task, in the order of `subquad --help`.
std::span<const Verb> verbs();

int run_chain(const Invocation& invocation);
int run_solve(const Invocation& invocation);
int run_reduce(const Invocation& invocation);
int run_lift(const Invocation& invocation);
int run_verify(const Invocation& invocation);
int run_gen(const Invocation& invocation);
int run_graph(const Invocation& invocation);
int run_exp(const Invocation& invocation);
int run_attend(const Invocation& invocation);
int run_anna(const Invocation& invocation);
int run_experiment(const Invocation& invocation);
int run_info(const Invocation& invocation);

}  // namespace subquad::drivers
