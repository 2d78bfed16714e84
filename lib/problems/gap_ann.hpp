// Gap approximate nearest neighbours in Hamming space (AS23 Definition 4.5), with integer thresholds.
//
// The paper's real pair (t, eps) is kept as integers: near iff some distance <= r_yes, far iff all distances >= r_no.
// (t, eps) -> r_yes = ceil(t) - 1, r_no = ceil((1+eps) t). Distances are integers, so nothing is lost.
#pragma once

#include <subquad/core/bit_matrix.hpp>
#include <subquad/core/problem.hpp>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace subquad::problems {

/// What the promise says about a row of a GapANN instance.
enum class RowPromise {
  near,    ///< some key within r_yes: the answer must be near
  far,     ///< every key at r_no or beyond: the answer must be far
  outside  ///< neither: any answer is right
};

/// GapANN as a problem (id "gap-ann"). Sizes: num_queries, num_keys, dim, r_yes, r_no (r_yes as max(r_yes, 0)).
struct GapAnn {
  static constexpr std::string_view kId = "gap-ann";
  static constexpr std::string_view kTitle = "gap approximate nearest neighbours (Hamming)";
  static constexpr std::string_view kExtension = ".gap";

  /// queries: n x dim, keys: n_k x dim over {0,1}; -1 <= r_yes < r_no. r_yes = -1: nothing can be near.
  struct Instance {
    BitMatrix queries;
    BitMatrix keys;
    std::int64_t r_yes = 0;
    std::int64_t r_no = 1;
    friend bool operator==(const Instance&, const Instance&) = default;
  };
  /// near[i] says "near" for row i. One value a query.
  struct Answer {
    std::vector<bool> near;
    friend bool operator==(const Answer&, const Answer&) = default;
  };

  static std::vector<std::string> size_fields();
  static Sizes size(const Instance& instance);
  static Digest digest(const Instance& instance);
  /// near[i] iff some distance <= r_yes. O(n n_k dim/64), threads. No key: all far.
  /// Throws Error(parameter) as validate() does, Error(interrupted) on a stop request.
  static Answer solve_brute_force(const Instance& instance, const Execution& execution = {});
  /// Refuted iff the length is wrong or a row inside the promise is answered wrongly; else certified.
  static Report check(const Instance& instance, const Answer& answer);
  /// What the promise says about each row. O(n n_k dim/64), threads. No key: all far.
  static std::vector<RowPromise> promise(const Instance& instance, const Execution& execution = {});
  /// Text format: docs/formats.md. Throws Error(input) "name:line: what, expected what".
  static Instance read_instance(std::istream& in, const std::string& name);
  static void write_instance(std::ostream& out, const Instance& instance, const Provenance& provenance);
  static AnswerFile<Answer> read_answer(std::istream& in, const std::string& name);
  static void write_answer(std::ostream& out, const Instance& instance, const Answer& answer,
                           const Provenance& provenance);
};

/// Throws Error(parameter) if dims differ or the thresholds are not -1 <= r_yes < r_no.
void validate(const GapAnn::Instance& instance);

}  // namespace subquad::problems
