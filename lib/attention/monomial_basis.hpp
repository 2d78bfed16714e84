// Monomials of bounded degree: the feature map that turns a polynomial of an inner product into an inner product.
//
// <x, y>^m = sum over |a| = m of (m!/a!) x^a y^a (multinomial theorem), so P(<x, y>) with deg P = g is an inner product
// of r = C(g + d, d) features: one for each monomial of total degree at most g in d variables (AS23 Lemma 3.2, with the
// tight count).
#pragma once

#include <subquad/exact/rational.hpp>

#include <cstdint>
#include <vector>

namespace subquad::attention {

/// All monomials of degree <= `degree` in `dim` variables, in ascending degree. Monomial 0 is the constant 1; every
/// other one is its parent (of one degree less, with a smaller index) times one variable. A value type; immutable.
class MonomialBasis {
 public:
  /// dim >= 0, degree >= 0, else Error(parameter). Error(resource) beyond 2^28 monomials. O(r).
  MonomialBasis(std::uint32_t dim, int degree);

  std::uint32_t dim() const noexcept { return dim_; }
  int degree() const noexcept { return degree_; }
  /// r = C(degree + dim, dim).
  std::size_t size() const noexcept { return parent_.size(); }

  const std::vector<std::uint32_t>& parent() const noexcept { return parent_; }
  const std::vector<std::uint32_t>& variable() const noexcept { return variable_; }
  /// |a| of every monomial.
  const std::vector<int>& total_degree() const noexcept { return total_degree_; }
  /// |a|!/a! of every monomial, exactly.
  std::vector<exact::Integer> multinomials() const;
  /// The exponents a of one monomial.
  std::vector<int> exponents(std::size_t monomial) const;

  /// C(degree + dim, dim), whatever its size: the tight rank.
  static exact::Integer count(std::uint64_t dim, std::uint64_t degree);
  /// C(2 (degree + dim), 2 degree): the rank bound as AS23 Lemma 3.2 states it.
  static exact::Integer paper_count(std::uint64_t dim, std::uint64_t degree);

 private:
  std::uint32_t dim_;
  int degree_;
  std::vector<std::uint32_t> parent_;
  std::vector<std::uint32_t> variable_;
  std::vector<int> total_degree_;
};

}  // namespace subquad::attention
