#include "parameter_values.hpp"

#include <subquad/core/error.hpp>
#include <subquad/reductions/cnf_to_ov.hpp>

#include <array>
#include <utility>

namespace subquad::reductions {

using problems::OrthogonalVectors;

std::vector<ParameterSpec> CnfToOv::Parameters::specs() {
  return {
      {"left_variables", "balanced", "balanced or 0..n", "variables on the left side; balanced is ceil(n/2)"},
      {"drop_tautologies", "false", "true or false", "give clauses with x and not-x no coordinate"},
      {"drop_duplicates", "false", "true or false", "give clauses equal to an earlier one no coordinate"},
  };
}

CnfToOv::Parameters CnfToOv::Parameters::parse(const ParameterValues& values) {
  const std::vector<ParameterSpec> table = specs();
  const ParameterReader reader("cnf_to_ov", table, values);
  Parameters parameters;
  if (reader.text("left_variables") != "balanced")
    parameters.left_variables = reader.integer("left_variables", 0, sat::kMaxVariables);
  parameters.clauses.drop_tautologies = reader.boolean("drop_tautologies");
  parameters.clauses.drop_duplicates = reader.boolean("drop_duplicates");
  return parameters;
}

ReductionInfo CnfToOv::info() {
  return {"cnf_to_ov",
          "cnf",
          "ov",
          ReductionKind::many_one,
          "models are orthogonal pairs: split the variables, one coordinate a clause (every clause is kept by default)",
          "Williams05",
          "W05",
          "SETH => OV conjecture"};
}

std::vector<SizeBound> CnfToOv::size_bounds() const {
  const SizeExpression n = field("num_variables");
  const bool balanced = !parameters_.left_variables.has_value();
  const SizeExpression left = balanced ? ceil_div(n, 2) : SizeExpression(*parameters_.left_variables);
  const SizeExpression right = balanced ? floor_div(n, 2) : monus(n, left);
  const bool all_clauses = parameters_.clauses == ClauseSelection{};
  return {{"num_a", BoundKind::exact, pow2(left)},
          {"num_b", BoundKind::exact, pow2(right)},
          {"dim", all_clauses ? BoundKind::exact : BoundKind::upper_bound, field("num_clauses")}};
}

std::uint64_t CnfToOv::left_count(const sat::Cnf& formula) const {
  const std::uint64_t n = formula.num_variables();
  const std::uint64_t left = parameters_.left_variables.value_or(n - n / 2);
  require(left <= n, ErrorKind::parameter, "cnf_to_ov: left_variables = {}, the formula has {} variables", left, n);
  return left;
}

AssignmentVectors CnfToOv::left(const sat::Cnf& formula) const {
  return AssignmentVectors(formula, 0, left_count(formula), select_clauses(formula, parameters_.clauses));
}

AssignmentVectors CnfToOv::right(const sat::Cnf& formula) const {
  const std::uint64_t left = left_count(formula);
  return AssignmentVectors(formula, static_cast<std::uint32_t>(left), formula.num_variables() - left,
                           select_clauses(formula, parameters_.clauses));
}

OrthogonalVectors::Instance CnfToOv::reduce(const sat::Cnf& formula, const Execution& execution) const {
  // Both sides are looked at before either is built, so that what cannot be built is refused before memory is touched.
  const std::array<AssignmentVectors, 2> sides = {left(formula), right(formula)};
  require_memory(sides);
  OrthogonalVectors::Instance instance;
  instance.a = sides[0].build(execution).rows;
  instance.b = sides[1].build(execution).rows;
  return instance;
}

sat::CnfSat::Answer CnfToOv::lift(const sat::Cnf& formula, const OrthogonalVectors::Instance& target,
                                  const OrthogonalVectors::Answer& answer) const {
  const std::uint64_t left = left_count(formula);
  const std::uint64_t right = formula.num_variables() - left;
  require(left < 64 && right < 64 && target.a.rows() == std::uint64_t{1} << left &&
              target.b.rows() == std::uint64_t{1} << right,
          ErrorKind::parameter, "cnf_to_ov: an OV instance of {} x {} vectors is not that of a formula split {} + {}",
          target.a.rows(), target.b.rows(), left, right);
  if (!answer.witness) return {};
  const std::uint64_t i = answer.witness->first;
  const std::uint64_t j = answer.witness->second;
  if (i >= target.a.rows() || j >= target.b.rows()) {
    throw OracleRefuted(fmt::format("the oracle's pair ({}, {}) does not exist: there are {} x {} vectors", i, j,
                                    target.a.rows(), target.b.rows()),
                        i);
  }
  const std::uint64_t product = inner_product(target.a.row(i), target.b.row(j));
  if (product != 0)
    throw OracleRefuted(fmt::format("the oracle's pair ({}, {}) has inner product {}, expected 0", i, j, product), i);
  sat::Model model(formula.num_variables());
  for (std::uint64_t v = 0; v < left; ++v) model[v] = ((i >> v) & 1U) != 0;
  for (std::uint64_t v = 0; v < right; ++v) model[left + v] = ((j >> v) & 1U) != 0;
  return {model};
}

std::pair<std::uint64_t, std::uint64_t> CnfToOv::push_forward(const sat::Cnf& formula, const sat::Model& model) const {
  const std::uint64_t left = left_count(formula);
  require(model.size() == formula.num_variables(), ErrorKind::parameter,
          "model of {} values, the formula has {} variables", model.size(), formula.num_variables());
  require(left < 64 && model.size() - left < 64, ErrorKind::resource,
          "a side of 64 variables or more has no 64-bit index");
  std::pair<std::uint64_t, std::uint64_t> indices{0, 0};
  for (std::uint64_t v = 0; v < left; ++v) indices.first |= std::uint64_t{model[v]} << v;
  for (std::uint64_t v = left; v < model.size(); ++v) indices.second |= std::uint64_t{model[v]} << (v - left);
  return indices;
}

}  // namespace subquad::reductions
