// subquad: the command. Finds the verb, runs it, and turns errors into one line and an exit status.
#include "exit_status.hpp"
#include "interruption.hpp"
#include "verbs.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/provenance.hpp>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <vector>

namespace {

using namespace subquad;
using namespace subquad::drivers;

void print_overview() {
  std::cout << "subquad " << version() << ": fine-grained complexity, executable\n\nUsage: subquad VERB [OPTIONS]\n";
  std::string task;
  for (const Verb& verb : verbs()) {
    if (task != verb.task) {
      task = verb.task;
      std::cout << '\n' << task << '\n';
    }
    std::cout << fmt::format("  {:<12}{}\n              $ {}\n", verb.name, verb.summary, verb.example);
  }
  std::cout << "\n'subquad VERB --help' shows defaults, shapes, exit statuses and examples. '-' is standard input or "
               "output.\n"
               "Exit status: 0 done, 1 refuted, 2 bad usage or input, 3 resource guard, 4 undecided, 10 satisfiable,\n"
               "20 unsatisfiable, 70 internal error, 130 interrupted.\n";
}

// A word as a shell would need it, so that the provenance line can be pasted back.
std::string shell_word(const std::string& word) {
  static const std::string kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=,./:@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// `FILE:LINE: ...` stands alone, so that editors can jump to it; every other error names the command.
bool names_a_line(const std::string& message) {
  for (std::size_t colon = message.find(':'); colon != std::string::npos; colon = message.find(':', colon + 1)) {
    std::size_t end = colon + 1;
    while (end < message.size() && std::isdigit(static_cast<unsigned char>(message[end]))) ++end;
    if (end > colon + 1 && message.compare(end, 2, ": ") == 0) return true;
  }
  return false;
}

void print_error(const std::string& message, bool alone) {
  std::string line = alone ? message : "subquad: error: " + message;
  for (char& c : line)
    if (c == '\n' || c == '\r') c = ' ';
  std::fprintf(stderr, "%s\n", line.c_str());
}

bool stdout_reader_is_gone() {
  pollfd state = {STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&state, 1, 0) == 1 && (state.revents & POLLERR) != 0;
}

int run(const std::vector<std::string>& words) {
  if (words.empty()) {
    print_overview();
    return kBadUsage;
  }
  const std::string& first = words.front();
  if (first == "--help" || first == "-h" || first == "help") {
    print_overview();
    return kDone;
  }
  if (first == "--version") {
    std::cout << "subquad " << version() << '\n';
    return kDone;
  }
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) {
    names.emplace_back(verb.name);
    if (first != verb.name) continue;
    Invocation invocation;
    invocation.verb = first;
    invocation.arguments.assign(words.begin() + 1, words.end());
    invocation.command_line = "subquad";
    for (const std::string& word : words) invocation.command_line += " " + shell_word(word);
    return verb.run(invocation);
  }
  for (const char* option : {"--help", "--version"}) names.emplace_back(option);
  VerbCommand::unknown(!first.empty() && first.front() == '-' ? "option" : "verb", first, names);
}

}  // namespace

int main(int argc, char** argv) {
  install_signal_handlers();
  int status = kInternalError;
  bool failed = true;
  try {
    status = run(std::vector<std::string>(argv + 1, argv + argc));
    failed = false;
  } catch (const Error& error) {
    // Whatever a reader made of a read cut short by a signal, the signal is the reason.
    status = stop_requested() ? static_cast<int>(kInterrupted) : static_cast<int>(exit_status(error.kind()));
    if (status == kInterrupted) {
      print_error("interrupted", false);
    } else if (error.kind() == ErrorKind::resource && stdout_reader_is_gone()) {
      return kDone;  // `| head` has seen enough
    } else if (error.kind() == ErrorKind::internal) {
      print_error(std::string("internal error: ") + error.what(), false);
    } else {
      print_error(error.what(), error.kind() == ErrorKind::input && names_a_line(error.what()));
    }
  } catch (const std::bad_alloc&) {
    status = kResourceGuard;
    print_error("out of memory", false);
  } catch (const std::exception& error) {
    print_error(std::string("internal error: ") + error.what(), false);
  }
  std::cout.flush();
  if (!failed && !std::cout.good() && !stdout_reader_is_gone()) {
    print_error("standard output: writing failed", false);
    return kResourceGuard;
  }
  return status;
}
