// The registry of kernels: names, validation, agreement with the definition.
#include "expect_error.hpp"
#include "max_abs_error.hpp"
#include "softmax_reference.hpp"

#include <subquad/attention/kernel.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace {

using subquad::ErrorKind;
using subquad::Random;
using subquad::attention::kernel;
using subquad::attention::Kernel;
using subquad::attention::kernels;
using subquad::problems::Attention;
using subquad::problems::MatrixD;
using subquad::test::expect_error;
using subquad::test::max_abs_error;
using subquad::test::max_error_ratio;

Attention::Instance random_instance(Eigen::Index n, Eigen::Index n_k, Eigen::Index d, Eigen::Index d_v) {
  Random random(31);
  const auto matrix = [&](Eigen::Index rows, Eigen::Index cols) {
    MatrixD m(rows, cols);
    for (Eigen::Index e = 0; e < m.size(); ++e) m.data()[e] = random.unit();
    return m;
  };
  Attention::Instance instance;
  instance.q = matrix(n, d);
  instance.k = matrix(n_k, d);
  instance.v = matrix(n_k, d_v);
  instance.scale = 0.5;
  instance.entry_bound = 1.0;
  return instance;
}

TEST(Kernels, AreListedInAFixedOrderAndFoundByName) {
  ASSERT_EQ(kernels().size(), 6U);
  EXPECT_EQ(kernels()[0].name, "exact");
  EXPECT_EQ(kernels()[1].name, "exact-f32");
  EXPECT_EQ(kernels()[2].name, "rigorous");
  EXPECT_EQ(kernels()[3].name, "low-rank");
  EXPECT_EQ(kernels()[4].name, "low-rank-f32");
  EXPECT_EQ(kernels()[5].name, "knn");
  for (const Kernel& k : kernels()) {
    EXPECT_EQ(&kernel(k.name), &k);
    EXPECT_FALSE(k.arithmetic.empty());
    EXPECT_FALSE(k.description.empty());
    EXPECT_EQ(k.log_domain, k.name == "rigorous");
  }
}

TEST(Kernels, AnUnknownNameIsAnErrorThatListsTheKnown) {
  for (const char* part : {"exact-f16", "exact, exact-f32, rigorous, low-rank, low-rank-f32, knn"})
    expect_error(ErrorKind::parameter, part, [] { kernel("exact-f16"); });
}

TEST(Kernels, AgreeWithTheDefinitionToTheirArithmetic) {
  const Attention::Instance x = random_instance(5, 23, 4, 2);
  const auto reference = [&](auto arithmetic) {
    return subquad::test::softmax_reference(x.q, x.k, x.v, x.scale, arithmetic);
  };
  const auto f64 = reference(subquad::test::streaming_arithmetic<double>(23));
  const auto f32 = reference(subquad::test::streaming_arithmetic<float>(23));
  EXPECT_LE(max_error_ratio(kernel("exact").run(x, {}).output, f64.output, f64.tolerance), 1);
  EXPECT_LE(max_error_ratio(kernel("exact-f32").run(x, {}).output, f32.output, f32.tolerance), 1);
  // exact-f32 does compute in float32.
  EXPECT_FALSE(max_error_ratio(kernel("exact-f32").run(x, {}).output, f64.output, f64.tolerance) <= 1);
  EXPECT_TRUE(kernel("exact").run(x, {}).log_column.empty());
}

TEST(Kernels, RigorousEnclosesTheFirstColumnAndFillsAll) {
  const Attention::Instance x = random_instance(4, 9, 3, 2);
  const Attention::Answer answer = kernel("rigorous").run(x, {});
  const auto reference =
      subquad::test::softmax_reference(x.q, x.k, x.v, x.scale, subquad::test::streaming_arithmetic<double>(9));
  EXPECT_LE(max_abs_error(answer.output, reference.output), 1e-14L);
  ASSERT_EQ(answer.log_column.size(), 4U);
  for (Eigen::Index i = 0; i < 4; ++i) {
    const auto& enclosure = answer.log_column[static_cast<std::size_t>(i)];
    const long double log_u = std::log(reference.output(i, 0));
    EXPECT_LE(enclosure.log_low, log_u + 1e-17L);
    EXPECT_GE(enclosure.log_high, log_u - 1e-17L);
    EXPECT_LE(enclosure.log_high - enclosure.log_low, 1e-14);
  }
}

TEST(Kernels, RigorousReachesValuesThatDoublesCannotHold) {
  // u = e^-2000 / (1 + e^-2000): 0 as a double, ln u = -2000 up to e^-2000.
  Attention::Instance x;
  x.q = MatrixD::Constant(1, 1, 1.0);
  x.k = MatrixD(2, 1);
  x.k << 0, -2000;
  x.v = MatrixD(2, 2);
  x.v << 0, 1, 1, 0;
  x.entry_bound = 2000;
  const Attention::Answer answer = kernel("rigorous").run(x, {});
  ASSERT_EQ(answer.log_column.size(), 1U);
  EXPECT_LE(answer.log_column[0].log_low, -2000.0);
  EXPECT_GE(answer.log_column[0].log_high, -2000.0);
  EXPECT_LE(answer.log_column[0].log_high - answer.log_column[0].log_low, 1e-9);
  EXPECT_EQ(answer.output(0, 0), 0.0);
  EXPECT_EQ(answer.output(0, 1), 1.0);
}

TEST(Kernels, RefuseBadInputBeforeAnyWorkAndSayWhere) {
  for (const Kernel& k : kernels()) {
    SCOPED_TRACE(k.name);
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      const auto expect_place = [&](MatrixD Attention::Instance::*matrix, const char* place) {
        Attention::Instance x = random_instance(3, 4, 2, 2);
        (x.*matrix)(2, 1) = bad;
        expect_error(ErrorKind::parameter, place, [&] { k.run(x, {}); });
      };
      expect_place(&Attention::Instance::q, "Q[2,1]");
      expect_place(&Attention::Instance::k, "K[2,1]");
      expect_place(&Attention::Instance::v, "V[2,1]");
    }
    Attention::Instance no_keys = random_instance(3, 0, 2, 1);
    expect_error(ErrorKind::parameter, [&] { k.run(no_keys, {}); });
    Attention::Instance mismatch = random_instance(3, 4, 2, 1);
    mismatch.k.resize(4, 3);
    mismatch.k.setZero();
    expect_error(ErrorKind::parameter, [&] { k.run(mismatch, {}); });
  }
}

TEST(Kernels, NoQueriesGiveNoRows) {
  for (const Kernel& k : kernels()) {
    EXPECT_EQ(k.run(random_instance(0, 4, 2, 1), {}).output.rows(), 0) << k.name;
    EXPECT_EQ(k.run(random_instance(0, 0, 2, 1), {}).output.rows(), 0) << k.name;
  }
}

}  // namespace
