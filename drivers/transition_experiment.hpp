// The phase transition of attention (AS23 Theorems 1.3 and 1.4), as numbers: degree and rank over n for entries that
// grow with n.
#pragma once

#include <subquad/core/count.hpp>
#include <subquad/core/execution.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace subquad::drivers {

struct TransitionOptions {
  std::vector<double> c{0.1, 0.2, 0.5, 1.0, 2.0, 4.0};  ///< B = c (ln n)^growth
  double growth = 0.5;  ///< AS23's threshold is 1/2: below it the rank is n^o(1) for d = O(log n), at it a power of n
  double dim_factor = 1.0;          ///< C: d = ceil(C ln n)
  double tolerance_exponent = 2.0;  ///< eps_a = n^-exponent
  int log2_n_low = 8;
  int log2_n_high = 60;
  int log2_n_step = 4;
};

/// One point. No data are needed: R = B^2 at AS23's scale 1/d, values in [-B, B], exact arithmetic.
struct TransitionRow {
  double c = 0.0;
  int log2_n = 0;
  std::uint64_t dim = 0;
  double entry_bound = 0.0;
  double radius = 0.0;        ///< R = B^2
  double log2_epsilon = 0.0;  ///< of the polynomial's relative error
  int degree = 0;             ///< least degree
  bool certified = false;     ///< proved the least one; else predicted (long intervals)
  Count rank;                 ///< C(g + d, d)
  Count paper_rank;           ///< C(2(g + d), 2g)
  double exponent = 0.0;      ///< log2(rank)/log2(n): below 1 the low-rank algorithm is subquadratic
};

/// Errors  Error(parameter) for c, C or exponents that are not positive, or n outside 2^1 .. 2^60
std::vector<TransitionRow> run_transition(const TransitionOptions& options, const Execution& execution);

/// The plot: exponent of the rank over log2 n, one curve for each c.
std::string draw_transition(const TransitionOptions& options, const std::vector<TransitionRow>& rows);

}  // namespace subquad::drivers
