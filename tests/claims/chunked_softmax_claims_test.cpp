// Claim L25.E3: L layers of attention within fixed chunks of B tokens see at most B^L inputs; stride-digit chunks see
// exactly as many.
#include "claim.hpp"

#include <subquad/attention/chunked_softmax.hpp>
#include <subquad/core/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace {

using subquad::Random;
using subquad::attention::chunked_softmax;
using subquad::attention::stride_digit_parts;
using subquad::problems::Attention;
using subquad::problems::MatrixD;
using subquad::test::Claim;

using Parts = std::vector<std::uint64_t>;
using Field = std::vector<bool>;

/// The inputs that each token depends on after all layers, by propagation of sets.
std::vector<Field> receptive_fields(const std::vector<Parts>& layers, std::size_t n) {
  std::vector<Field> fields(n, Field(n, false));
  for (std::size_t i = 0; i < n; ++i) fields[i][i] = true;
  for (const Parts& part_of : layers) {
    std::vector<Field> next(n, Field(n, false));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        if (part_of[i] != part_of[j]) continue;
        for (std::size_t t = 0; t < n; ++t) next[i][t] = next[i][t] || fields[j][t];
      }
    }
    fields = std::move(next);
  }
  return fields;
}

std::uint64_t size(const Field& field) {
  return static_cast<std::uint64_t>(std::count(field.begin(), field.end(), true));
}

/// All layers with q = k = v = the previous output; no residual. `layers` may depend on the input: a function.
template <class PartsOf>
MatrixD run(MatrixD x, std::size_t layers, PartsOf&& parts_of) {
  for (std::size_t l = 0; l < layers; ++l) {
    Attention::Instance instance;
    const Parts part_of = parts_of(l, x);
    instance.q = instance.k = instance.v = std::move(x);
    instance.scale = 0.5;
    subquad::Execution one;
    one.threads = 1;
    x = chunked_softmax(instance, part_of, one);
  }
  return x;
}

MatrixD random_tokens(Random& random, std::size_t n) {
  MatrixD x(static_cast<Eigen::Index>(n), 2);
  for (Eigen::Index e = 0; e < x.size(); ++e) x.data()[e] = random.normal();
  return x;
}

/// A random partition into parts of at most `base` tokens.
Parts random_parts(Random& random, std::size_t n, std::uint64_t base) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  Parts part_of(n);
  for (std::size_t a = 0; a < n; ++a) part_of[order[a]] = a / base;
  return part_of;
}

/// Perturbs each input in turn. Returns {bits changed outside the field, bits unchanged inside}, counted in rows.
std::pair<std::uint64_t, std::uint64_t> perturb(Random& random, const std::vector<Parts>& layers, std::size_t n) {
  const auto fields = receptive_fields(layers, n);
  const auto fixed = [&](std::size_t l, const MatrixD&) { return layers[l]; };
  const MatrixD x = random_tokens(random, n);
  const MatrixD before = run(x, layers.size(), fixed);
  std::uint64_t outside = 0, unmoved = 0;
  for (std::size_t t = 0; t < n; ++t) {
    MatrixD changed = x;
    changed.row(static_cast<Eigen::Index>(t)).array() += 1.0;
    const MatrixD after = run(changed, layers.size(), fixed);
    for (std::size_t i = 0; i < n; ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      const bool same = (before.row(row).array() == after.row(row).array()).all();
      if (!fields[i][t] && !same) ++outside;
      if (fields[i][t] && same) ++unmoved;
    }
  }
  return {outside, unmoved};
}

TEST(Claims, L25_E3) {
  Claim field("L25.E3");
  Claim bits("L25.E3");
  Random random(1);
  // Stride-digit chunks: exactly B^L after L layers, as long as B^L <= N.
  for (const auto& [base, digits] : {std::pair<std::uint64_t, std::size_t>{2, 5}, {3, 3}, {4, 3}, {5, 2}}) {
    std::size_t n = 1;
    for (std::size_t t = 0; t < digits; ++t) n *= base;
    std::vector<Parts> layers;
    std::uint64_t power = 1;
    for (std::size_t l = 0; l < digits; ++l) {
      layers.push_back(stride_digit_parts(n, base, l));
      power *= base;
      for (const Field& f : receptive_fields(layers, n)) {
        field.add(static_cast<double>(size(f)), static_cast<double>(power), "stride digits");
        field.add_control(static_cast<double>(size(f)), static_cast<double>(power - 1));
        EXPECT_EQ(size(f), power);
      }
    }
    layers.pop_back();
    const auto moved = perturb(random, layers, n);
    bits.add(static_cast<double>(moved.first), 0, "rows changed outside the field");
    EXPECT_EQ(moved.second, 0u) << "generic inputs: every token of the field matters";
  }
  // Random chunks, sizes that do not divide.
  for (int trial = 0; trial < 40; ++trial) {
    const std::size_t n = 5 + random.below(40);
    const std::uint64_t base = 2 + random.below(3);
    std::vector<Parts> layers;
    double power = 1;
    for (std::size_t l = 0; l < 1 + random.below(3); ++l) {
      layers.push_back(random_parts(random, n, base));
      power *= static_cast<double>(base);
    }
    for (const Field& f : receptive_fields(layers, n)) field.add(static_cast<double>(size(f)), power, "random chunks");
    bits.add(static_cast<double>(perturb(random, layers, n).first), 0, "rows changed outside the field");
    // Control: chunks of the tokens sorted by value. The field of the unperturbed input does not hold then.
    const auto sorted = [&](std::size_t, const MatrixD& x) {
      std::vector<std::size_t> order(n);
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return x(static_cast<Eigen::Index>(a), 0) < x(static_cast<Eigen::Index>(b), 0);
      });
      Parts part_of(n);
      for (std::size_t a = 0; a < n; ++a) part_of[order[a]] = a / base;
      return part_of;
    };
    const MatrixD x = random_tokens(random, n);
    const auto fields = receptive_fields({sorted(0, x)}, n);
    MatrixD changed = x;
    changed(0, 0) += 3;
    const MatrixD before = run(x, 1, sorted), after = run(changed, 1, sorted);
    std::uint64_t outside = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      if (!fields[i][0] && !(before.row(row).array() == after.row(row).array()).all()) ++outside;
    }
    bits.add_control(static_cast<double>(outside), 0);
  }
  field.finish();
  bits.finish();
}

}  // namespace
