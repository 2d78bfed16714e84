#include "source_instances.hpp"

#include "edge_instances.hpp"

#include <subquad/core/random.hpp>
#include <subquad/problems/approximate_nearest_neighbor.hpp>
#include <subquad/problems/gap_ann.hpp>
#include <subquad/problems/orthogonal_vectors.hpp>
#include <subquad/sat/cnf.hpp>

#include <algorithm>
#include <functional>
#include <utility>

namespace subquad::battery {

using problems::ApproximateNearestNeighbor;
using problems::GapAnn;
using problems::OrthogonalVectors;
using reductions::AnyInstance;

namespace {

/// Every rows x cols matrix.
std::vector<BitMatrix> all_matrices(std::uint64_t rows, std::uint64_t cols) {
  std::vector<BitMatrix> matrices;
  for (std::uint64_t code = 0; code < std::uint64_t{1} << (rows * cols); ++code) {
    BitMatrix matrix(rows, cols);
    for (std::uint64_t k = 0; k < rows * cols; ++k) matrix.set(k / cols, k % cols, ((code >> k) & 1U) != 0);
    matrices.push_back(std::move(matrix));
  }
  return matrices;
}

/// Every matrix with low..high rows.
std::vector<BitMatrix> all_matrices(std::uint64_t low, std::uint64_t high, std::uint64_t cols) {
  std::vector<BitMatrix> matrices;
  for (std::uint64_t rows = low; rows <= high; ++rows)
    for (BitMatrix& matrix : all_matrices(rows, cols)) matrices.push_back(std::move(matrix));
  return matrices;
}

BitMatrix constant_matrix(std::uint64_t rows, std::uint64_t cols, bool value) {
  BitMatrix matrix(rows, cols);
  for (std::uint64_t r = 0; r < rows; ++r)
    for (std::uint64_t c = 0; c < cols; ++c) matrix.set(r, c, value);
  return matrix;
}

/// A random matrix; dimensions often at a word boundary.
std::uint64_t random_dim(Random& random) {
  static constexpr std::uint64_t kBoundaries[] = {21, 22, 42, 43, 63, 64, 65};
  return random.below(4) == 0 ? kBoundaries[random.below(7)] : random.below(14);
}

// cnf

std::vector<AnyInstance> all_formulas() {
  std::vector<AnyInstance> instances;
  for (std::uint32_t n = 0; n <= 2; ++n) {
    const std::uint32_t kinds = 1U << (2 * n);  // sets of literals
    // Multisets of at most three clauses as ascending codes; `kinds` stands for "no clause".
    for (std::uint32_t a = 0; a <= kinds; ++a) {
      for (std::uint32_t b = a; b <= kinds; ++b) {
        for (std::uint32_t c = b; c <= kinds; ++c) {
          sat::Cnf formula(n);
          for (const std::uint32_t code : {a, b, c}) {
            if (code == kinds) continue;
            std::vector<sat::Literal> clause;
            for (std::uint32_t l = 0; l < 2 * n; ++l)
              if ((code >> l) & 1U) clause.emplace_back(l / 2, l % 2 != 0);
            formula.add_clause(clause);
          }
          instances.push_back({"cnf", std::move(formula)});
        }
      }
    }
  }
  return instances;
}

std::vector<AnyInstance> degenerate_formulas() {
  std::vector<sat::Cnf> formulas;
  formulas.emplace_back(5);  // no clause: 32 models
  formulas.emplace_back(4);
  formulas.back().add_clause({});  // an empty clause
  formulas.emplace_back(6);
  formulas.back().add_clause({2, 2, 2});  // repeated literals, five variables occur nowhere
  formulas.emplace_back(3);
  for (int copy = 0; copy < 65; ++copy) formulas.back().add_clause({1, -3});  // duplicates beyond a word
  formulas.emplace_back(3);
  for (int v = 1; v <= 3; ++v) formulas.back().add_clause({v, -v});  // tautologies only
  formulas.emplace_back(3);
  for (int code = 0; code < 8; ++code)  // all eight clauses of width 3: unsatisfiable, every clause needed
    formulas.back().add_clause({code & 1 ? 1 : -1, code & 2 ? 2 : -2, code & 4 ? 3 : -3});
  formulas.emplace_back(7);
  for (int v = 1; v <= 7; ++v) formulas.back().add_clause({v});  // the only model is all ones
  std::vector<AnyInstance> instances;
  for (sat::Cnf& formula : formulas) instances.push_back({"cnf", std::move(formula)});
  return instances;
}

AnyInstance random_formula(Random& random) {
  return {"cnf", test::random_formula(random, 8, 18)};
}

// ov

std::vector<AnyInstance> all_ov() {
  std::vector<AnyInstance> instances;
  for (std::uint64_t dim = 0; dim <= 2; ++dim) {
    const auto sides = all_matrices(0, 2, dim);
    for (const BitMatrix& a : sides)
      for (const BitMatrix& b : sides) instances.push_back({"ov", OrthogonalVectors::Instance{a, b}});
  }
  return instances;
}

std::vector<AnyInstance> degenerate_ov() {
  std::vector<AnyInstance> instances;
  const auto add = [&](BitMatrix a, BitMatrix b) {
    instances.push_back({"ov", OrthogonalVectors::Instance{std::move(a), std::move(b)}});
  };
  for (const std::uint64_t dim : {1, 3, 63, 64, 65}) {
    add(constant_matrix(3, dim, true), constant_matrix(2, dim, true));    // all ones, all equal: no pair
    add(constant_matrix(3, dim, false), constant_matrix(2, dim, true));   // all pairs
    add(constant_matrix(2, dim, false), constant_matrix(2, dim, false));  // all pairs
    add(constant_matrix(0, dim, false), constant_matrix(3, dim, false));  // an empty side
    add(constant_matrix(3, dim, false), constant_matrix(0, dim, false));
    BitMatrix last = constant_matrix(2, dim, false);  // meet in the last coordinate only
    last.set(0, dim - 1, true);
    last.set(1, dim - 1, true);
    add(last, last);
  }
  add(BitMatrix(4, 0), BitMatrix(5, 0));
  add(BitMatrix(0, 0), BitMatrix(0, 0));
  return instances;
}

AnyInstance random_ov(Random& random) {
  const std::uint64_t dim = random_dim(random);
  // Around the density at which a pair of this many vectors is expected once.
  const double density = 0.2 + 0.6 * random.unit();
  OrthogonalVectors::Instance instance;
  instance.a = test::random_bits(random, random.below(9), dim, density);
  instance.b = test::random_bits(random, random.below(9), dim, density);
  return {"ov", std::move(instance)};
}

// gap-ann

std::vector<AnyInstance> all_gap_ann() {
  std::vector<AnyInstance> instances;
  for (std::uint64_t dim = 0; dim <= 2; ++dim) {
    const auto queries = all_matrices(0, dim == 2 ? 1 : 2, dim);
    const auto keys = all_matrices(0, 2, dim);
    const auto top = static_cast<std::int64_t>(dim) + 1;
    for (const BitMatrix& q : queries)
      for (const BitMatrix& k : keys)
        for (std::int64_t yes = -1; yes < top; ++yes)
          for (std::int64_t no = yes + 1; no <= top; ++no)
            instances.push_back({"gap-ann", GapAnn::Instance{q, k, yes, no}});
  }
  return instances;
}

std::vector<AnyInstance> degenerate_gap_ann() {
  std::vector<AnyInstance> instances;
  const auto add = [&](BitMatrix q, BitMatrix k, std::int64_t yes, std::int64_t no) {
    instances.push_back({"gap-ann", GapAnn::Instance{std::move(q), std::move(k), yes, no}});
  };
  for (const std::uint64_t dim : {1, 5, 64, 65}) {
    const auto d = static_cast<std::int64_t>(dim);
    add(constant_matrix(2, dim, true), constant_matrix(3, dim, false), d - 1, d);  // all at distance dim: far
    add(constant_matrix(2, dim, true), constant_matrix(3, dim, false), d, d + 1);  // near
    add(constant_matrix(2, dim, true), constant_matrix(3, dim, true), 0, d);       // duplicates at distance 0
    add(constant_matrix(2, dim, true), constant_matrix(3, dim, true), -1, 0);      // nothing near, all far
    add(constant_matrix(2, dim, true), constant_matrix(3, dim, true), -1, d + 5);  // all outside the promise
    add(constant_matrix(2, dim, true), constant_matrix(0, dim, true), 0, 1);       // no key
    add(constant_matrix(0, dim, true), constant_matrix(2, dim, true), 0, 1);       // no query
  }
  return instances;
}

AnyInstance random_gap_ann(Random& random) {
  GapAnn::Instance instance;
  const std::uint64_t dim = random_dim(random);
  instance.queries = test::random_bits(random, random.below(6), dim, 0.5);
  instance.keys = test::random_bits(random, random.below(8), dim, 0.5);
  instance.r_yes = static_cast<std::int64_t>(random.below(dim + 2)) - 1;
  instance.r_no = instance.r_yes + 1 + static_cast<std::int64_t>(random.below(dim / 2 + 2));
  return {"gap-ann", std::move(instance)};
}

// ann

std::vector<AnyInstance> all_ann() {
  static constexpr std::pair<std::uint64_t, std::uint64_t> kEps[] = {{0, 1}, {1, 3}, {1, 1}, {5, 2}};
  std::vector<AnyInstance> instances;
  for (std::uint64_t dim = 0; dim <= 2; ++dim) {
    const auto queries = all_matrices(0, dim == 2 ? 1 : 2, dim);
    const auto keys = all_matrices(1, 3, dim);
    for (const BitMatrix& q : queries)
      for (const BitMatrix& k : keys)
        for (const auto& [num, den] : kEps)
          instances.push_back({"ann", ApproximateNearestNeighbor::Instance{q, k, num, den}});
  }
  return instances;
}

std::vector<AnyInstance> degenerate_ann() {
  std::vector<AnyInstance> instances;
  instances.push_back({"ann", ApproximateNearestNeighbor::Instance{}});
  for (const std::uint64_t dim : {0, 1, 64, 65}) {
    instances.push_back({"ann", ApproximateNearestNeighbor::Instance{constant_matrix(2, dim, true),
                                                                     constant_matrix(5, dim, false), 1, 4}});
    instances.push_back({"ann", ApproximateNearestNeighbor::Instance{constant_matrix(2, dim, true),
                                                                     constant_matrix(5, dim, true), 0, 1}});
    instances.push_back({"ann", ApproximateNearestNeighbor::Instance{constant_matrix(0, dim, true),
                                                                     constant_matrix(2, dim, true), 3, 1}});
  }
  return instances;
}

/// Flips exactly `weight` coordinates of the row, a uniform subset of them.
void flip(BitMatrix& matrix, std::uint64_t row, std::uint64_t weight, Random& random) {
  std::uint64_t left = weight;
  for (std::uint64_t c = 0; c < matrix.cols() && left > 0; ++c) {
    if (random.below(matrix.cols() - c) >= left) continue;
    matrix.set(row, c, !matrix.get(row, c));
    --left;
  }
}

/// One query; the nearest key, at distance r, is the last; the first is a decoy at a distance in [r, (1+eps) r], the
/// others are mostly far beyond. An oracle may say yes because of the decoy once and no the next time: a search that
/// takes the yes for more than it is worth ends at a key far away.
AnyInstance banded_ann(Random& random) {
  ApproximateNearestNeighbor::Instance instance;
  const std::uint64_t dim = 200 + random.below(400);
  instance.eps_num = 2 + random.below(9);
  instance.eps_den = 10;
  const std::uint64_t radius = dim / 8 + random.below(dim / 8);
  const std::uint64_t band = radius * instance.eps_num / instance.eps_den + 1;
  instance.queries = test::random_bits(random, 1, dim, 0.5);
  instance.keys = BitMatrix(4 + random.below(9), dim);
  for (std::uint64_t k = 0; k < instance.keys.rows(); ++k) {
    for (std::uint64_t c = 0; c < dim; ++c) instance.keys.set(k, c, instance.queries.get(0, c));
    const bool last = k + 1 == instance.keys.rows();
    const bool decoy = k == 0 || random.below(4) == 0;
    flip(instance.keys, k, last ? radius : decoy ? radius + random.below(band) : dim - random.below(dim / 4), random);
  }
  return {"ann", std::move(instance)};
}

AnyInstance random_ann(Random& random) {
  if (random.below(2) == 0) return banded_ann(random);
  ApproximateNearestNeighbor::Instance instance;
  const std::uint64_t dim = random_dim(random);
  instance.queries = test::random_bits(random, random.below(5), dim, 0.5);
  instance.keys = test::random_bits(random, 1 + random.below(12), dim, 0.15 + 0.7 * random.unit());
  instance.eps_num = random.below(5) == 0 ? 0 : random.below(25);
  instance.eps_den = 1 + random.below(12);
  return {"ann", std::move(instance)};
}

struct Generator {
  std::string_view problem;
  std::vector<AnyInstance> (*exhaustive)();
  std::vector<AnyInstance> (*degenerate)();
  AnyInstance (*random)(Random&);
};

constexpr Generator kGenerators[] = {
    {"cnf", all_formulas, degenerate_formulas, random_formula},
    {"ov", all_ov, degenerate_ov, random_ov},
    {"gap-ann", all_gap_ann, degenerate_gap_ann, random_gap_ann},
    {"ann", all_ann, degenerate_ann, random_ann},
};

const Generator* generator(std::string_view problem) {
  const auto* found = std::find_if(std::begin(kGenerators), std::end(kGenerators),
                                   [&](const Generator& g) { return g.problem == problem; });
  return found == std::end(kGenerators) ? nullptr : found;
}

}  // namespace

std::vector<AnyInstance> exhaustive_instances(std::string_view problem) {
  const Generator* g = generator(problem);
  return g == nullptr ? std::vector<AnyInstance>() : g->exhaustive();
}

std::vector<AnyInstance> degenerate_instances(std::string_view problem) {
  const Generator* g = generator(problem);
  return g == nullptr ? std::vector<AnyInstance>() : g->degenerate();
}

std::vector<AnyInstance> random_instances(std::string_view problem, std::uint64_t seed, std::uint64_t count) {
  const Generator* g = generator(problem);
  std::vector<AnyInstance> instances;
  if (g == nullptr) return instances;
  const Random root = Random(seed).split(problem);
  for (std::uint64_t i = 0; i < count; ++i) {
    Random random = root.split(i);
    instances.push_back(g->random(random));
  }
  return instances;
}

}  // namespace subquad::battery
