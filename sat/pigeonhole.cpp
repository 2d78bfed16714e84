#include <subquad/core/error.hpp>
#include <subquad/sat/pigeonhole.hpp>

#include <fmt/format.h>

namespace subquad::sat {

Cnf pigeonhole(const Pigeonhole& parameters) {
  const std::uint64_t pigeons = parameters.pigeons;
  const std::uint64_t holes = parameters.holes;
  require(holes == 0 || pigeons <= kMaxVariables / holes, ErrorKind::parameter,
          "{} pigeons and {} holes take a variable each pair, at most {} variables are supported", pigeons, holes,
          kMaxVariables);
  Cnf formula(pigeons * holes);
  const auto sits = [&](std::uint64_t pigeon, std::uint64_t hole, bool negative) {
    return Literal(static_cast<std::uint32_t>(pigeon * holes + hole), negative);
  };
  std::vector<Literal> clause;
  for (std::uint64_t pigeon = 0; pigeon < pigeons; ++pigeon) {
    clause.clear();
    for (std::uint64_t hole = 0; hole < holes; ++hole) {
      clause.push_back(sits(pigeon, hole, false));
      formula.kept_comments.push_back(
          fmt::format("c varname {} p({},{})", clause.back().to_dimacs(), pigeon + 1, hole + 1));
    }
    formula.add_clause(clause);
  }
  for (std::uint64_t hole = 0; hole < holes; ++hole) {
    for (std::uint64_t first = 0; first < pigeons; ++first) {
      for (std::uint64_t second = first + 1; second < pigeons; ++second) {
        const Literal pair[] = {sits(first, hole, true), sits(second, hole, true)};
        formula.add_clause(pair);
      }
    }
  }
  return formula;
}

}  // namespace subquad::sat
