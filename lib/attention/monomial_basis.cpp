#include <subquad/attention/monomial_basis.hpp>
#include <subquad/core/error.hpp>

#include <algorithm>

namespace subquad::attention {
namespace {

constexpr std::uint64_t kMostMonomials = std::uint64_t{1} << 28;

}  // namespace

MonomialBasis::MonomialBasis(std::uint32_t dim, int degree) : dim_(dim), degree_(degree) {
  require(degree >= 0, ErrorKind::parameter, "monomials of degree {} are asked for, expected at least 0", degree);
  const exact::Integer size = count(dim, static_cast<std::uint64_t>(degree));
  require(size <= kMostMonomials, ErrorKind::resource,
          "{} monomials of degree {} in {} variables are asked for, expected at most {}", size.str(), degree, dim,
          kMostMonomials);
  const auto total = size.convert_to<std::size_t>();
  parent_.reserve(total);
  variable_.reserve(total);
  total_degree_.reserve(total);
  parent_.push_back(0);
  variable_.push_back(0);
  total_degree_.push_back(0);
  // A monomial is a non-decreasing sequence of variables: append to each of one degree less every variable from its
  // last one on.
  std::size_t begin = 0;
  for (int m = 1; m <= degree; ++m) {
    const std::size_t end = parent_.size();
    for (std::size_t p = begin; p < end; ++p) {
      for (std::uint32_t l = p == 0 ? 0 : variable_[p]; l < dim; ++l) {
        parent_.push_back(static_cast<std::uint32_t>(p));
        variable_.push_back(l);
        total_degree_.push_back(m);
      }
    }
    begin = end;
  }
}

std::vector<exact::Integer> MonomialBasis::multinomials() const {
  std::vector<exact::Integer> result(size());
  std::vector<int> run(size(), 0);  // exponent of the last variable
  result[0] = 1;
  for (std::size_t i = 1; i < size(); ++i) {
    const std::uint32_t p = parent_[i];
    run[i] = p != 0 && variable_[p] == variable_[i] ? run[p] + 1 : 1;
    result[i] = result[p] * total_degree_[i] / run[i];
  }
  return result;
}

std::vector<int> MonomialBasis::exponents(std::size_t monomial) const {
  std::vector<int> result(dim_, 0);
  for (; monomial != 0; monomial = parent_[monomial]) ++result[variable_[monomial]];
  return result;
}

exact::Integer MonomialBasis::count(std::uint64_t dim, std::uint64_t degree) {
  return exact::binomial(degree + dim, std::min(dim, degree));
}

exact::Integer MonomialBasis::paper_count(std::uint64_t dim, std::uint64_t degree) {
  return exact::binomial(2 * (degree + dim), 2 * std::min(dim, degree));
}

}  // namespace subquad::attention
