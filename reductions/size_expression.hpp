// Size expressions: integer-valued formulas in the source's size fields, that print, evaluate and compose.
#pragma once

#include <subquad/core/count.hpp>
#include <subquad/core/problem.hpp>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace subquad::reductions {

/// An immutable expression tree over named size fields. One tree gives the printed bound, the checked value and, by
/// substitution, the bound of a composed reduction: text and arithmetic cannot drift apart.
class SizeExpression {
 public:
  SizeExpression(std::uint64_t constant);  // NOLINT: a constant is an expression
  SizeExpression(int constant);            // NOLINT: so that literals work; must be >= 0
  static SizeExpression variable(std::string name);

  friend SizeExpression operator+(const SizeExpression& a, const SizeExpression& b);
  friend SizeExpression operator*(const SizeExpression& a, const SizeExpression& b);
  /// max(a - b, 0): sizes never go below zero.
  friend SizeExpression monus(const SizeExpression& a, const SizeExpression& b);
  friend SizeExpression max(const SizeExpression& a, const SizeExpression& b);
  friend SizeExpression min(const SizeExpression& a, const SizeExpression& b);
  /// ceil(a / b), floor(a / b); b > 0 when evaluated, else Error(internal).
  friend SizeExpression ceil_div(const SizeExpression& a, const SizeExpression& b);
  friend SizeExpression floor_div(const SizeExpression& a, const SizeExpression& b);
  friend SizeExpression pow2(const SizeExpression& exponent);
  friend SizeExpression ceil_log2(const SizeExpression& a);  // 0 for a <= 1

  /// Value at the given sizes. Throws Error(internal) for an unknown field, Error(resource) for an absurd power.
  Count evaluate(const Sizes& sizes) const;
  /// Replaces variables by expressions (composition). Unknown names stay.
  SizeExpression substitute(const std::function<const SizeExpression*(std::string_view name)>& lookup) const;
  std::set<std::string> variables() const;
  /// The variables that occur where a larger value makes the expression smaller: right of monus, below a division (and
  /// not twice so). In all others the expression is monotone, which is what lets upper bounds compose.
  std::set<std::string> decreasing_variables() const;
  /// Human-readable, for example "2^ceil(num_variables/2)" or "3 dim".
  std::string to_string() const;

 private:
  struct Node;
  explicit SizeExpression(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};

/// Short for SizeExpression::variable(name).
SizeExpression field(std::string name);

/// Does the target have this size, or at most this size?
enum class BoundKind { exact, upper_bound };

/// What a reduction promises about one size field of its target.
struct SizeBound {
  std::string field;
  BoundKind kind = BoundKind::exact;
  SizeExpression expression;
};

/// Checks built sizes against bounds. Returns one line per violation ("num_a: 64, bound exact 2^ceil(..) = 32"), empty
/// if none. A size field without a bound and a bound without a size field are violations as well.
std::vector<std::string> violations(const std::vector<SizeBound>& bounds, const Sizes& source, const Sizes& target);

/// Bounds of "first, then second" in the fields of first's source. A field is exact iff everything it uses is exact.
/// Upper bounds compose because an expression is monotone in every variable that is not a decreasing one; a decreasing
/// variable with an upper bound only is refused (Error(internal)), and so is a field that `first` does not bound.
std::vector<SizeBound> compose(const std::vector<SizeBound>& first, const std::vector<SizeBound>& second);

}  // namespace subquad::reductions
