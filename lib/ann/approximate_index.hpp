// Approximate indexes behind one handle: our LSH tables, and FAISS where the build has it. They promise nothing:
// measure their recall (ann::recall).
#pragma once

#include <subquad/ann/neighbors.hpp>
#include <subquad/core/execution.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace subquad::ann {

/// A built index over fixed keys, by inner product. Immutable: several threads may search at once.
class ApproximateIndex {
 public:
  virtual ~ApproximateIndex() = default;
  /// Returns `count` keys for each query, best first by their score in float64, equal scores by ascending index;
  /// result.exact = false, no score_error.
  /// Errors  Error(parameter): shapes, 1 <= count <= n_k, entries that are not finite; Error(interrupted)
  virtual Neighbors search(const Eigen::Ref<const problems::MatrixD>& q, std::uint64_t count,
                           const Execution& execution = {}) const = 0;
  virtual std::string description() const = 0;  ///< "lsh: 10 bits, 16 tables, 4 probes"
  virtual std::uint64_t bytes() const = 0;      ///< of the index beyond the keys
};

/// Parameters of LSH. More tables or probes, or fewer bits: better recall, more keys scored.
struct LshOptions {
  int bits = 0;  ///< hyperplanes a table, 1 to 60; 0: log2(n_k/16), so that a bucket holds some 16 keys
  int tables = 16;
  int probes = 4;  ///< codes looked up a table: the query's, then with the least certain bits flipped one at a time
  std::uint64_t seed = 1;
};

/// LSH for inner products. Keys are lifted to a sphere, k -> (k, sqrt(M^2 - |k|^2)) with M the largest norm, and
/// queries to (q, 0) (NeyshaburSrebro15): there the largest inner product is the smallest angle. A table sorts the keys
/// by hyperplane code; the keys of the probed codes of all tables are scored exactly. If they are fewer than asked for,
/// neighbours in the sorted order of the tables (longest common prefix) fill up.
///
/// Cost    O(n_k tables (bits d + log n_k)) to build; a search O(tables bits d + candidates d) a query
/// Errors  Error(parameter): no keys, entries that are not finite, options out of range
/// The keys are referred to and must outlive the index.
std::unique_ptr<ApproximateIndex> make_lsh_index(const problems::MatrixD& keys, const LshOptions& options = {},
                                                 const Execution& execution = {});

/// Parameters of inverted lists.
struct InvertedListOptions {
  int lists = 0;   ///< 0: 4 sqrt(n_k), at most n_k/39 (FAISS wants 39 training points a list), at least 1
  int probes = 8;  ///< lists looked at
};

/// True iff this build has FAISS (SUBQUAD_FAISS).
bool have_faiss() noexcept;

/// FAISS inverted lists by inner product (IndexIVFFlat, float32; scores are computed again in float64).
/// Errors  Error(unsupported) if the build has no FAISS; Error(parameter) as above
std::unique_ptr<ApproximateIndex> make_faiss_index(const problems::MatrixD& keys,
                                                   const InvertedListOptions& options = {});

}  // namespace subquad::ann
