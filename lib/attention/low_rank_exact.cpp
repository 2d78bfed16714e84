#include <subquad/attention/low_rank_exact.hpp>
#include <subquad/attention/monomial_basis.hpp>
#include <subquad/core/error.hpp>

#include <algorithm>
#include <utility>

namespace subquad::attention {
namespace {

using exact::Rational;

std::size_t width(const RationalMatrix& matrix) {
  for (const auto& row : matrix) {
    require(row.size() == matrix.front().size(), ErrorKind::parameter,
            "low-rank factors: rows of {} and {} entries, expected equal lengths", matrix.front().size(), row.size());
  }
  return matrix.empty() ? 0 : matrix.front().size();
}

std::vector<Rational> monomials(const MonomialBasis& basis, const std::vector<Rational>& x) {
  std::vector<Rational> values(basis.size());
  values[0] = 1;
  for (std::size_t i = 1; i < basis.size(); ++i) values[i] = values[basis.parent()[i]] * x[basis.variable()[i]];
  return values;
}

}  // namespace

LowRankFactors exact_low_rank_factors(const exact::Polynomial& p, const RationalMatrix& q, const RationalMatrix& k,
                                      const Rational& scale) {
  const std::size_t dim = q.empty() ? width(k) : width(q);
  require(k.empty() || width(k) == dim, ErrorKind::parameter, "low-rank factors: queries of dimension {}, keys of {}",
          dim, width(k));
  const MonomialBasis basis(static_cast<std::uint32_t>(dim), std::max(p.degree(), 0));
  const std::vector<exact::Integer> multinomials = basis.multinomials();
  std::vector<Rational> weights;
  for (std::size_t i = 0; i < basis.size(); ++i) {
    Rational weight = p.coefficient(basis.total_degree()[i]) * Rational(multinomials[i]);
    for (int m = 0; m < basis.total_degree()[i]; ++m) weight *= scale;
    weights.push_back(std::move(weight));
  }
  LowRankFactors factors;
  for (const auto& row : q) factors.u1.push_back(monomials(basis, row));
  for (const auto& row : k) {
    factors.u2.push_back(monomials(basis, row));
    for (std::size_t i = 0; i < basis.size(); ++i) factors.u2.back()[i] *= weights[i];
  }
  return factors;
}

std::size_t exact_rank(RationalMatrix matrix) {
  std::size_t rank = 0;
  const std::size_t columns = width(matrix);
  for (std::size_t c = 0; c < columns && rank < matrix.size(); ++c) {
    const auto pivot = std::find_if(matrix.begin() + static_cast<std::ptrdiff_t>(rank), matrix.end(),
                                    [c](const auto& row) { return row[c] != 0; });
    if (pivot == matrix.end()) continue;
    std::swap(*pivot, matrix[rank]);
    for (std::size_t i = rank + 1; i < matrix.size(); ++i) {
      if (matrix[i][c] == 0) continue;
      const Rational factor = matrix[i][c] / matrix[rank][c];
      for (std::size_t j = c; j < columns; ++j) matrix[i][j] -= factor * matrix[rank][j];
    }
    ++rank;
  }
  return rank;
}

}  // namespace subquad::attention
