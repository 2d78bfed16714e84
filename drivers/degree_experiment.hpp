// The table of least degrees (AA22): for each interval and epsilon the certified least degree, both halves judged.
#pragma once

#include <subquad/core/execution.hpp>
#include <subquad/exact/exp_problem.hpp>

#include <string>
#include <vector>

namespace subquad::drivers {

/// Which problem stands in a table.
enum class DegreeTable {
  relative,  ///< e^x on [-B, B], relative error
  absolute,  ///< e^x on [0, B], absolute error
  decaying   ///< e^-x on [0, B], absolute error: e^x on [-B, 0]
};

struct DegreeOptions {
  DegreeTable table = DegreeTable::relative;
  std::vector<std::string> sizes;     ///< B, exact numbers; empty: those of the published table
  std::vector<std::string> epsilons;  ///< exact numbers; empty: those of the published table
};

/// One cell.
struct DegreeCell {
  std::string size;
  std::string epsilon;
  int degree = 0;
  std::string error_bound;  ///< proved upper bound of the polynomial's error, a decimal rounded up
  std::string lower_bound;  ///< proved lower bound of the error of every polynomial of degree - 1; "" for degree 0
  bool certified = false;   ///< verifiers/exp_polynomial says that the degree is the least
  double seconds = 0.0;     ///< search and both proofs, without the verifier
};

/// The sizes and epsilons that `options` stands for.
DegreeOptions with_defaults(DegreeOptions options);

/// Computes all cells, row by row. Errors as exact::certified_minimal_degree; Error(parameter) for words that are no
/// numbers.
std::vector<DegreeCell> run_degrees(const DegreeOptions& options, const Execution& execution);

}  // namespace subquad::drivers
