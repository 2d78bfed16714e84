#include "verb_command.hpp"

#include "interruption.hpp"

#include <subquad/core/error.hpp>
#include <subquad/reductions/registry.hpp>

#include <algorithm>
#include <cstdio>
#include <iostream>

namespace subquad::drivers {

namespace {

std::string footer(const VerbHelp& help) {
  std::string text;
  const auto section = [&text](const char* title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    text += fmt::format("{}{}:\n", text.empty() ? "" : "\n", title);
    for (const std::string& line : lines) text += "  " + line + "\n";
  };
  section("Notes", help.notes);
  section("Exit status", help.exits);
  section("Examples", help.examples);
  return text;
}

std::string first_line(std::string text) {
  text = text.substr(0, text.find('\n'));
  while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.pop_back();
  return text;
}

// "--tolerance" and "--kernel", without help and without the dashes' short forms.
std::vector<std::string> long_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

}  // namespace

VerbCommand::VerbCommand(const Invocation& invocation, const std::string& summary,
                         std::initializer_list<Effective> effective, const VerbHelp& help)
    : app(summary, "subquad " + invocation.verb),
      command_line(invocation.command_line),
      arguments_(invocation.arguments) {
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.footer(footer(help));
  app.get_formatter()->column_width(34);
  const auto group = [&](Effective option) {
    return std::find(effective.begin(), effective.end(), option) != effective.end() ? "Shared options" : "";
  };
  app.add_flag("--json", shared.json, "Print one JSON object on stdout")->group(group(Effective::json));
  app.add_flag("--quiet", shared.quiet, "No prose and no progress on stderr")->group("Shared options");
  app.add_option("--seed", shared.seed, "Seed of everything random")
      ->capture_default_str()
      ->group(group(Effective::seed));
  app.add_option("--threads", shared.threads, "Number of threads; 0: all processors")
      ->check(CLI::Range(0, Execution::kMostThreads))
      ->capture_default_str()
      ->group(group(Effective::threads));
  app.add_flag("--dry-run", shared.dry_run, "Print sizes, bytes and estimated time, build nothing")
      ->group(group(Effective::dry_run));
  app.add_flag("--force", shared.force, "Go on beyond the resource guard")->group(group(Effective::force));
}

bool VerbCommand::parse() {
  try {
    std::vector<std::string> reversed(arguments_.rbegin(), arguments_.rend());  // the order that CLI11 asks for
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return false;
  } catch (const CLI::ExtrasError&) {
    const std::vector<std::string> rest = app.remaining();
    const std::string extra = rest.empty() ? std::string() : rest.front();
    if (extra.size() > 1 && extra.front() == '-') unknown("option", extra.substr(0, extra.find('=')), long_names(app));
    fail(ErrorKind::parameter, "{}: unexpected argument '{}' (see {} --help)", app.get_name(), extra, app.get_name());
  } catch (const CLI::ParseError& error) {
    fail(ErrorKind::parameter, "{}: {} (see {} --help)", app.get_name(), first_line(error.what()), app.get_name());
  }
  return true;
}

Execution VerbCommand::execution() {
  if (!shared.quiet && TerminalProgress::wanted() && !progress_) progress_ = std::make_unique<TerminalProgress>();
  return Execution{shared.threads, &stop_requested(), progress_.get()};
}

void VerbCommand::unknown(const std::string& what, const std::string& wanted, const std::vector<std::string>& known) {
  const std::string near = reductions::nearest_name(wanted, known);
  if (!near.empty()) fail(ErrorKind::parameter, "unknown {} '{}', did you mean '{}'?", what, wanted, near);
  fail(ErrorKind::parameter, "unknown {} '{}', expected one of: {}", what, wanted, fmt::join(known, ", "));
}

void VerbCommand::print_note(const std::string& line) {
  std::fprintf(stderr, "%s\n", line.c_str());
}

}  // namespace subquad::drivers
