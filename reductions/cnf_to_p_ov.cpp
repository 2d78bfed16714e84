#include "parameter_values.hpp"

#include <subquad/core/error.hpp>
#include <subquad/reductions/cnf_to_p_ov.hpp>

#include <utility>

namespace subquad::reductions {

using problems::OrthogonalTuples;

std::vector<ParameterSpec> CnfToPOv::Parameters::specs() {
  return {
      {"parts", "3", "1..1000000", "number of parts p; may exceed the number of variables"},
      {"drop_tautologies", "false", "true or false", "give clauses with x and not-x no coordinate"},
      {"drop_duplicates", "false", "true or false", "give clauses equal to an earlier one no coordinate"},
  };
}

CnfToPOv::Parameters CnfToPOv::Parameters::parse(const ParameterValues& values) {
  const std::vector<ParameterSpec> table = specs();
  const ParameterReader reader("cnf_to_p_ov", table, values);
  Parameters parameters;
  parameters.parts = reader.integer("parts", 1, kMostParts);
  parameters.clauses.drop_tautologies = reader.boolean("drop_tautologies");
  parameters.clauses.drop_duplicates = reader.boolean("drop_duplicates");
  return parameters;
}

CnfToPOv::CnfToPOv(Parameters parameters) : parameters_(parameters) {
  require(parameters_.parts >= 1 && parameters_.parts <= kMostParts, ErrorKind::parameter,
          "cnf_to_p_ov: parts = {}, expected 1..{}", parameters_.parts, kMostParts);
}

ReductionInfo CnfToPOv::info() {
  return {"cnf_to_p_ov",
          "cnf",
          "p-ov",
          ReductionKind::many_one,
          "models are orthogonal p-tuples: split the variables into p parts (every clause is kept by default)",
          "Williams05",
          "W05.P",
          "SETH => p-OV conjecture"};
}

std::vector<SizeBound> CnfToPOv::size_bounds() const {
  const SizeExpression n = field("num_variables");
  const SizeExpression p(parameters_.parts);
  const bool all_clauses = parameters_.clauses == ClauseSelection{};
  return {{"num_parts", BoundKind::exact, p},
          {"max_part", BoundKind::exact, pow2(ceil_div(n, p))},
          {"num_tuples", BoundKind::exact, pow2(n)},
          {"dim", all_clauses ? BoundKind::exact : BoundKind::upper_bound, field("num_clauses")}};
}

std::uint64_t CnfToPOv::part_variables(const sat::Cnf& formula, std::uint64_t q) const {
  require(q < parameters_.parts, ErrorKind::parameter, "part {} of {}", q, parameters_.parts);
  const std::uint64_t n = formula.num_variables();
  return n / parameters_.parts + (q < n % parameters_.parts ? 1 : 0);
}

OrthogonalTuples::Instance CnfToPOv::reduce(const sat::Cnf& formula, const Execution& execution) const {
  const std::vector<std::uint64_t> kept = select_clauses(formula, parameters_.clauses);
  std::vector<AssignmentVectors> parts;
  parts.reserve(parameters_.parts);
  std::uint32_t first = 0;
  for (std::uint64_t q = 0; q < parameters_.parts; ++q) {
    const std::uint64_t count = part_variables(formula, q);
    parts.emplace_back(formula, first, count, kept);
    first += static_cast<std::uint32_t>(count);
  }
  require_memory(parts);
  OrthogonalTuples::Instance instance;
  instance.parts.reserve(parts.size());
  for (const AssignmentVectors& part : parts) instance.parts.push_back(part.build(execution).rows);
  return instance;
}

sat::CnfSat::Answer CnfToPOv::lift(const sat::Cnf& formula, const OrthogonalTuples::Instance& target,
                                   const OrthogonalTuples::Answer& answer) const {
  require(target.parts.size() == parameters_.parts, ErrorKind::parameter,
          "cnf_to_p_ov: a p-OV instance of {} parts, expected {}", target.parts.size(), parameters_.parts);
  for (std::uint64_t q = 0; q < parameters_.parts; ++q) {
    const std::uint64_t count = part_variables(formula, q);
    require(count < 64 && target.parts[q].rows() == std::uint64_t{1} << count, ErrorKind::parameter,
            "cnf_to_p_ov: part {} has {} vectors, expected 2^{}", q, target.parts[q].rows(), count);
  }
  if (!answer.witness) return {};
  const std::vector<std::uint64_t>& indices = *answer.witness;
  if (indices.size() != parameters_.parts) {
    throw OracleRefuted(
        fmt::format("the oracle's tuple has {} indices, expected {}", indices.size(), parameters_.parts),
        indices.empty() ? 0 : indices.front());
  }
  std::vector<std::uint64_t> common;
  for (std::uint64_t q = 0; q < parameters_.parts; ++q) {
    if (indices[q] >= target.parts[q].rows()) {
      throw OracleRefuted(fmt::format("the oracle's tuple names vector {} of part {}, which has {}", indices[q], q,
                                      target.parts[q].rows()),
                          indices.front());
    }
    const auto row = target.parts[q].row(indices[q]);
    if (q == 0) common.assign(row.begin(), row.end());
    for (std::size_t w = 0; w < common.size(); ++w) common[w] &= row[w];
  }
  if (weight(common) != 0) {
    throw OracleRefuted(fmt::format("the oracle's tuple has {} common coordinates, expected none", weight(common)),
                        indices.front());
  }
  sat::Model model;
  model.reserve(formula.num_variables());
  for (std::uint64_t q = 0; q < parameters_.parts; ++q)
    for (std::uint64_t j = 0; j < part_variables(formula, q); ++j) model.push_back(((indices[q] >> j) & 1U) != 0);
  return {model};
}

}  // namespace subquad::reductions
