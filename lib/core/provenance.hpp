// Provenance: where a written file came from. Stands in the comments or metadata of everything that subquad writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace subquad {

/// Returns the version of the library, for example "0.1.0".
std::string version();

/// What a written file says about its making. All fields may be empty.
struct Provenance {
  std::string command;                ///< the command line, or the calling function
  std::optional<std::uint64_t> seed;  ///< when random numbers were used
  std::string source;                 ///< name of the input, empty if none
  std::string source_digest;          ///< digest of the input's bytes, empty if none

  /// Returns comment lines without prefix: "subquad 0.1.0", "command: ...", "seed: ...", "source: NAME (DIGEST)".
  /// Control characters in the command or name are escaped, so that no line can break out of its comment.
  std::vector<std::string> lines() const;

  friend bool operator==(const Provenance&, const Provenance&) = default;
};

}  // namespace subquad
