#include <subquad/core/error.hpp>
#include <subquad/reductions/size_expression.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

namespace subquad::reductions {

enum class SizeOperator { constant, variable, add, multiply, monus, max, min, ceil_div, floor_div, pow2, ceil_log2 };

struct SizeExpression::Node {
  SizeOperator op = SizeOperator::constant;
  Count value = 0;                    // of a constant
  std::string name;                   // of a variable
  std::shared_ptr<const Node> left;   // first operand, null for constants and variables
  std::shared_ptr<const Node> right;  // second operand, null for unary operators

  using Pointer = std::shared_ptr<const Node>;

  static Pointer make_constant(Count value) {
    auto node = std::make_shared<Node>();
    node->value = std::move(value);
    return node;
  }
  static Pointer make(SizeOperator op, Pointer left, Pointer right = nullptr) {
    auto node = std::make_shared<Node>();
    node->op = op;
    node->left = std::move(left);
    node->right = std::move(right);
    return node;
  }

  bool is_constant() const { return op == SizeOperator::constant; }
  bool is_constant(unsigned number) const { return is_constant() && value == number; }
  /// True for x + c and c x: where the constructors below keep the constant, so that constants merge.
  bool is_sum_with_constant() const { return op == SizeOperator::add && right->is_constant(); }
  bool is_product_with_constant() const { return op == SizeOperator::multiply && left->is_constant(); }
  /// A sum as coefficients of its terms (by printed form, the constant under ""). Every term is a size, hence >= 0.
  void add_terms(const Count& factor, std::map<std::string, std::pair<Count, Pointer>>& terms,
                 const Pointer& self) const;

  static Pointer add(const Pointer& a, const Pointer& b);
  static Pointer multiply(const Pointer& a, const Pointer& b);
  static Pointer monus(const Pointer& a, const Pointer& b);
  static Pointer extremum(SizeOperator op, const Pointer& a, const Pointer& b);
  static Pointer divide(SizeOperator op, const Pointer& a, const Pointer& b);
  static Pointer power(const Pointer& a);
  static Pointer logarithm(const Pointer& a);
  static Pointer rebuild(SizeOperator op, const Pointer& left, const Pointer& right);
  static bool at_least(const Pointer& a, const Pointer& b);

  Count evaluate(const Sizes& sizes) const;
  Pointer substitute(const Pointer& self,
                     const std::function<const SizeExpression*(std::string_view name)>& lookup) const;
  void collect(std::set<std::string>& out) const;
  void collect_decreasing(bool decreasing, std::set<std::string>& out) const;
  std::string print() const;
  std::string print_operand(int least_binding) const;
  void print_max_operands(std::vector<std::string>& out) const;
  int binding() const;
};

namespace {

Count quotient(SizeOperator op, const Count& a, const Count& b) {
  require(b > 0, ErrorKind::internal, "size expression divides {} by zero", describe(a));
  return op == SizeOperator::ceil_div ? Count((a + b - 1) / b) : Count(a / b);
}

}  // namespace

// Construction. Constants fold, neutral elements vanish and comparisons that hold for all sizes are decided, so that
// composed bounds stay readable; no other rewriting.

void SizeExpression::Node::add_terms(const Count& factor, std::map<std::string, std::pair<Count, Pointer>>& terms,
                                     const Pointer& self) const {
  if (op == SizeOperator::add) {
    left->add_terms(factor, terms, left);
    right->add_terms(factor, terms, right);
  } else if (is_product_with_constant()) {
    right->add_terms(factor * left->value, terms, right);
  } else {
    auto& term = terms.try_emplace(is_constant() ? "" : print(), Count(0), self).first->second;
    term.first += is_constant() ? Count(factor * value) : factor;
  }
}

// Sufficient for a >= b at all sizes: no coefficient of b is larger, or the same of the operands of max, min and monus.
bool SizeExpression::Node::at_least(const Pointer& a, const Pointer& b) {
  if (b->op == SizeOperator::max) return at_least(a, b->left) && at_least(a, b->right);
  if (a->op == SizeOperator::min) return at_least(a->left, b) && at_least(a->right, b);
  if (a->op == SizeOperator::max && (at_least(a->left, b) || at_least(a->right, b))) return true;
  if (b->op == SizeOperator::min && (at_least(a, b->left) || at_least(a, b->right))) return true;
  if (b->op == SizeOperator::monus && at_least(a, b->left)) return true;
  std::map<std::string, std::pair<Count, Pointer>> large, small;
  a->add_terms(1, large, a);
  b->add_terms(1, small, b);
  return std::all_of(small.begin(), small.end(), [&large](const auto& term) {
    const auto found = large.find(term.first);
    return term.second.first == 0 || (found != large.end() && found->second.first >= term.second.first);
  });
}

SizeExpression::Node::Pointer SizeExpression::Node::add(const Pointer& a, const Pointer& b) {
  if (a->is_constant() && b->is_constant()) return make_constant(a->value + b->value);
  if (a->is_constant()) return add(b, a);
  if (b->is_constant(0)) return a;
  if (b->is_constant() && a->is_sum_with_constant()) return add(a->left, make_constant(a->right->value + b->value));
  if (a->is_sum_with_constant()) return add(add(a->left, b), a->right);
  if (b->is_sum_with_constant()) return add(add(a, b->left), b->right);
  return make(SizeOperator::add, a, b);
}

SizeExpression::Node::Pointer SizeExpression::Node::multiply(const Pointer& a, const Pointer& b) {
  if (a->is_constant() && b->is_constant()) return make_constant(a->value * b->value);
  if (b->is_constant()) return multiply(b, a);
  if (a->is_constant(0)) return a;
  if (a->is_constant(1)) return b;
  if (a->is_constant() && b->is_product_with_constant())
    return multiply(make_constant(a->value * b->left->value), b->right);
  if (a->is_product_with_constant()) return multiply(a->left, multiply(a->right, b));
  if (!a->is_constant() && b->is_product_with_constant()) return multiply(b->left, multiply(a, b->right));
  return make(SizeOperator::multiply, a, b);
}

SizeExpression::Node::Pointer SizeExpression::Node::monus(const Pointer& a, const Pointer& b) {
  if (a->is_constant() && b->is_constant()) return make_constant(a->value > b->value ? a->value - b->value : Count(0));
  if (b->is_constant(0) || a->is_constant(0)) return a;
  if (at_least(b, a)) return make_constant(0);
  std::map<std::string, std::pair<Count, Pointer>> terms, subtracted;
  a->add_terms(1, terms, a);
  b->add_terms(1, subtracted, b);
  for (const auto& [name, term] : subtracted) {
    const auto found = terms.find(name);
    if (found == terms.end() || found->second.first < term.first) return make(SizeOperator::monus, a, b);
    found->second.first -= term.first;
  }
  Pointer difference = make_constant(0);
  for (const auto& [name, term] : terms)
    difference =
        add(difference, name.empty() ? make_constant(term.first) : multiply(make_constant(term.first), term.second));
  return difference;
}

SizeExpression::Node::Pointer SizeExpression::Node::extremum(SizeOperator op, const Pointer& a, const Pointer& b) {
  if (a->is_constant() && b->is_constant()) {
    const bool first = op == SizeOperator::max ? a->value >= b->value : a->value <= b->value;
    return first ? a : b;
  }
  if (at_least(a, b)) return op == SizeOperator::max ? a : b;
  if (at_least(b, a)) return op == SizeOperator::max ? b : a;
  return make(op, a, b);
}

SizeExpression::Node::Pointer SizeExpression::Node::divide(SizeOperator op, const Pointer& a, const Pointer& b) {
  if (b->is_constant(1)) return a;
  if (a->is_constant() && b->is_constant() && b->value > 0) return make_constant(quotient(op, a->value, b->value));
  return make(op, a, b);
}

SizeExpression::Node::Pointer SizeExpression::Node::power(const Pointer& a) {
  // Other constant exponents stay: "2^20" says more than its seven digits.
  return a->is_constant(0) ? make_constant(1) : make(SizeOperator::pow2, a);
}

SizeExpression::Node::Pointer SizeExpression::Node::logarithm(const Pointer& a) {
  return a->is_constant() ? make_constant(subquad::ceil_log2(a->value)) : make(SizeOperator::ceil_log2, a);
}

SizeExpression::Node::Pointer SizeExpression::Node::rebuild(SizeOperator op, const Pointer& left,
                                                            const Pointer& right) {
  switch (op) {
    case SizeOperator::add:
      return add(left, right);
    case SizeOperator::multiply:
      return multiply(left, right);
    case SizeOperator::monus:
      return monus(left, right);
    case SizeOperator::max:
    case SizeOperator::min:
      return extremum(op, left, right);
    case SizeOperator::ceil_div:
    case SizeOperator::floor_div:
      return divide(op, left, right);
    case SizeOperator::pow2:
      return power(left);
    case SizeOperator::ceil_log2:
      return logarithm(left);
    case SizeOperator::constant:
    case SizeOperator::variable:
      break;
  }
  fail(ErrorKind::internal, "size expression: a leaf has no operands to rebuild");
}

// The four walks over a tree.

Count SizeExpression::Node::evaluate(const Sizes& sizes) const {
  switch (op) {
    case SizeOperator::constant:
      return value;
    case SizeOperator::variable:
      return size_field(sizes, name);
    case SizeOperator::add:
      return left->evaluate(sizes) + right->evaluate(sizes);
    case SizeOperator::multiply:
      return left->evaluate(sizes) * right->evaluate(sizes);
    case SizeOperator::monus: {
      const Count a = left->evaluate(sizes);
      const Count b = right->evaluate(sizes);
      return a > b ? Count(a - b) : Count(0);
    }
    case SizeOperator::max:
      return std::max(left->evaluate(sizes), right->evaluate(sizes));
    case SizeOperator::min:
      return std::min(left->evaluate(sizes), right->evaluate(sizes));
    case SizeOperator::ceil_div:
    case SizeOperator::floor_div:
      return quotient(op, left->evaluate(sizes), right->evaluate(sizes));
    case SizeOperator::pow2:
      return subquad::pow2(to_u64(left->evaluate(sizes), "exponent of 2 in a size"));
    case SizeOperator::ceil_log2:
      return Count(subquad::ceil_log2(left->evaluate(sizes)));
  }
  fail(ErrorKind::internal, "size expression: unknown operator");
}

SizeExpression::Node::Pointer SizeExpression::Node::substitute(
    const Pointer& self, const std::function<const SizeExpression*(std::string_view name)>& lookup) const {
  if (op == SizeOperator::constant) return self;
  if (op == SizeOperator::variable) {
    const SizeExpression* replacement = lookup(name);
    return replacement == nullptr ? self : replacement->node_;
  }
  return rebuild(op, left->substitute(left, lookup), right ? right->substitute(right, lookup) : nullptr);
}

void SizeExpression::Node::collect(std::set<std::string>& out) const {
  if (op == SizeOperator::variable) out.insert(name);
  if (left) left->collect(out);
  if (right) right->collect(out);
}

void SizeExpression::Node::collect_decreasing(bool decreasing, std::set<std::string>& out) const {
  if (op == SizeOperator::variable && decreasing) out.insert(name);
  if (left) left->collect_decreasing(decreasing, out);
  const bool flips = op == SizeOperator::monus || op == SizeOperator::ceil_div || op == SizeOperator::floor_div;
  if (right) right->collect_decreasing(decreasing != flips, out);
}

// Printing. A node binds as a sum (1), a product (2), a power (3) or an atom (4); an operand gets parentheses where it
// binds more loosely than its place asks for.

int SizeExpression::Node::binding() const {
  switch (op) {
    case SizeOperator::add:
      return 1;
    case SizeOperator::multiply:
      return 2;
    case SizeOperator::pow2:
      return 3;
    default:
      return 4;
  }
}

std::string SizeExpression::Node::print_operand(int least_binding) const {
  return binding() < least_binding ? fmt::format("({})", print()) : print();
}

// The operands of nested maxima in one list. Sizes are >= 0, so that beside another operand a - b needs no ", 0".
void SizeExpression::Node::print_max_operands(std::vector<std::string>& out) const {
  for (const Pointer& operand : {left, right}) {
    if (operand->op == SizeOperator::max)
      operand->print_max_operands(out);
    else if (operand->op == SizeOperator::monus && (operand == left ? right : left)->op != SizeOperator::monus)
      out.push_back(fmt::format("{} - {}", operand->left->print_operand(1), operand->right->print_operand(2)));
    else
      out.push_back(operand->print());
  }
}

std::string SizeExpression::Node::print() const {
  switch (op) {
    case SizeOperator::constant:
      return value.str();
    case SizeOperator::variable:
      return name;
    case SizeOperator::add:
      return fmt::format("{} + {}", left->print_operand(1), right->print_operand(1));
    case SizeOperator::multiply: {
      const std::string first = left->print_operand(2);
      const std::string second = right->print_operand(2);
      // "3 dim" is how one writes it; "3 2^n" would be misread, and so would two names in a row.
      const bool starts_with_digit = std::isdigit(static_cast<unsigned char>(second.front())) != 0;
      return fmt::format("{}{}{}", first, left->is_constant() && !starts_with_digit ? " " : " * ", second);
    }
    case SizeOperator::monus:
      return fmt::format("max({} - {}, 0)", left->print_operand(1), right->print_operand(2));
    case SizeOperator::max: {
      std::vector<std::string> operands;
      print_max_operands(operands);
      return fmt::format("max({})", fmt::join(operands, ", "));
    }
    case SizeOperator::min:
      return fmt::format("min({}, {})", left->print(), right->print());
    case SizeOperator::ceil_div:
      return fmt::format("ceil({}/{})", left->print_operand(2), right->print_operand(3));
    case SizeOperator::floor_div:
      return fmt::format("floor({}/{})", left->print_operand(2), right->print_operand(3));
    case SizeOperator::pow2:
      return fmt::format("2^{}", left->print_operand(4));
    case SizeOperator::ceil_log2:
      return fmt::format("ceil(log2({}))", left->print());
  }
  fail(ErrorKind::internal, "size expression: unknown operator");
}

// The public face.

SizeExpression::SizeExpression(std::uint64_t constant) : node_(Node::make_constant(constant)) {}

SizeExpression::SizeExpression(int constant) {
  require(constant >= 0, ErrorKind::internal, "size expression: constant {} is negative", constant);
  node_ = Node::make_constant(constant);
}

SizeExpression SizeExpression::variable(std::string name) {
  auto node = std::make_shared<Node>();
  node->op = SizeOperator::variable;
  node->name = std::move(name);
  return SizeExpression(std::move(node));
}

SizeExpression operator+(const SizeExpression& a, const SizeExpression& b) {
  return SizeExpression(SizeExpression::Node::add(a.node_, b.node_));
}
SizeExpression operator*(const SizeExpression& a, const SizeExpression& b) {
  return SizeExpression(SizeExpression::Node::multiply(a.node_, b.node_));
}
SizeExpression monus(const SizeExpression& a, const SizeExpression& b) {
  return SizeExpression(SizeExpression::Node::monus(a.node_, b.node_));
}
SizeExpression max(const SizeExpression& a, const SizeExpression& b) {
  return SizeExpression(SizeExpression::Node::extremum(SizeOperator::max, a.node_, b.node_));
}
SizeExpression min(const SizeExpression& a, const SizeExpression& b) {
  return SizeExpression(SizeExpression::Node::extremum(SizeOperator::min, a.node_, b.node_));
}
SizeExpression ceil_div(const SizeExpression& a, const SizeExpression& b) {
  return SizeExpression(SizeExpression::Node::divide(SizeOperator::ceil_div, a.node_, b.node_));
}
SizeExpression floor_div(const SizeExpression& a, const SizeExpression& b) {
  return SizeExpression(SizeExpression::Node::divide(SizeOperator::floor_div, a.node_, b.node_));
}
SizeExpression pow2(const SizeExpression& exponent) {
  return SizeExpression(SizeExpression::Node::power(exponent.node_));
}
SizeExpression ceil_log2(const SizeExpression& a) {
  return SizeExpression(SizeExpression::Node::logarithm(a.node_));
}

Count SizeExpression::evaluate(const Sizes& sizes) const {
  return node_->evaluate(sizes);
}

SizeExpression SizeExpression::substitute(
    const std::function<const SizeExpression*(std::string_view name)>& lookup) const {
  return SizeExpression(node_->substitute(node_, lookup));
}

std::set<std::string> SizeExpression::variables() const {
  std::set<std::string> out;
  node_->collect(out);
  return out;
}

std::set<std::string> SizeExpression::decreasing_variables() const {
  std::set<std::string> out;
  node_->collect_decreasing(false, out);
  return out;
}

std::string SizeExpression::to_string() const {
  return node_->print();
}

SizeExpression field(std::string name) {
  return SizeExpression::variable(std::move(name));
}

}  // namespace subquad::reductions
