#include "random_clause.hpp"

#include <subquad/core/error.hpp>
#include <subquad/sat/cnf.hpp>

#include <algorithm>

namespace subquad::sat {

void check_k_sat_parameters(std::string_view generator, std::uint64_t num_variables, std::uint64_t clause_width) {
  require(clause_width >= 1, ErrorKind::parameter, "{}: clause width 0, expected at least 1", generator);
  require(num_variables <= kMaxVariables, ErrorKind::parameter, "{}: {} variables, at most {} are supported", generator,
          num_variables, kMaxVariables);
  require(clause_width <= num_variables, ErrorKind::parameter,
          "{}: clause width {} needs that many distinct variables, but there are only {}", generator, clause_width,
          num_variables);
}

std::vector<std::uint32_t> draw_variables(std::uint64_t num_variables, std::uint64_t count, Random& random) {
  std::vector<std::uint32_t> chosen;  // ascending
  chosen.reserve(count);
  for (std::uint64_t last = num_variables - count; last < num_variables; ++last) {
    auto variable = static_cast<std::uint32_t>(random.below(last + 1));
    auto place = std::lower_bound(chosen.begin(), chosen.end(), variable);
    if (place != chosen.end() && *place == variable) {
      variable = static_cast<std::uint32_t>(last);  // larger than everything chosen so far
      place = chosen.end();
    }
    chosen.insert(place, variable);
  }
  return chosen;
}

}  // namespace subquad::sat
