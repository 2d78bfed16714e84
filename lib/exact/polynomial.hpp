// Polynomials with rational coefficients: exact evaluation, derivatives, interpolation, and changes of basis.
#pragma once

#include <subquad/exact/rational.hpp>

#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace subquad::exact {

/// p(x) = sum_k c_k x^k with rational c_k. A value type; trailing zeros are never stored.
class Polynomial {
 public:
  /// The zero polynomial.
  Polynomial() = default;
  explicit Polynomial(std::vector<Rational> coefficients);
  Polynomial(std::initializer_list<Rational> coefficients) : Polynomial(std::vector<Rational>(coefficients)) {}

  /// Degree; -1 for the zero polynomial.
  int degree() const noexcept { return static_cast<int>(coefficients_.size()) - 1; }
  /// c_0 .. c_degree.
  std::span<const Rational> coefficients() const noexcept { return coefficients_; }
  /// c_k; zero beyond the degree.
  Rational coefficient(int k) const;

  /// p(x), exactly. O(degree) multiplications of numbers that grow to degree times the size of x.
  Rational operator()(const Rational& x) const;
  /// p'.
  Polynomial derivative() const;
  /// sum_k |c_k| r^k: a bound of |p(x)| for all |x| <= r. r >= 0.
  Rational absolute_bound(const Rational& r) const;
  /// Number of bits of all odd parts of numerators and denominators: what the coefficients cost to write down.
  std::uint64_t total_bits() const;

  friend bool operator==(const Polynomial&, const Polynomial&) = default;
  friend Polynomial operator+(const Polynomial& p, const Polynomial& q);
  friend Polynomial operator-(const Polynomial& p, const Polynomial& q);
  friend Polynomial operator*(const Polynomial& p, const Polynomial& q);
  friend Polynomial operator*(const Rational& factor, const Polynomial& p);

 private:
  std::vector<Rational> coefficients_;
};

/// A polynomial over one common denominator: p(x) = sum_k numerators[k] x^k / denominator, denominator > 0.
/// Evaluation at a fraction is then integer arithmetic without a greatest common divisor in every step.
struct IntegerPolynomial {
  std::vector<Integer> numerators;
  Integer denominator = 1;

  explicit IntegerPolynomial(const Polynomial& p);
  /// p(x) in lowest terms.
  Rational operator()(const Rational& x) const;
};

/// Returns the polynomial of degree < nodes.size() through (nodes[i], values[i]), by Newton's divided differences.
/// Throws Error(parameter) if two nodes are equal or the lengths differ. O(n^2) exact operations.
Polynomial interpolate(std::span<const Rational> nodes, std::span<const Rational> values);

/// Returns p with each coefficient rounded to `bits` significant bits, to nearest. bits >= 1.
Polynomial round_coefficients(const Polynomial& p, std::int64_t bits);

/// Chebyshev coefficients on [a, b], a < b: p(x) = sum_k t_k T_k((2x - a - b)/(b - a)); and back.
std::vector<Rational> to_chebyshev(const Polynomial& p, const Rational& a, const Rational& b);
Polynomial from_chebyshev(std::span<const Rational> coefficients, const Rational& a, const Rational& b);

/// Bernstein coefficients on [a, b], a < b, for n = degree (p's own if -1): with u = (x - a)/(b - a),
/// p(x) = sum_k b_k C(n,k) u^k (1-u)^(n-k). On [a, b], p lies between the least and the largest b_k. `degree` at least
/// p's.
std::vector<Rational> to_bernstein(const Polynomial& p, const Rational& a, const Rational& b, int degree = -1);
Polynomial from_bernstein(std::span<const Rational> coefficients, const Rational& a, const Rational& b);
/// Splits Bernstein coefficients at the middle of their interval (de Casteljau): those of the left and right half.
std::pair<std::vector<Rational>, std::vector<Rational>> split_bernstein(std::span<const Rational> coefficients);

}  // namespace subquad::exact
