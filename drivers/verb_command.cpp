#include "verb_command.hpp"

#include "interruption.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/line_reader.hpp>
#include <subquad/reductions/registry.hpp>

#include <algorithm>
#include <charconv>
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

// The chain of sub-commands that were given, the verb first.
std::vector<const CLI::App*> parsed_chain(const CLI::App& app) {
  std::vector<const CLI::App*> chain{&app};
  while (!chain.back()->get_subcommands().empty()) chain.push_back(chain.back()->get_subcommands().front());
  return chain;
}

// "--tolerance" and "--kernel": what may follow here.
std::vector<std::string> long_names(const std::vector<const CLI::App*>& chain) {
  std::vector<std::string> names;
  for (const CLI::App* app : chain)
    for (const CLI::Option* option : app->get_options())
      if (!option->get_group().empty())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// CLI11 reads unsigned numbers as strtoull does: "-1" wraps around, "010" is octal, and what overflows is cut.
std::string no_whole_number(const std::string& word) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc() && end == word.data() + word.size() && (word == "0" || word.front() != '0')) return {};
  return fmt::format("{} is no whole number from 0 to 2^64 - 1", subquad::quoted(word));
}

// CLI11's ranges let NaN through.
std::string no_finite_number(const std::string& word) {
  return parse_real(word) ? std::string() : fmt::format("{} is no finite number", subquad::quoted(word));
}

void check_numbers(CLI::App& app) {
  for (CLI::Option* option : app.get_options([](CLI::Option*) { return true; })) {
    if (option->get_type_name().rfind("UINT", 0) == 0) option->check(no_whole_number);
    if (option->get_type_name().rfind("FLOAT", 0) == 0) option->check(no_finite_number);
  }
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) check_numbers(*sub);
}

// A word that nothing took is the reason of whatever the parser complains about.
void explain_extra_word(const CLI::App& app) {
  const std::vector<std::string> rest = app.remaining(true);
  if (rest.empty()) return;
  const std::string& extra = rest.front();
  const auto chain = parsed_chain(app);
  if (extra.size() > 1 && extra.front() == '-')
    VerbCommand::unknown("option", extra.substr(0, extra.find('=')), long_names(chain));
  std::vector<std::string> words;
  for (const CLI::App* sub : chain.back()->get_subcommands([](const CLI::App*) { return true; }))
    words.push_back(sub->get_name());
  if (!words.empty()) VerbCommand::unknown("word", extra, words);
  fail(ErrorKind::parameter, "{}: unexpected argument '{}' (see {} --help)", app.get_name(), extra, app.get_name());
}

void explain_missing_word(const CLI::App& app) {
  const auto chain = parsed_chain(app);
  std::vector<std::string> words;
  for (const CLI::App* sub : chain.back()->get_subcommands([](const CLI::App*) { return true; }))
    words.push_back(sub->get_name());
  if (!words.empty())
    fail(ErrorKind::parameter, "{}: a word is missing, expected one of: {}", app.get_name(), fmt::join(words, ", "));
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
  check_numbers(app);
  try {
    std::vector<std::string> reversed(arguments_.rbegin(), arguments_.rend());  // the order that CLI11 asks for
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return false;
  } catch (const CLI::ParseError& error) {
    explain_extra_word(app);
    explain_missing_word(app);
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
