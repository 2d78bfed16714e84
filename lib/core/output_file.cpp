#include <subquad/core/error.hpp>
#include <subquad/core/output_file.hpp>

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace subquad {

namespace fs = std::filesystem;

struct OutputFile::State {
  std::string path;    // as the caller wrote it, for messages
  fs::path target;     // what the temporary replaces
  fs::path temporary;  // empty: written in place
  bool standard_output = false;
  bool committed = false;
  std::ofstream file;
};

OutputFile::OutputFile(const std::string& path, bool binary) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.path = path;
  if (path == "-") {
    state.standard_output = true;
    return;
  }
  const auto mode = binary ? std::ios::out | std::ios::binary : std::ios::out;
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  require(!fs::is_directory(status), ErrorKind::input, "{}: is a folder, expected the name of a file", path);
  errno = 0;
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    state.file.open(path, mode);
    require(state.file.is_open(), ErrorKind::input, "{}: cannot be written ({})", path, std::strerror(errno));
    return;
  }
  state.target = fs::exists(status) ? fs::canonical(path, ignored) : fs::path(path);
  if (state.target.empty()) state.target = path;
  // Process id and counter keep two writers of one path apart; the rename makes the last one win, whole.
  static std::atomic<unsigned> counter{0};
  const fs::path temporary = fmt::format("{}.tmp{}-{}", state.target.string(), ::getpid(), counter.fetch_add(1));
  state.file.open(temporary, mode);
  require(state.file.is_open(), ErrorKind::input, "{}: cannot be written ({})", path, std::strerror(errno));
  state.temporary = temporary;
  if (fs::exists(status)) fs::permissions(temporary, status.permissions(), ignored);
}

OutputFile::~OutputFile() {
  if (state_->committed || state_->temporary.empty()) return;
  state_->file.close();
  std::error_code ignored;
  fs::remove(state_->temporary, ignored);
}

std::ostream& OutputFile::stream() {
  if (state_->standard_output) return std::cout;
  return state_->file;
}

void OutputFile::commit() {
  State& state = *state_;
  if (state.committed) return;
  errno = 0;
  stream().flush();
  if (!state.standard_output && stream().good()) state.file.close();
  require(stream().good(), ErrorKind::resource, "{}: writing failed ({})", state.path,
          errno != 0 ? std::strerror(errno) : "the stream was already in error");
  if (!state.temporary.empty()) {
    std::error_code error;
    fs::rename(state.temporary, state.target, error);
    require(!error, ErrorKind::resource, "{}: cannot be replaced ({})", state.path, error.message());
  }
  state.committed = true;
}

}  // namespace subquad
