// Output files that appear whole or not at all.
#pragma once

#include <filesystem>
#include <ostream>
#include <memory>
#include <string>

namespace subquad {

/// Writes to a temporary beside `path` and renames it on commit(); "-" writes to standard output.
/// A destructor without commit() removes the temporary, so an exception or an interruption leaves nothing half-written.
class OutputFile {
 public:
  /// Opens for writing. Throws Error(input) if the folder cannot be written.
  explicit OutputFile(const std::string& path, bool binary = false);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  std::ostream& stream();
  /// Flushes, checks and renames. Throws Error(resource) if a write failed (disk full, closed pipe).
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace subquad
