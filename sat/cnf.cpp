#include <subquad/core/error.hpp>
#include <subquad/sat/cnf.hpp>

#include <algorithm>
#include <functional>
#include <initializer_list>

namespace subquad::sat {

namespace {

std::uint32_t checked_num_variables(std::uint64_t num_variables) {
  require(num_variables <= kMaxVariables, ErrorKind::parameter, "{} variables, at most {} are supported", num_variables,
          kMaxVariables);
  return static_cast<std::uint32_t>(num_variables);
}

}  // namespace

Cnf::Cnf(std::uint64_t num_variables) : num_variables_(checked_num_variables(num_variables)) {}

std::span<const Literal> Cnf::clause(std::uint64_t c) const {
  require(c < ends_.size(), ErrorKind::parameter, "clause {} of a formula with {} clauses", c, ends_.size());
  const std::uint64_t begin = c == 0 ? 0 : ends_[c - 1];
  return {literals_.data() + begin, ends_[c] - begin};
}

std::uint64_t Cnf::max_width() const noexcept {
  std::uint64_t widest = 0;
  std::uint64_t begin = 0;
  for (const std::uint64_t end : ends_) {
    widest = std::max(widest, end - begin);
    begin = end;
  }
  return widest;
}

void Cnf::add_clause(std::span<const Literal> clause) {
  for (const Literal literal : clause) {
    require(literal.variable() < num_variables_, ErrorKind::parameter,
            "literal {} in a clause of a formula with {} variables", literal.to_dimacs(), num_variables_);
  }
  // A clause of this very formula must not be read while the array that holds it grows.
  const Literal* const first = literals_.data();
  const bool own =
      !clause.empty() && !std::less<>()(clause.data(), first) && std::less<>()(clause.data(), first + literals_.size());
  if (ends_.size() == ends_.capacity()) ends_.reserve(2 * ends_.size() + 1);  // so that push_back cannot throw
  if (own) {
    const std::vector<Literal> copy(clause.begin(), clause.end());
    literals_.insert(literals_.end(), copy.begin(), copy.end());
  } else {
    literals_.insert(literals_.end(), clause.begin(), clause.end());
  }
  ends_.push_back(literals_.size());
}

void Cnf::add_clause(std::initializer_list<int> dimacs) {
  std::vector<Literal> clause;
  clause.reserve(dimacs.size());
  for (const std::int64_t value : dimacs) {
    require(value != 0, ErrorKind::parameter, "0 is not a literal");
    require(value <= std::int64_t{num_variables_} && -value <= std::int64_t{num_variables_}, ErrorKind::parameter,
            "literal {} in a clause of a formula with {} variables", value, num_variables_);
    clause.push_back(Literal::from_dimacs(value));
  }
  add_clause(clause);
}

}  // namespace subquad::sat
