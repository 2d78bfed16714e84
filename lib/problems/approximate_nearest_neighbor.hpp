// (1+eps)-approximate nearest neighbours in Hamming space: for each query a value and a key that is nearly nearest.
#pragma once

#include <subquad/core/bit_matrix.hpp>
#include <subquad/core/problem.hpp>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace subquad::problems {

/// (1+eps)-ANN as a problem (id "ann"). Sizes: num_queries, num_keys, dim.
struct ApproximateNearestNeighbor {
  static constexpr std::string_view kId = "ann";
  static constexpr std::string_view kTitle = "approximate nearest neighbours (Hamming)";
  static constexpr std::string_view kExtension = ".ann";

  /// queries: n x dim, keys: n_k x dim, n_k >= 1 unless n = 0; eps = eps_num / eps_den >= 0 (exact), eps_den >= 1.
  struct Instance {
    BitMatrix queries;
    BitMatrix keys;
    std::uint64_t eps_num = 0;
    std::uint64_t eps_den = 1;
    friend bool operator==(const Instance&, const Instance&) = default;
  };
  /// One entry a query: value <= nearest distance <= floor((1+eps) value) in the paper's sense (24-chain: VALUE), and
  /// key, the index of some key at distance <= floor((1+eps) value).
  struct Answer {
    struct Row {
      std::uint64_t value = 0;
      std::uint64_t key = 0;
      friend bool operator==(const Row&, const Row&) = default;
    };
    std::vector<Row> rows;
    friend bool operator==(const Answer&, const Answer&) = default;
  };

  static std::vector<std::string> size_fields();
  static Sizes size(const Instance& instance);
  static Digest digest(const Instance& instance);
  /// Exact nearest neighbours (valid for every eps), smallest index on ties.
  static Answer solve_brute_force(const Instance& instance, const Execution& execution = {});
  /// Recomputes all distances. Refuted names the first wrong row; never undecided. O(n n_k dim/64), threads.
  static Report check(const Instance& instance, const Answer& answer);
  /// Text format: docs/formats.md. Throws Error(input) "name:line: what, expected what".
  static Instance read_instance(std::istream& in, const std::string& name);
  static void write_instance(std::ostream& out, const Instance& instance, const Provenance& provenance);
  static AnswerFile<Answer> read_answer(std::istream& in, const std::string& name);
  static void write_answer(std::ostream& out, const Instance& instance, const Answer& answer,
                           const Provenance& provenance);
};

/// Returns floor((1 + eps) value), the largest distance that an answer `value` allows; 2^64 - 1 if that does not fit.
std::uint64_t relaxed(const ApproximateNearestNeighbor::Instance& instance, std::uint64_t value);

/// Throws Error(parameter) if dims differ, there is a query but no key, or eps_den = 0.
void validate(const ApproximateNearestNeighbor::Instance& instance);

}  // namespace subquad::problems
