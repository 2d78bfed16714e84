#include "resource_guard.hpp"

#include <subquad/core/error.hpp>
#include <subquad/core/stopwatch.hpp>

namespace subquad::drivers {

namespace {

Count words(const Sizes& sizes) {
  return (size_field(sizes, "dim") + 63) / 64;
}

}  // namespace

ResourceLimits ResourceLimits::now() {
  ResourceLimits limits;
  limits.bytes = Count(available_memory_bytes()) * 4 / 5;
  return limits;
}

void check_resources(const std::string& what, const ResourceNeed& need, bool force, const ResourceLimits& limits) {
  const bool too_big = limits.bytes > 0 && need.bytes > limits.bytes;
  const bool too_long = need.operations > limits.operations;
  if (force || !(too_big || too_long)) return;
  std::string message = fmt::format("{} would need {} and {} {}; allowed are ", what, describe_bytes(need.bytes),
                                    subquad::describe(need.operations), need.operation_name);
  message += limits.bytes > 0 ? describe_bytes(limits.bytes) + " (80% of the free memory)" : std::string("any memory");
  message += fmt::format(" and {} {}; --force goes on", subquad::describe(limits.operations), need.operation_name);
  throw Error(ErrorKind::resource, message);
}

Count instance_bytes(std::string_view problem, const Sizes& sizes) {
  if (problem == "cnf") return size_field(sizes, "num_clauses") * (4 * size_field(sizes, "max_width") + 8);
  if (problem == "ov") return 8 * words(sizes) * (size_field(sizes, "num_a") + size_field(sizes, "num_b"));
  if (problem == "p-ov") return 8 * words(sizes) * size_field(sizes, "num_parts") * size_field(sizes, "max_part");
  if (problem == "gap-ann" || problem == "ann")
    return 8 * words(sizes) * (size_field(sizes, "num_queries") + size_field(sizes, "num_keys"));
  if (problem == "attention") {
    const Count& dim = size_field(sizes, "dim");
    const Count& value_dim = size_field(sizes, "value_dim");
    return 8 * (size_field(sizes, "num_queries") * dim + size_field(sizes, "num_keys") * (dim + value_dim));
  }
  fail(ErrorKind::internal, "no size model for instances of '{}'", problem);
}

ResourceNeed reference_solver_need(std::string_view problem, const Sizes& sizes) {
  ResourceNeed need;
  need.bytes = instance_bytes(problem, sizes);
  need.operation_name = "word operations";
  if (problem == "cnf") {
    need.operations = pow2(to_u64(size_field(sizes, "num_variables"), "number of variables")) *
                      (size_field(sizes, "num_clauses") + 1);
    need.operation_name = "clause visits";
  } else if (problem == "ov") {
    need.operations = size_field(sizes, "num_a") * size_field(sizes, "num_b") * words(sizes);
  } else if (problem == "p-ov") {
    need.operations = size_field(sizes, "num_tuples") * words(sizes);
  } else if (problem == "gap-ann" || problem == "ann") {
    need.operations = size_field(sizes, "num_queries") * size_field(sizes, "num_keys") * words(sizes);
  } else if (problem == "attention") {
    need.operations = size_field(sizes, "num_queries") * size_field(sizes, "num_keys") *
                      (size_field(sizes, "dim") + size_field(sizes, "value_dim"));
    need.operation_name = "multiply-adds";
  } else {
    fail(ErrorKind::internal, "no cost model for the reference solver of '{}'", problem);
  }
  return need;
}

Sizes planned_sizes(const std::vector<reductions::SizeBound>& bounds, const Sizes& source) {
  Sizes sizes;
  for (const auto& bound : bounds) sizes.emplace_back(bound.field, bound.expression.evaluate(source));
  return sizes;
}

std::string describe(const Sizes& sizes) {
  std::string text;
  for (const auto& [name, value] : sizes)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, subquad::describe(value));
  return text;
}

}  // namespace subquad::drivers
