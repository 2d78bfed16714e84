#include "kernel_choice.hpp"

#include "shell_command.hpp"
#include "verb_command.hpp"

#include <subquad/core/error.hpp>
#include <subquad/io/npy.hpp>

#include <fstream>
#include <vector>

namespace subquad::drivers {

namespace {

using problems::Attention;
using problems::MatrixD;

constexpr const char* kPrefix = "cmd:";
constexpr const char* kArithmetic = "a program's";

std::string replaced(std::string text, const std::string& placeholder, const std::string& value) {
  for (std::size_t at = text.find(placeholder); at != std::string::npos; at = text.find(placeholder, at + value.size()))
    text.replace(at, placeholder.size(), value);
  return text;
}

void write(const std::string& path, const MatrixD& matrix) {
  std::ofstream file(path, std::ios::binary);
  io::write_npy(file, matrix);
  file.close();
  require(!file.fail(), ErrorKind::resource, "{}: writing failed", path);
}

Attention::Answer run_program(const std::string& pattern, const Attention::Instance& instance,
                              const Execution& execution) {
  const PrivateFolder folder;
  const auto file = [&folder](const char* name) { return (folder.path() / name).string(); };
  write(file("q.npy"), instance.q);
  write(file("k.npy"), instance.k);
  write(file("v.npy"), instance.v);
  std::string command = pattern;
  for (const char* name : {"q", "k", "v", "out"})
    command = replaced(command, fmt::format("{{{}}}", name), shell_quoted(file((std::string(name) + ".npy").c_str())));
  command = replaced(command, "{scale}", fmt::format("{}", instance.scale));
  const int status = run_shell_command(command, execution);
  require(status == 0, ErrorKind::unsupported, "the kernel program ended with status {}: {}", status, pattern);
  require(std::filesystem::exists(file("out.npy")), ErrorKind::unsupported,
          "the kernel program wrote no output {{out}}: {}", pattern);
  Attention::Answer answer;
  try {
    answer.output = io::read_npy_file<double>(file("out.npy"), io::NpyVector::as_column);
  } catch (const Error& error) {
    fail(ErrorKind::unsupported, "the kernel program's output cannot be read: {}", error.what());
  }
  require(answer.output.rows() == instance.q.rows() && answer.output.cols() == instance.v.cols(),
          ErrorKind::unsupported, "the kernel program's output is {} x {}, expected {} x {}", answer.output.rows(),
          answer.output.cols(), instance.q.rows(), instance.v.cols());
  return answer;
}

}  // namespace

attention::Kernel choose_kernel(const std::string& text) {
  if (text.rfind(kPrefix, 0) == 0) {
    const std::string pattern = text.substr(std::string(kPrefix).size());
    for (const char* name : {"{q}", "{k}", "{v}", "{out}"})
      require(pattern.find(name) != std::string::npos, ErrorKind::parameter,
              "--kernel {}: {} does not occur in the template", text, name);
    attention::Kernel kernel;
    kernel.name = text;
    kernel.arithmetic = kArithmetic;
    kernel.description = "a program that reads and writes .npy files";
    kernel.run = [pattern](const Attention::Instance& instance, const Execution& execution) {
      return run_program(pattern, instance, execution);
    };
    return kernel;
  }
  std::vector<std::string> names;
  for (const attention::Kernel& kernel : attention::kernels()) {
    if (kernel.name == text) return kernel;
    names.push_back(kernel.name);
  }
  names.emplace_back("cmd:...");
  VerbCommand::unknown("kernel", text, names);
}

bool is_shell_kernel(const attention::Kernel& kernel) {
  return kernel.arithmetic == kArithmetic;
}

}  // namespace subquad::drivers
