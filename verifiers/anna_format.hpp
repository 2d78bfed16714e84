// Text format of ANNA's collision counts (docs/formats.md, anna-weights).
#pragma once

#include <subquad/core/provenance.hpp>
#include <subquad/verifiers/anna.hpp>

#include <cstdint>
#include <istream>
#include <ostream>
#include <string>
#include <vector>

namespace subquad::verifiers {

/// One line of a file: key was met `count` times by query.
struct AnnaEntry {
  std::uint64_t query = 0;
  std::uint64_t key = 0;
  std::uint64_t count = 0;
  friend bool operator==(const AnnaEntry&, const AnnaEntry&) = default;
};

/// Counts of num_queries queries over num_keys keys, and the claim that they satisfy the definition.
struct AnnaWeights {
  std::uint64_t num_queries = 0;
  std::uint64_t num_keys = 0;
  AnnaClaim claim;
  std::vector<AnnaEntry> entries;  ///< ascending by query, then by key
  friend bool operator==(const AnnaWeights&, const AnnaWeights&) = default;

  /// The counts by query, num_queries lists: O(num_queries) memory whatever the file held, so compare the sizes with
  /// those of Q and K before.
  std::vector<AnnaRow> rows() const;
};

/// The other way round. Throws Error(parameter) for keys out of range or not ascending.
AnnaWeights make_anna_weights(std::uint64_t num_keys, const AnnaClaim& claim, const std::vector<AnnaRow>& rows);

/// Reads a file. Throws Error(input) "name:line: what, expected what": queries or keys out of range or not ascending,
/// counts of 0, a bad claim, numbers of 63 bits and more. Memory grows with the lines read.
AnnaWeights read_anna_weights(std::istream& in, const std::string& name);

/// Writes a file; read_anna_weights gives it back exactly. Throws Error(parameter) for a count of 2^62 or more.
void write_anna_weights(std::ostream& out, const AnnaWeights& weights, const Provenance& provenance);

}  // namespace subquad::verifiers
