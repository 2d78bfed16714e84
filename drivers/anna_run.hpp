// ANNA run: attention by hash tables on matrices, planned, run, reported and perhaps verified.
#pragma once

#include "anna_planning.hpp"
#include "verb_command.hpp"

#include <string>
#include <vector>

namespace subquad::drivers {

struct AnnaRunOptions {
  AnnaOptions plan;
  std::vector<std::string> files;  ///< Q.npy, K.npy, V.npy
  std::string memory = "linear";   ///< linear or tables
  std::string output;              ///< .npy, or nothing
  std::string weights;             ///< anna-weights file, or nothing
  bool verify = false;
  bool compare = false;  ///< time the exact softmax kernel on the same matrices

  /// Adds the options of `subquad anna run` to its sub-command.
  void add_to(CLI::App& app);
};

/// Plans, runs and reports. Returns kDone, or kRefuted if --verify found a violation (which the plan allows with
/// probability up to its failure bound). Errors: those of the parts, and Error(resource) beyond the resource guard.
int anna_run(const AnnaRunOptions& options, VerbCommand& command);

}  // namespace subquad::drivers
