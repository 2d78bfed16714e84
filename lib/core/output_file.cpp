#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include <subquad/core/error.hpp>
#include <subquad/core/output_file.hpp>

namespace subquad {

struct OutputFile::State {
  std::string path;
  std::string temporary;  // empty: standard output
  std::ofstream file;
  bool committed = false;
};

OutputFile::OutputFile(const std::string& path, bool binary) : state_(std::make_unique<State>()) {
  state_->path = path;
  if (path == "-") return;
  // The process id keeps two writers of one path apart; the rename makes the last one win, whole.
  state_->temporary = fmt::format("{}.tmp{}", path, ::getpid());
  state_->file.open(state_->temporary, binary ? std::ios::out | std::ios::binary : std::ios::out);
  require(state_->file.is_open(), ErrorKind::input, "{}: cannot be written ({})", path, std::strerror(errno));
}

OutputFile::~OutputFile() {
  if (state_->committed || state_->temporary.empty()) return;
  state_->file.close();
  std::error_code ignored;
  std::filesystem::remove(state_->temporary, ignored);
}

std::ostream& OutputFile::stream() { return state_->temporary.empty() ? std::cout : state_->file; }

void OutputFile::commit() {
  stream().flush();
  require(stream().good(), ErrorKind::resource, "{}: writing failed ({})", state_->path, std::strerror(errno));
  if (!state_->temporary.empty()) {
    state_->file.close();
    require(!state_->file.fail(), ErrorKind::resource, "{}: writing failed ({})", state_->path, std::strerror(errno));
    std::error_code error;
    std::filesystem::rename(state_->temporary, state_->path, error);
    require(!error, ErrorKind::resource, "{}: cannot be replaced ({})", state_->path, error.message());
  }
  state_->committed = true;
}

}  // namespace subquad
