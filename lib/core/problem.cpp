#include <subquad/core/error.hpp>
#include <subquad/core/problem.hpp>

namespace subquad {

const Count& size_field(const Sizes& sizes, std::string_view name) {
  for (const auto& [field, value] : sizes)
    if (field == name) return value;
  fail(ErrorKind::internal, "no size field '{}'", name);
}

}  // namespace subquad
