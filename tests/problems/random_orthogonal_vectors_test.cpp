#include "binomial_bound.hpp"
#include "bit_matrices.hpp"
#include "expect_error.hpp"

#include <subquad/problems/random_orthogonal_vectors.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace subquad::problems {
namespace {

using Shape = OrthogonalVectorsShape;
using test::compatible;
constexpr std::uint64_t kInstances = 20'000;

std::uint64_t ones(const BitMatrix& matrix) {
  return weight(matrix.words());
}

TEST(IidVectors, DensityAndPairProbabilityAreAsStated) {
  // One pair an instance, so that the trials are independent.
  Random random(1);
  const double p = 0.3;
  const Shape shape{1, 1, 8};
  std::uint64_t total = 0, orthogonal_pairs = 0;
  for (std::uint64_t k = 0; k < kInstances; ++k) {
    const GeneratedOrthogonalVectors generated = random_iid_vectors(shape, p, random);
    EXPECT_FALSE(generated.known.has_value());
    total += ones(generated.instance.a) + ones(generated.instance.b);
    orthogonal_pairs += count_orthogonal_pairs(generated.instance);
  }
  EXPECT_TRUE(compatible(total, 2 * 8 * kInstances, p));
  EXPECT_TRUE(compatible(orthogonal_pairs, kInstances, iid_expected_pairs(shape, p)));
  EXPECT_FALSE(compatible(orthogonal_pairs, kInstances, iid_expected_pairs(shape, 0.31)));  // the test has power
}

TEST(IidVectors, VarianceIsAsStated) {
  // The second moment is measured through an event, whose frequency has a binomial law: that both pairs of a 1 x 2
  // instance are orthogonal.
  Random random(2);
  const double p = 0.4;
  const Shape shape{1, 2, 5};
  std::uint64_t both = 0;
  for (std::uint64_t k = 0; k < kInstances; ++k)
    both += count_orthogonal_pairs(random_iid_vectors(shape, p, random).instance) == 2 ? 1 : 0;
  // E[X^2] = mean + 2 P(both), so P(both) = (variance + mean^2 - mean)/2.
  const double mean = iid_expected_pairs(shape, p);
  const double probability = (iid_variance_of_pairs(shape, p) + mean * mean - mean) / 2;
  EXPECT_TRUE(compatible(both, kInstances, probability));
  EXPECT_FALSE(compatible(both, kInstances, mean * mean / 4));  // independent pairs would look different
}

TEST(PlantedIid, CoordinatesFollowTheConditionalLaw) {
  Random random(3);
  const double p = 0.4;
  std::uint64_t zero = 0, left = 0, right = 0;
  for (std::uint64_t k = 0; k < kInstances; ++k) {
    const GeneratedOrthogonalVectors generated = planted_iid_vectors({3, 2, 4}, p, random);
    ASSERT_TRUE(generated.known && generated.known->witness);
    ASSERT_EQ(OrthogonalVectors::check(generated.instance, *generated.known).verdict, Verdict::certified);
    const auto pair = *generated.known->witness;
    const bool a = generated.instance.a.get(pair.first, 0);
    const bool b = generated.instance.b.get(pair.second, 0);
    zero += !a && !b ? 1 : 0;
    left += a ? 1 : 0;
    right += b ? 1 : 0;
  }
  EXPECT_TRUE(compatible(zero, kInstances, (1 - p) / (1 + p)));
  EXPECT_TRUE(compatible(left, kInstances, p / (1 + p)));
  EXPECT_TRUE(compatible(right, kInstances, p / (1 + p)));
}

TEST(PlantedPairs, PositionsAreUniform) {
  Random random(4);
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> iid, constant;
  for (std::uint64_t k = 0; k < kInstances; ++k) {
    ++iid[*planted_iid_vectors({2, 3, 2}, 0.5, random).known->witness];
    ++constant[*planted_constant_weight_vectors({2, 3, 4}, {1, 1, 1}, random).known->witness];
  }
  EXPECT_EQ(iid.size(), 6u);
  EXPECT_EQ(constant.size(), 6u);
  for (const auto& cells : {iid, constant})
    for (const auto& cell : cells) EXPECT_TRUE(compatible(cell.second, kInstances, 1.0 / 6));
}

TEST(ConstantWeightVectors, PairProbabilityIsExact) {
  Random random(5);
  const Shape shape{1, 1, 12};
  std::uint64_t pairs = 0, first_coordinate = 0;
  for (std::uint64_t k = 0; k < kInstances; ++k) {
    const GeneratedOrthogonalVectors generated = random_constant_weight_vectors(shape, {4, 0, 0}, random);
    pairs += count_orthogonal_pairs(generated.instance);
    first_coordinate += generated.instance.a.get(0, 0) ? 1 : 0;
  }
  EXPECT_TRUE(compatible(pairs, kInstances, orthogonality_probability(12, 4, 4).convert_to<double>()));
  EXPECT_TRUE(compatible(first_coordinate, kInstances, 4.0 / 12));
}

TEST(ConstantWeightVectors, PairsThatShareAVectorAreIndependent) {
  Random random(6);
  std::uint64_t both = 0;
  for (std::uint64_t k = 0; k < kInstances; ++k)
    both += count_orthogonal_pairs(random_constant_weight_vectors({1, 2, 8}, {3, 0, 0}, random).instance) == 2 ? 1 : 0;
  const double rho = orthogonality_probability(8, 3, 3).convert_to<double>();
  EXPECT_TRUE(compatible(both, kInstances, rho * rho));
}

RC_GTEST_PROP(ConstantWeightVectors, WeightsAreAsPlanned, ()) {
  const Shape shape{*rc::gen::inRange<std::uint64_t>(1, 9), *rc::gen::inRange<std::uint64_t>(1, 9),
                    *rc::gen::element<std::uint64_t>(5, 64, 70)};
  const ConstantWeights plan{*rc::gen::inRange<std::uint64_t>(0, 3),
                             *rc::gen::inRange<std::uint64_t>(0, shape.num_a + 1),
                             *rc::gen::inRange<std::uint64_t>(0, shape.num_b + 1)};
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  const bool plant = plan.weight < 2 && *rc::gen::arbitrary<bool>();
  const GeneratedOrthogonalVectors generated = plant ? planted_constant_weight_vectors(shape, plan, random)
                                                     : random_constant_weight_vectors(shape, plan, random);
  const auto heavier = [&](const BitMatrix& side) {
    std::uint64_t number = 0;
    for (std::uint64_t r = 0; r < side.rows(); ++r) {
      const std::uint64_t w = weight(side.row(r));
      RC_ASSERT(w == plan.weight || w == plan.weight + 1);
      number += w - plan.weight;
    }
    return number;
  };
  RC_ASSERT(heavier(generated.instance.a) == plan.num_a_heavier);
  RC_ASSERT(heavier(generated.instance.b) == plan.num_b_heavier);
  if (plant) RC_ASSERT(OrthogonalVectors::check(generated.instance, *generated.known).verdict == Verdict::certified);
}

TEST(PlantedConstantWeight, EachVectorOfThePairAloneIsUniform) {
  Random random(7);
  std::uint64_t a = 0, b = 0;
  for (std::uint64_t k = 0; k < kInstances; ++k) {
    const GeneratedOrthogonalVectors generated = planted_constant_weight_vectors({1, 1, 9}, {3, 0, 0}, random);
    a += generated.instance.a.get(0, 4) ? 1 : 0;
    b += generated.instance.b.get(0, 4) ? 1 : 0;
  }
  EXPECT_TRUE(compatible(a, kInstances, 1.0 / 3));
  EXPECT_TRUE(compatible(b, kInstances, 1.0 / 3));
}

TEST(ProjectivePlane, HasNoOrthogonalPairAndNoSharedCoordinate) {
  Random random(8);
  for (const std::uint64_t order : {2u, 3u, 5u, 7u}) {
    const std::uint64_t plane = order * order + order + 1;
    for (const std::uint64_t dim : {plane, plane + 20}) {
      for (const std::uint64_t w : {order + 1, order + 3}) {
        const GeneratedOrthogonalVectors generated = projective_plane_vectors({150, 140, dim}, order, w, random);
        ASSERT_TRUE(generated.known.has_value());
        EXPECT_FALSE(generated.known->witness.has_value());
        EXPECT_EQ(count_orthogonal_pairs(generated.instance), 0u);
        for (const BitMatrix* side : {&generated.instance.a, &generated.instance.b}) {
          std::vector<std::uint64_t> column(dim, 0);
          for (std::uint64_t r = 0; r < side->rows(); ++r) {
            EXPECT_EQ(weight(side->row(r)), w);
            for (std::uint64_t c = 0; c < dim; ++c) column[c] += side->get(r, c) ? 1 : 0;
          }
          for (const std::uint64_t count : column) EXPECT_LT(count, side->rows());
        }
        // Lines of the plane meet in one point, so minimal weights are nowhere near an accident of heavy vectors.
        if (w == order + 1) {
          for (std::uint64_t j = 0; j < 140; ++j) {
            const std::uint64_t common = inner_product(generated.instance.a.row(0), generated.instance.b.row(j));
            EXPECT_TRUE(common == 1 || common == order + 1);
          }
        }
      }
    }
  }
}

TEST(ProjectivePlane, RefusesWhatIsNoPlane) {
  Random random(9);
  const auto make = [&](std::uint64_t dim, std::uint64_t order, std::uint64_t w) {
    projective_plane_vectors({1, 1, dim}, order, w, random);
  };
  const auto refused = [&](std::uint64_t dim, std::uint64_t order, std::uint64_t w, int line = __builtin_LINE()) {
    test::expect_error(
        ErrorKind::parameter, [&] { make(dim, order, w); }, __FILE__, line);
  };
  refused(100, 4, 6);  // a plane exists, but not over the integers modulo 4
  refused(100, 1, 3);
  refused(100, 0, 3);
  refused(6, 2, 3);
  refused(7, 2, 2);
  refused(7, 2, 8);
  refused(1000, ~std::uint64_t{0}, 8);
  EXPECT_NO_THROW(make(7, 2, 3));
}

TEST(GuardedVectors, ShareOneCoordinate) {
  Random random(10);
  const GeneratedOrthogonalVectors generated = guarded_vectors({40, 50, 30}, 0.05, random);
  EXPECT_FALSE(generated.known->witness.has_value());
  EXPECT_EQ(count_orthogonal_pairs(generated.instance), 0u);
  test::expect_error(ErrorKind::parameter, [&] { guarded_vectors({1, 1, 0}, 0.5, random); });
}

TEST(Generators, SameSeedSameInstance) {
  const auto all = [](std::uint64_t seed) {
    Random random(seed);
    std::vector<Digest> digests;
    digests.push_back(OrthogonalVectors::digest(random_iid_vectors({5, 6, 70}, 0.3, random).instance));
    digests.push_back(OrthogonalVectors::digest(planted_iid_vectors({5, 6, 70}, 0.3, random).instance));
    digests.push_back(
        OrthogonalVectors::digest(random_constant_weight_vectors({5, 6, 70}, {20, 1, 2}, random).instance));
    digests.push_back(
        OrthogonalVectors::digest(planted_constant_weight_vectors({5, 6, 70}, {20, 1, 2}, random).instance));
    digests.push_back(OrthogonalVectors::digest(projective_plane_vectors({5, 6, 70}, 5, 20, random).instance));
    digests.push_back(OrthogonalVectors::digest(guarded_vectors({5, 6, 70}, 0.3, random).instance));
    return digests;
  };
  EXPECT_EQ(all(0), all(0));
  EXPECT_NE(all(0), all(1));
}

TEST(Generators, Edges) {
  Random random(11);
  using Instance = OrthogonalVectors::Instance;
  EXPECT_EQ(random_iid_vectors({0, 2, 3}, 0, random).instance, (Instance{BitMatrix(0, 3), BitMatrix(2, 3)}));
  EXPECT_EQ(random_iid_vectors({1, 1, 3}, 1, random).instance,
            (Instance{test::bits(3, {"111"}), test::bits(3, {"111"})}));
  EXPECT_EQ(planted_iid_vectors({1, 1, 0}, 0.5, random).instance, (Instance{BitMatrix(1, 0), BitMatrix(1, 0)}));
  EXPECT_EQ(random_constant_weight_vectors({1, 1, 2}, {1, 1, 1}, random).instance,
            (Instance{test::bits(2, {"11"}), test::bits(2, {"11"})}));
}

TEST(Generators, RefuseParametersOutOfRange) {
  Random random(12);
  test::expect_error(ErrorKind::parameter, [&] { random_iid_vectors({1, 1, 1}, -0.1, random); });
  test::expect_error(ErrorKind::parameter, [&] { planted_iid_vectors({0, 1, 1}, 0.5, random); });
  test::expect_error(ErrorKind::parameter, [&] { planted_constant_weight_vectors({1, 0, 4}, {1, 0, 0}, random); });
  test::expect_error(ErrorKind::parameter, [&] { planted_constant_weight_vectors({1, 1, 4}, {3, 0, 0}, random); });
  test::expect_error(ErrorKind::parameter, [&] { random_constant_weight_vectors({1, 1, 4}, {5, 0, 0}, random); });
  test::expect_error(ErrorKind::parameter, [&] { random_constant_weight_vectors({1, 1, 4}, {2, 2, 0}, random); });
}

}  // namespace
}  // namespace subquad::problems
