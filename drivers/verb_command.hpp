// Verb command: the command-line parser of one verb, with the options that all verbs share.
#pragma once

#include "terminal_progress.hpp"

#include <subquad/core/execution.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace subquad::drivers {

/// What a verb was called with.
struct Invocation {
  std::string verb;                    ///< "chain"
  std::vector<std::string> arguments;  ///< what follows the verb
  std::string command_line;            ///< the whole line, for provenance
};

/// The options that every verb accepts.
struct SharedOptions {
  bool json = false;       ///< one JSON object on stdout
  bool quiet = false;      ///< no prose, no progress on stderr
  bool dry_run = false;    ///< say what would be done, with sizes, and stop
  bool force = false;      ///< go on beyond the resource guard
  std::uint64_t seed = 1;  ///< of everything random
  int threads = 0;         ///< 0: all processors
};

/// Shared options that do something in a verb. The others are accepted, have no effect, and are not in its help.
enum class Effective { json, dry_run, force, seed, threads };

/// The last part of `subquad VERB --help`.
struct VerbHelp {
  std::vector<std::string> notes;     ///< shapes, formats, meaning of outputs
  std::vector<std::string> exits;     ///< "0 done"
  std::vector<std::string> examples;  ///< two command lines
};

/// Parser of one verb. Add options to `app`, then call parse().
class VerbCommand {
 public:
  VerbCommand(const Invocation& invocation, const std::string& summary, std::initializer_list<Effective> effective,
              const VerbHelp& help);

  CLI::App app;
  SharedOptions shared;
  const std::string command_line;

  /// Parses the arguments. Returns false if help was asked for (it is then printed on stdout).
  /// Throws Error(parameter) with one line and, for an unknown option, the nearest known one.
  bool parse();

  /// How heavy functions run: threads, the interruption flag, and progress if stderr is a terminal and not --quiet.
  Execution execution();

  /// Prints a line on stderr unless --quiet.
  template <class... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) const {
    if (!shared.quiet) print_note(fmt::format(format, std::forward<Args>(args)...));
  }

  /// Error(parameter) for a word that is none of the known ones, with the nearest known word.
  [[noreturn]] static void unknown(const std::string& what, const std::string& wanted,
                                   const std::vector<std::string>& known);

 private:
  static void print_note(const std::string& line);
  std::vector<std::string> arguments_;
  std::unique_ptr<TerminalProgress> progress_;
};

}  // namespace subquad::drivers
