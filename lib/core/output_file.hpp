// Output files that appear whole or not at all.
#pragma once

#include <memory>
#include <ostream>
#include <string>

namespace subquad {

/// Writes to a temporary beside `path` and renames it on commit(); "-" writes to standard output.
/// A destructor without commit() removes the temporary, so an exception or an interruption leaves nothing half-written.
/// A symbolic link stays a link (the file behind it is replaced), an existing file keeps its permissions, and a device
/// or pipe (/dev/null) is written in place: renaming over it would replace it by a plain file.
class OutputFile {
 public:
  /// Opens for writing. Throws Error(input) if the folder cannot be written or `path` is a folder.
  explicit OutputFile(const std::string& path, bool binary = false);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  std::ostream& stream();
  /// Flushes, checks and renames; once. Throws Error(resource) if a write failed (disk full, closed pipe).
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace subquad
