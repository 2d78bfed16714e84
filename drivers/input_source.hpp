// Input source: a file or standard input as a stream, with the digest of its bytes for provenance.
#pragma once

#include <subquad/core/digest.hpp>
#include <subquad/core/provenance.hpp>

#include <istream>
#include <memory>
#include <string>

namespace subquad::drivers {

/// Opens `path` ("-": standard input) for reading and digests the bytes as they pass, in one pass and O(1) memory.
class InputSource {
 public:
  /// Throws Error(input) `path: what, expected what` for a missing or unreadable file and for a folder.
  explicit InputSource(const std::string& path);
  ~InputSource();
  InputSource(const InputSource&) = delete;
  InputSource& operator=(const InputSource&) = delete;

  /// Reading throws Error(interrupted) after a stop request and Error(input) when the device fails.
  std::istream& stream();
  const std::string& path() const noexcept { return path_; }

  /// Reads what is left and returns the digest of all bytes (that is, of the file).
  Digest digest();

 private:
  class Buffer;
  std::string path_;
  std::unique_ptr<Buffer> buffer_;
  std::unique_ptr<std::istream> stream_;
};

/// Provenance of an output made by `command` from this input; reads the input to its end.
Provenance provenance(const std::string& command, InputSource& input);

}  // namespace subquad::drivers
