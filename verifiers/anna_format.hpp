// Text format of ANNA's collision counts (docs/formats.md, anna-weights).
#pragma once

#include <subquad/core/provenance.hpp>
#include <subquad/verifiers/anna.hpp>

#include <istream>
#include <ostream>
#include <string>
#include <vector>

namespace subquad::verifiers {

/// Counts of n queries over num_keys keys, and the claim that they satisfy the definition.
struct AnnaWeights {
  std::uint64_t num_keys = 0;
  AnnaClaim claim;
  std::vector<AnnaRow> rows;  ///< n
  friend bool operator==(const AnnaWeights&, const AnnaWeights&) = default;
};

/// Reads a file. Throws Error(input) "name:line: what, expected what": keys out of range, rows or keys not ascending,
/// counts of 0, a bad claim. Memory grows with the lines read, except for n row headers: n <= 2^32.
AnnaWeights read_anna_weights(std::istream& in, const std::string& name);

/// Writes a file; read_anna_weights gives it back exactly.
void write_anna_weights(std::ostream& out, const AnnaWeights& weights, const Provenance& provenance);

}  // namespace subquad::verifiers
