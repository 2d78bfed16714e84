// Approximate indexes behind one handle: our LSH tables, and FAISS where the build has it. They promise nothing:
// measure the recall.
#pragma once

#include <subquad/ann/neighbors.hpp>
#include <subquad/core/execution.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace subquad::ann {

/// A built index over fixed keys.
class ApproximateIndex {
 public:
  virtual ~ApproximateIndex() = default;
  /// Returns up to `count` keys a query, best first by true score (float64), rows filled up with kNoKey; exact = false.
  /// Errors as exact_top_k.
  virtual Neighbors search(const Eigen::Ref<const problems::MatrixD>& q, std::uint64_t count,
                           const Execution& execution) const = 0;
  virtual std::string description() const = 0;  ///< "lsh: hyperplane, 14 bits, 24 tables"
  virtual std::uint64_t bytes() const = 0;      ///< beyond the keys
};

/// LSH for inner products: keys are lifted to a sphere (Neyshabur & Srebro 2015: k -> (k, sqrt(M^2 - |k|^2)), M the
/// largest norm; q -> (q, 0)), where the largest inner product is the nearest neighbour; hyperplane codes; the
/// candidates of all tables (and of codes with one of the least certain bits flipped, `probes` a table) are scored
/// exactly.
struct LshOptions {
  int bits = 0;  ///< hyperplanes a table; 0: log2(n_k / 16), at least 1, at most 60
  int tables = 16;
  int probes = 4;  ///< codes looked at a table, >= 1
  std::uint64_t seed = 1;
};
std::unique_ptr<ApproximateIndex> make_lsh_index(const Eigen::Ref<const problems::MatrixD>& keys,
                                                 const LshOptions& options, const Execution& execution = {});

/// FAISS inverted lists over inner products (IndexIVFFlat). Throws Error(unsupported) if the build has no FAISS.
struct InvertedListOptions {
  int lists = 0;  ///< 0: 4 sqrt(n_k)
  int probes = 8;
  std::uint64_t seed = 1;
};
bool have_faiss() noexcept;
std::unique_ptr<ApproximateIndex> make_faiss_index(const Eigen::Ref<const problems::MatrixD>& keys,
                                                   const InvertedListOptions& options, const Execution& execution = {});

}  // namespace subquad::ann
