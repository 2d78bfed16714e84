#include <subquad/core/error.hpp>
#include <subquad/exact/polynomial.hpp>

#include <algorithm>
#include <cstdint>

namespace subquad::exact {
namespace {

using boost::multiprecision::denominator;
using boost::multiprecision::numerator;

void require_interval(const Rational& a, const Rational& b) {
  require(a < b, ErrorKind::parameter,
          "a basis on the interval [{}, {}] is asked for, expected the left end below the right one", a.str(), b.str());
}

/// p(scale x + shift), by Horner's rule on polynomials.
Polynomial compose_linear(const Polynomial& p, const Rational& scale, const Rational& shift) {
  std::vector<Rational> result;
  const auto coefficients = p.coefficients();
  for (std::size_t k = coefficients.size(); k-- > 0;) {
    result.push_back(0);
    for (std::size_t i = result.size(); i-- > 0;) {
      result[i] = shift * result[i] + (i > 0 ? Rational(scale * result[i - 1]) : Rational(0));
    }
    result[0] += coefficients[k];
  }
  return Polynomial(std::move(result));
}

std::uint64_t odd_part_bits(Integer value) {
  if (value == 0) return 0;
  value = abs(value);
  return msb(value) - lsb(value) + 1;
}

}  // namespace

Polynomial::Polynomial(std::vector<Rational> coefficients) : coefficients_(std::move(coefficients)) {
  while (!coefficients_.empty() && coefficients_.back() == 0) coefficients_.pop_back();
}

Rational Polynomial::coefficient(int k) const {
  return k >= 0 && k <= degree() ? coefficients_[static_cast<std::size_t>(k)] : Rational(0);
}

Rational Polynomial::operator()(const Rational& x) const {
  return IntegerPolynomial(*this)(x);
}

Polynomial Polynomial::derivative() const {
  std::vector<Rational> result;
  for (std::size_t k = 1; k < coefficients_.size(); ++k) result.push_back(coefficients_[k] * k);
  return Polynomial(std::move(result));
}

Rational Polynomial::absolute_bound(const Rational& r) const {
  Rational sum = 0;
  for (std::size_t k = coefficients_.size(); k-- > 0;) sum = sum * r + abs(coefficients_[k]);
  return sum;
}

std::uint64_t Polynomial::total_bits() const {
  std::uint64_t bits = 0;
  for (const Rational& c : coefficients_) {
    const std::uint64_t below = odd_part_bits(denominator(c));
    bits += odd_part_bits(numerator(c)) + (below > 1 ? below : 0);
  }
  return bits;
}

Polynomial operator+(const Polynomial& p, const Polynomial& q) {
  std::vector<Rational> sum(std::max(p.coefficients_.size(), q.coefficients_.size()));
  for (std::size_t k = 0; k < sum.size(); ++k) {
    sum[k] = p.coefficient(static_cast<int>(k)) + q.coefficient(static_cast<int>(k));
  }
  return Polynomial(std::move(sum));
}

Polynomial operator-(const Polynomial& p, const Polynomial& q) {
  return p + Rational(-1) * q;
}

Polynomial operator*(const Polynomial& p, const Polynomial& q) {
  if (p.degree() < 0 || q.degree() < 0) return {};
  std::vector<Rational> product(p.coefficients_.size() + q.coefficients_.size() - 1);
  for (std::size_t i = 0; i < p.coefficients_.size(); ++i) {
    for (std::size_t j = 0; j < q.coefficients_.size(); ++j) product[i + j] += p.coefficients_[i] * q.coefficients_[j];
  }
  return Polynomial(std::move(product));
}

Polynomial operator*(const Rational& factor, const Polynomial& p) {
  std::vector<Rational> scaled(p.coefficients_.begin(), p.coefficients_.end());
  for (Rational& c : scaled) c *= factor;
  return Polynomial(std::move(scaled));
}

IntegerPolynomial::IntegerPolynomial(const Polynomial& p) {
  for (const Rational& c : p.coefficients())
    denominator = lcm(denominator, Integer(boost::multiprecision::denominator(c)));
  for (const Rational& c : p.coefficients()) {
    numerators.push_back(boost::multiprecision::numerator(c) * (denominator / boost::multiprecision::denominator(c)));
  }
}

Rational IntegerPolynomial::operator()(const Rational& x) const {
  // Horner on a/b: after the step for x^k the sum is s / b^(degree - k), so only the constant's power of b is left at
  // the end.
  const Integer a = boost::multiprecision::numerator(x);
  const Integer b = boost::multiprecision::denominator(x);
  Integer sum = 0;
  Integer power = 1;
  for (std::size_t k = numerators.size(); k-- > 0;) {
    sum = sum * a + numerators[k] * power;
    if (k > 0) power *= b;
  }
  return Rational(sum, denominator * power);
}

Polynomial interpolate(std::span<const Rational> nodes, std::span<const Rational> values) {
  require(nodes.size() == values.size(), ErrorKind::parameter,
          "interpolation: {} nodes and {} values, expected as many", nodes.size(), values.size());
  const std::size_t n = nodes.size();
  std::vector<Rational> difference(values.begin(), values.end());  // ends as f[x_0 .. x_k]
  for (std::size_t order = 1; order < n; ++order) {
    for (std::size_t i = n; i-- > order;) {
      const Rational gap = nodes[i] - nodes[i - order];
      require(gap != 0, ErrorKind::parameter, "interpolation: node {} stands twice, expected different nodes",
              nodes[i].str());
      difference[i] = (difference[i] - difference[i - 1]) / gap;
    }
  }
  std::vector<Rational> coefficients;
  for (std::size_t k = n; k-- > 0;) {  // p = difference[k] + (x - nodes[k]) p
    coefficients.push_back(0);
    for (std::size_t i = coefficients.size(); i-- > 0;) {
      coefficients[i] = (i > 0 ? coefficients[i - 1] : Rational(0)) - nodes[k] * coefficients[i];
    }
    coefficients[0] += difference[k];
  }
  return Polynomial(std::move(coefficients));
}

Polynomial round_coefficients(const Polynomial& p, std::int64_t bits) {
  std::vector<Rational> rounded;
  for (const Rational& c : p.coefficients()) rounded.push_back(round_to_bits(c, bits, Rounding::nearest));
  return Polynomial(std::move(rounded));
}

std::vector<Rational> to_chebyshev(const Polynomial& p, const Rational& a, const Rational& b) {
  require_interval(a, b);
  // Horner in the Chebyshev basis on [-1, 1]: multiply by u with u T_0 = T_1, u T_k = (T_{k+1} + T_{k-1})/2.
  const Polynomial q = compose_linear(p, (b - a) / 2, (a + b) / 2);
  std::vector<Rational> t;
  for (int k = q.degree(); k >= 0; --k) {
    std::vector<Rational> next(t.size() + 1);
    for (std::size_t i = 0; i < t.size(); ++i) {
      if (i == 0) {
        next[1] += t[0];
      } else {
        next[i + 1] += t[i] / 2;
        next[i - 1] += t[i] / 2;
      }
    }
    next[0] += q.coefficient(k);
    t = std::move(next);
  }
  return t;
}

Polynomial from_chebyshev(std::span<const Rational> coefficients, const Rational& a, const Rational& b) {
  require_interval(a, b);
  Polynomial previous{1};                                         // T_0
  Polynomial current{-(a + b) / (b - a), Rational(2) / (b - a)};  // T_1
  const Polynomial twice_u = Rational(2) * current;
  Polynomial sum;
  for (std::size_t k = 0; k < coefficients.size(); ++k) {
    sum = sum + coefficients[k] * previous;
    const Polynomial next = twice_u * current - previous;
    previous = current;
    current = next;
  }
  return sum;
}

std::vector<Rational> to_bernstein(const Polynomial& p, const Rational& a, const Rational& b, int degree) {
  require_interval(a, b);
  const int n = degree < 0 ? std::max(p.degree(), 0) : degree;
  require(n >= p.degree(), ErrorKind::parameter,
          "Bernstein coefficients of degree {} are asked for a polynomial of degree {}", n, p.degree());
  // With p = sum c_i u^i on [0, 1]: b_k = sum_{i <= k} C(k,i)/C(n,i) c_i. Pascal's rule builds the sums in place.
  const Polynomial q = compose_linear(p, b - a, a);
  std::vector<Rational> row;
  for (int i = 0; i <= n; ++i) {
    row.push_back(q.coefficient(i) / Rational(binomial(static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(i))));
  }
  for (std::size_t order = 1; order < row.size(); ++order) {
    for (std::size_t k = row.size(); k-- > order;) row[k] += row[k - 1];
  }
  return row;
}

Polynomial from_bernstein(std::span<const Rational> coefficients, const Rational& a, const Rational& b) {
  require_interval(a, b);
  std::vector<Rational> row(coefficients.begin(), coefficients.end());
  for (std::size_t order = row.size(); order-- > 1;) {
    for (std::size_t k = order; k < row.size(); ++k) row[k] -= row[k - 1];
  }
  const auto n = static_cast<std::uint64_t>(row.empty() ? 0 : row.size() - 1);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] *= Rational(binomial(n, i));
  return compose_linear(Polynomial(std::move(row)), 1 / (b - a), -a / (b - a));
}

std::pair<std::vector<Rational>, std::vector<Rational>> split_bernstein(std::span<const Rational> coefficients) {
  std::vector<Rational> right(coefficients.begin(), coefficients.end());
  std::vector<Rational> left;
  for (std::size_t left_size = 0; left_size < coefficients.size(); ++left_size) {
    left.push_back(right.front());
    for (std::size_t k = 0; k + 1 + left_size < right.size(); ++k) right[k] = (right[k] + right[k + 1]) / 2;
  }
  return {std::move(left), std::move(right)};
}

}  // namespace subquad::exact
