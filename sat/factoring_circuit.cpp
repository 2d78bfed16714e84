#include <subquad/core/error.hpp>
#include <subquad/sat/factoring_circuit.hpp>

#include <fmt/format.h>

#include <deque>
#include <initializer_list>
#include <vector>

namespace subquad::sat {

namespace {

/// Collects gates; the formula is made at the end, when the number of variables is known.
class CircuitBuilder {
 public:
  Literal new_variable() { return {num_variables_++, false}; }

  void add(std::initializer_list<Literal> clause) { clauses_.emplace_back(clause); }
  void add(std::vector<Literal> clause) { clauses_.push_back(std::move(clause)); }
  void fix(Literal x, bool value) { add({value ? x : ~x}); }

  Literal make_and(Literal x, Literal y) {
    const Literal z = new_variable();
    add({~z, x});
    add({~z, y});
    add({z, ~x, ~y});
    return z;
  }

  /// Says x + y + z = sum modulo 2, for a constant sum.
  void fix_parity(Literal x, Literal y, Literal z, bool sum) {
    const Literal w = sum ? z : ~z;
    add({x, y, w});
    add({x, ~y, ~w});
    add({~x, y, ~w});
    add({~x, ~y, w});
  }

  /// Returns a new s = x + y + z modulo 2.
  Literal make_parity(Literal x, Literal y, Literal z) {
    const Literal s = new_variable();
    for (const bool value : {false, true}) {
      const Literal unless = value ? ~s : s;
      const Literal w = value ? z : ~z;
      add({unless, x, y, w});
      add({unless, x, ~y, ~w});
      add({unless, ~x, y, ~w});
      add({unless, ~x, ~y, w});
    }
    return s;
  }

  Literal make_majority(Literal x, Literal y, Literal z) {
    const Literal m = new_variable();
    for (const auto& [p, q] : {std::pair{x, y}, std::pair{x, z}, std::pair{y, z}}) {
      add({m, ~p, ~q});
      add({~m, p, q});
    }
    return m;
  }

  Cnf finish() const {
    Cnf formula(num_variables_);
    for (const auto& clause : clauses_) formula.add_clause(clause);
    return formula;
  }

 private:
  std::uint32_t num_variables_ = 0;
  std::vector<std::vector<Literal>> clauses_;
};

/// A partial product a_i b_j that has no variable yet.
struct Product {
  Literal a;
  Literal b;
};

/// Adds the signals of a column to the given output bit and returns the carries into the next column.
std::deque<Literal> add_column(CircuitBuilder& circuit, std::deque<Literal> signals, bool output) {
  std::deque<Literal> carries;
  const auto take = [&] {
    const Literal signal = signals.front();
    signals.pop_front();
    return signal;
  };
  while (signals.size() > 3) {
    const Literal x = take();
    const Literal y = take();
    const Literal z = take();
    signals.push_back(circuit.make_parity(x, y, z));
    carries.push_back(circuit.make_majority(x, y, z));
  }
  if (signals.size() == 3) {
    circuit.fix_parity(signals[0], signals[1], signals[2], output);
    carries.push_back(circuit.make_majority(signals[0], signals[1], signals[2]));
  } else if (signals.size() == 2) {
    const Literal x = signals[0];
    const Literal y = output ? ~signals[1] : signals[1];
    circuit.add({x, ~y});
    circuit.add({~x, y});
    if (!output) carries.push_back(x);
  } else if (signals.size() == 1) {
    circuit.fix(signals[0], output);
  } else if (output) {
    circuit.add(std::vector<Literal>{});  // nothing can make this output 1
  }
  return carries;
}

}  // namespace

Cnf factoring_circuit(const FactoringCircuit& parameters) {
  for (const std::uint32_t bits : {parameters.a_bits, parameters.b_bits})
    require(bits >= 1 && bits <= 32, ErrorKind::parameter, "a factor of {} bits, expected 1 to 32", bits);
  const std::uint32_t columns = parameters.a_bits + parameters.b_bits;
  require(columns == 64 || parameters.number >> columns == 0, ErrorKind::parameter,
          "{} is not below 2^{}, the limit of a product of factors of {} and {} bits", parameters.number, columns,
          parameters.a_bits, parameters.b_bits);

  CircuitBuilder circuit;
  std::vector<Literal> a;
  std::vector<Literal> b;
  for (std::uint32_t i = 0; i < parameters.a_bits; ++i) a.push_back(circuit.new_variable());
  for (std::uint32_t j = 0; j < parameters.b_bits; ++j) b.push_back(circuit.new_variable());
  if (!parameters.allow_trivial) {
    for (const auto& factor : {a, b}) circuit.add(std::vector<Literal>(factor.begin() + 1, factor.end()));
  }

  std::deque<Literal> carries;
  for (std::uint32_t column = 0; column < columns; ++column) {
    const bool output = ((parameters.number >> column) & 1U) != 0;
    std::vector<Product> products;
    for (std::uint32_t i = 0; i < parameters.a_bits; ++i) {
      if (column >= i && column - i < parameters.b_bits) products.push_back({a[i], b[column - i]});
    }
    if (products.size() == 1 && carries.empty()) {  // the product is the output: it needs no variable
      if (output) {
        circuit.fix(products[0].a, true);
        circuit.fix(products[0].b, true);
      } else {
        circuit.add({~products[0].a, ~products[0].b});
      }
      continue;
    }
    std::deque<Literal> signals;
    for (const Product& product : products) signals.push_back(circuit.make_and(product.a, product.b));
    signals.insert(signals.end(), carries.begin(), carries.end());
    carries = add_column(circuit, std::move(signals), output);
  }
  // The product is below 2^columns, so the last column's carry is false in every model without a clause saying so.
  Cnf formula = circuit.finish();
  for (std::uint32_t i = 0; i < parameters.a_bits; ++i)
    formula.kept_comments.push_back(fmt::format("c varname {} a({})", a[i].to_dimacs(), i));
  for (std::uint32_t j = 0; j < parameters.b_bits; ++j)
    formula.kept_comments.push_back(fmt::format("c varname {} b({})", b[j].to_dimacs(), j));
  return formula;
}

std::pair<std::uint64_t, std::uint64_t> decode_factors(const FactoringCircuit& parameters, const Model& model) {
  require(model.size() >= std::uint64_t{parameters.a_bits} + parameters.b_bits, ErrorKind::parameter,
          "a model with {} values, expected at least {} for the bits of the factors", model.size(),
          std::uint64_t{parameters.a_bits} + parameters.b_bits);
  const auto read = [&](std::uint32_t first, std::uint32_t bits) {
    std::uint64_t value = 0;
    for (std::uint32_t i = 0; i < bits; ++i) value |= std::uint64_t{model[first + i]} << i;
    return value;
  };
  return {read(0, parameters.a_bits), read(parameters.a_bits, parameters.b_bits)};
}

}  // namespace subquad::sat
