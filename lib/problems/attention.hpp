// Approximate attention, AAttC(n, d, B, eps_a) (AS23 Definition 1.2): softmax attention within an additive error.
//
// Att(Q,K,V) = D^-1 A V with A = exp(scale * Q K^T) entrywise and D = diag(A 1).
// An answer is a matrix T with |T - Att| <= eps_a entrywise.
#pragma once

#include <subquad/core/problem.hpp>

#include <Eigen/Core>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace subquad::problems {

/// Row-major matrices, the layout of every matrix of the library.
template <class Scalar>
using RowMajorMatrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixD = RowMajorMatrix<double>;
using MatrixF = RowMajorMatrix<float>;

/// AAttC as a problem (id "attention"). Sizes: num_queries, num_keys, dim, value_dim.
struct Attention {
  static constexpr std::string_view kId = "attention";
  static constexpr std::string_view kTitle = "approximate attention (AAttC)";
  static constexpr std::string_view kExtension = ".attention";

  /// The entries are the doubles stored here, exactly; a kernel that rounds them accounts for that in its own error.
  struct Instance {
    MatrixD q;                   ///< n x d, finite
    MatrixD k;                   ///< n_k x d, finite, n_k >= 1 unless n = 0
    MatrixD v;                   ///< n_k x d_v, finite
    double scale = 1.0;          ///< factor of the logits; AS23 uses 1/d
    double entry_bound = 0.0;    ///< B: no entry of q, k, v is larger in absolute value
    double log_tolerance = 0.0;  ///< ln eps_a (natural log): the paper's eps_a = n^-C_a underflows as a double
    friend bool operator==(const Instance& x, const Instance& y);
  };

  /// An enclosure of ln(u) for a non-negative number u: log_low <= ln u <= log_high (u = 0 has log_low = -inf).
  struct LogEnclosure {
    double log_low = 0.0;
    double log_high = 0.0;
    friend bool operator==(const LogEnclosure&, const LogEnclosure&) = default;
  };

  struct Answer {
    MatrixD output;  ///< n x d_v; NaN-free
    /// If not empty: one rigorous enclosure of ln(output(i,0)) a row, from an oracle that works in the log domain.
    std::vector<LogEnclosure> log_column;
    friend bool operator==(const Answer& x, const Answer& y);
  };

  static std::vector<std::string> size_fields();
  static Sizes size(const Instance& instance);
  static Digest digest(const Instance& instance);
  /// Straight from the definition in long double with row-max subtraction; O(n n_k (d + d_v)) time. Not rigorous.
  static Answer solve_brute_force(const Instance& instance, const Execution& execution = {});
  /// Compares with solve_brute_force: refuted/certified where the difference is clearly beyond rounding, else
  /// undecided. An entry that has a log_column is also right if the enclosure holds ln of the exact value, is no wider
  /// than 1e-6, and the double beside it agrees to 1e-6 as well: the paper's eps_a is far finer than a double can show.
  /// The rigorous check is verifiers/attention_output.
  static Report check(const Instance& instance, const Answer& answer);
  /// Text format: docs/formats.md; every double survives exactly. Throws Error(input) "name:line: what, expected what".
  static Instance read_instance(std::istream& in, const std::string& name);
  static void write_instance(std::ostream& out, const Instance& instance, const Provenance& provenance);
  static AnswerFile<Answer> read_answer(std::istream& in, const std::string& name);
  static void write_answer(std::ostream& out, const Instance& instance, const Answer& answer,
                           const Provenance& provenance);
};

/// Throws Error(parameter), with the matrix and index, for NaN or infinite entries, mismatched shapes, n_k = 0 with n >
/// 0, a scale, bound or log_tolerance that is not finite, or an entry above entry_bound.
void validate(const Attention::Instance& instance);

}  // namespace subquad::problems
