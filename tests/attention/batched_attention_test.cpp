// Batched attention: strides, grouped heads, masks, gradients, errors, on every SIMD target.
#include "backward_support.hpp"
#include "expect_error.hpp"

#include <subquad/attention/batched_attention.hpp>
#include <subquad/attention/streaming_softmax.hpp>
#include <subquad/core/error.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using namespace subquad::test;
using subquad::ErrorKind;
using subquad::Execution;
using subquad::Random;
using subquad::attention::batched_attention;
using subquad::attention::batched_attention_backward;
using subquad::attention::BatchedOptions;
using subquad::attention::Tensor4View;
using subquad::problems::AttentionMask;
using subquad::problems::MatrixD;
using subquad::problems::MatrixF;
using subquad::problems::RowMajorMatrix;

using Shape4 = std::array<std::uint64_t, 4>;

/// How a tensor lies in memory.
enum class Layout {
  heads_outside,  ///< (B, H, n, d), contiguous
  tokens_outside  ///< (B, n, H, d) as projections give it, with 3 numbers between two tokens and 5 between two batches
};

/// A tensor with its memory. What lies between its elements is NaN and must stay so.
template <class T>
struct Tensor {
  Tensor(const Shape4& s, Layout layout) : shape(s) {
    const auto b = static_cast<std::int64_t>(s[0]), h = static_cast<std::int64_t>(s[1]),
               n = static_cast<std::int64_t>(s[2]), d = static_cast<std::int64_t>(s[3]);
    stride = layout == Layout::heads_outside ? std::array<std::int64_t, 4>{h * n * d, n * d, d, 1}
                                             : std::array<std::int64_t, 4>{n * (h * d + 3) + 5, d, h * d + 3, 1};
    memory.assign(static_cast<std::size_t>(b * stride[0] + 1), std::numeric_limits<T>::quiet_NaN());
  }
  T& at(std::uint64_t b, std::uint64_t h, std::uint64_t i, std::uint64_t c) {
    const std::array<std::uint64_t, 4> index{b, h, i, c};
    std::size_t place = 0;
    for (std::size_t axis = 0; axis < 4; ++axis) place += index[axis] * static_cast<std::size_t>(stride[axis]);
    return memory[place];
  }
  void randomize(Random& random, double spread) {
    for (std::uint64_t b = 0; b < shape[0]; ++b)
      for (std::uint64_t h = 0; h < shape[1]; ++h)
        for (std::uint64_t i = 0; i < shape[2]; ++i)
          for (std::uint64_t c = 0; c < shape[3]; ++c)
            at(b, h, i, c) = static_cast<T>(spread * (2 * random.unit() - 1));
  }
  RowMajorMatrix<T> head(std::uint64_t b, std::uint64_t h) {
    RowMajorMatrix<T> m(static_cast<Eigen::Index>(shape[2]), static_cast<Eigen::Index>(shape[3]));
    for (Eigen::Index i = 0; i < m.rows(); ++i)
      for (Eigen::Index c = 0; c < m.cols(); ++c)
        m(i, c) = at(b, h, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(c));
    return m;
  }
  std::uint64_t numbers() const {
    std::uint64_t count = 0;
    for (const T x : memory) count += !std::isnan(x);
    return count;
  }
  std::uint64_t elements() const { return shape[0] * shape[1] * shape[2] * shape[3]; }
  Tensor4View<const T> view() const { return {memory.data(), shape, stride}; }
  Tensor4View<T> target() { return {memory.data(), shape, stride}; }

  Shape4 shape;
  std::array<std::int64_t, 4> stride{};
  std::vector<T> memory;
};

struct Sizes {
  std::uint64_t batches, heads, kv_heads, n, n_k, d, d_v;
};

template <class T>
struct Case {
  Case(const Sizes& s, Layout layout, std::uint64_t seed)
      : q({s.batches, s.heads, s.n, s.d}, layout),
        k({s.batches, s.kv_heads, s.n_k, s.d}, layout),
        v({s.batches, s.kv_heads, s.n_k, s.d_v}, layout),
        g({s.batches, s.heads, s.n, s.d_v}, layout),
        output(g.shape, layout),
        grad_q(q.shape, layout),
        grad_k(k.shape, layout),
        grad_v(v.shape, layout) {
    Random random(seed);
    q.randomize(random, 1.5);
    k.randomize(random, 1.5);
    v.randomize(random, 1.0);
    g.randomize(random, 1.0);
  }
  void run(const BatchedOptions& options, int threads = 1) {
    Execution execution;
    execution.threads = threads;
    batched_attention(q.view(), k.view(), v.view(), output.target(), options, execution);
    batched_attention_backward(q.view(), k.view(), v.view(), g.view(), grad_q.target(), grad_k.target(),
                               grad_v.target(), options, execution);
  }
  std::uint64_t kv_head_of(std::uint64_t head) const { return head / (q.shape[1] / k.shape[1]); }

  Tensor<T> q, k, v, g, output, grad_q, grad_k, grad_v;
};

/// The largest error in units of the tolerance, of all outputs and gradients, against the definition head by head.
/// `kv_head` maps a head of queries to its head of keys.
template <class T, class Map>
long double error_ratio(Case<T>& x, double scale, const AttentionMask& mask, const Map& kv_head) {
  long double worst = 0;
  for (std::uint64_t b = 0; b < x.q.shape[0]; ++b) {
    std::vector<GradientMatrices> value(x.k.shape[1]), tolerance(x.k.shape[1]);
    for (std::uint64_t h = 0; h < x.q.shape[1]; ++h) {
      const std::uint64_t kv = kv_head(h);
      const auto q = x.q.head(b, h), k = x.k.head(b, kv), v = x.v.head(b, kv), output = x.output.head(b, h);
      for (Eigen::Index i = 0; i < q.rows(); ++i) {
        const auto seen = static_cast<Eigen::Index>(
            mask.visible(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(k.rows())));
        const auto reference =
            softmax_reference(q.row(i), k.topRows(seen), v.topRows(seen), scale, streaming_arithmetic<T>(k.rows()));
        worst = larger_error(worst, max_error_ratio(output.row(i), reference.output, reference.tolerance));
      }
      const auto reference = gradients_reference<T>(q, k, v, x.g.head(b, h), scale, mask);
      worst = larger_error(worst, max_error_ratio(x.grad_q.head(b, h), reference.value.q, reference.tolerance.q));
      if (value[kv].k.size() == 0 && value[kv].v.size() == 0) {
        value[kv] = reference.value;
        tolerance[kv] = reference.tolerance;
      } else {
        value[kv].k += reference.value.k;
        value[kv].v += reference.value.v;
        tolerance[kv].k += reference.tolerance.k;
        tolerance[kv].v += reference.tolerance.v;
      }
    }
    for (std::uint64_t kv = 0; kv < x.k.shape[1]; ++kv) {
      // Sums of several heads are rounded once more a head and a tile: a few u of sums that the tolerances exceed.
      worst = larger_error(worst, max_error_ratio(x.grad_k.head(b, kv), value[kv].k, 1.5L * tolerance[kv].k));
      worst = larger_error(worst, max_error_ratio(x.grad_v.head(b, kv), value[kv].v, 1.5L * tolerance[kv].v));
    }
  }
  return worst;
}

template <class T>
long double error_ratio(Case<T>& x, double scale, const AttentionMask& mask) {
  return error_ratio(x, scale, mask, [&x](std::uint64_t h) { return x.kv_head_of(h); });
}

class BatchedAttention : public EveryTarget {};
INSTANTIATE_TEST_SUITE_P(Targets, BatchedAttention, ::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         target_name);

TEST_P(BatchedAttention, HandCheckedExample) {
  // Two heads of queries, one of keys 0 and ln 3 with values 0 and 8. Queries 1 and -1: outputs 6 and 2.
  // Weights (1/4, 3/4) and (3/4, 1/4), upstream 1 and 1: dV = (1, 1). dS = (-3/2, 3/2) twice: dK = 0, dQ = 1.5 ln 3.
  Case<double> x({1, 2, 1, 1, 2, 1, 1}, Layout::heads_outside, 1);
  x.q.memory = {1, -1};
  x.k.memory = {0, std::log(3.0)};
  x.v.memory = {0, 8};
  x.g.memory = {1, 1};
  x.run({});  // 1/sqrt(d) = 1
  const auto near = [](double value, double expected) { return std::fabs(value - expected) <= 1e-14; };
  EXPECT_TRUE(near(x.output.at(0, 0, 0, 0), 6) && near(x.output.at(0, 1, 0, 0), 2));
  EXPECT_TRUE(near(x.grad_v.at(0, 0, 0, 0), 1) && near(x.grad_v.at(0, 0, 1, 0), 1));
  EXPECT_TRUE(near(x.grad_k.at(0, 0, 0, 0), 0) && near(x.grad_k.at(0, 0, 1, 0), 0));
  EXPECT_TRUE(near(x.grad_q.at(0, 0, 0, 0), 1.5 * std::log(3.0)));
  EXPECT_TRUE(near(x.grad_q.at(0, 1, 0, 0), 1.5 * std::log(3.0)));
}

TEST_P(BatchedAttention, MatchesTheDefinitionForEveryLayoutGroupAndMask) {
  constexpr Sizes kSizes[] = {{1, 1, 1, 5, 7, 3, 2},    {2, 4, 2, 70, 9, 5, 3},  {3, 2, 2, 1, 40, 4, 17},
                              {1, 6, 2, 130, 20, 2, 1}, {2, 3, 1, 9, 200, 3, 4}, {1, 2, 1, 4, 6, 0, 2}};
  for (const Sizes& s : kSizes) {
    for (const Layout layout : {Layout::heads_outside, Layout::tokens_outside}) {
      for (const AttentionMask& mask : {AttentionMask::none(), AttentionMask::lower_triangle(3)}) {
        Case<float> f(s, layout, 2);
        Case<double> g(s, layout, 2);
        f.run({0.5, mask});
        g.run({0.5, mask});
        EXPECT_LE(error_ratio(f, 0.5, mask), 1) << s.n << " " << s.n_k;
        EXPECT_LE(error_ratio(g, 0.5, mask), 1) << s.n << " " << s.n_k;
        for (const auto* tensor : {&g.output, &g.grad_q, &g.grad_k, &g.grad_v}) {
          EXPECT_EQ(tensor->numbers(), tensor->elements()) << "written outside the tensor, or not everywhere";
        }
      }
    }
  }
}

TEST_P(BatchedAttention, AHeadIsStreamingSoftmaxBitByBitWhateverTheThreads) {
  const Sizes s{2, 4, 2, 150, 260, 9, 5};
  const BatchedOptions options{0.5, AttentionMask::lower_triangle(60)};
  Case<float> one(s, Layout::tokens_outside, 3);
  one.run(options);
  for (const int threads : {2, 3, 8}) {
    Case<float> more(s, Layout::tokens_outside, 3);
    more.run(options, threads);
    for (std::uint64_t b = 0; b < 2; ++b) {
      for (std::uint64_t h = 0; h < 4; ++h) {
        EXPECT_TRUE(identical<MatrixF>(more.output.head(b, h), one.output.head(b, h)));
        EXPECT_TRUE(identical<MatrixF>(more.grad_q.head(b, h), one.grad_q.head(b, h)));
        if (h < 2) {
          EXPECT_TRUE(identical<MatrixF>(more.grad_k.head(b, h), one.grad_k.head(b, h)));
          EXPECT_TRUE(identical<MatrixF>(more.grad_v.head(b, h), one.grad_v.head(b, h)));
        }
        const MatrixF alone = subquad::attention::streaming_softmax(
            one.q.head(b, h), one.k.head(b, h / 2), one.v.head(b, h / 2), 0.5F, Execution{}, options.mask);
        EXPECT_TRUE(identical<MatrixF>(alone, one.output.head(b, h)));
      }
    }
  }
}

TEST_P(BatchedAttention, HeadsThatLeaveTheRangeDoNotDisturbTheOthers) {
  Case<float> x({2, 2, 2, 4, 6, 3, 2}, Layout::heads_outside, 4);
  Case<float> calm({2, 2, 2, 4, 6, 3, 2}, Layout::heads_outside, 4);
  for (std::uint64_t i = 0; i < 6; ++i) x.v.at(1, 0, i, 0) *= 1e38F;
  x.run({0.5, {}});
  calm.run({0.5, {}});
  EXPECT_LE(error_ratio(x, 0.5, {}), 1);
  EXPECT_TRUE(identical<MatrixF>(x.output.head(0, 1), calm.output.head(0, 1)));
  EXPECT_TRUE(identical<MatrixF>(x.grad_k.head(1, 1), calm.grad_k.head(1, 1)));
}

TEST_P(BatchedAttention, RepeatedInputsByStrideZero) {
  // One tensor of keys for all batches and heads, and one query for all tokens; also in the wide range.
  for (const float size : {1.0F, 1e38F}) {
    Random random(5);
    Case<float> x({2, 3, 3, 4, 5, 3, 2}, Layout::heads_outside, 5);
    std::vector<float> q(3), k(15), v(10);
    for (float& e : q) e = static_cast<float>(random.unit());
    for (float& e : k) e = static_cast<float>(random.unit());
    for (float& e : v) e = size * static_cast<float>(random.unit());
    for (std::uint64_t b = 0; b < 2; ++b)
      for (std::uint64_t h = 0; h < 3; ++h) {
        for (std::uint64_t i = 0; i < 4; ++i)
          for (std::uint64_t c = 0; c < 3; ++c) x.q.at(b, h, i, c) = q[c];
        for (std::uint64_t j = 0; j < 5; ++j) {
          for (std::uint64_t c = 0; c < 3; ++c) x.k.at(b, h, j, c) = k[j * 3 + c];
          for (std::uint64_t c = 0; c < 2; ++c) x.v.at(b, h, j, c) = v[j * 2 + c];
        }
      }
    const BatchedOptions options{0.5, AttentionMask::lower_triangle(1)};
    batched_attention(Tensor4View<const float>{q.data(), x.q.shape, {0, 0, 0, 1}},
                      Tensor4View<const float>{k.data(), x.k.shape, {0, 0, 3, 1}},
                      Tensor4View<const float>{v.data(), x.v.shape, {0, 0, 2, 1}}, x.output.target(), options);
    Case<float> copies = x;
    copies.run(options);
    EXPECT_EQ(x.output.memory.size(), copies.output.memory.size());
    EXPECT_TRUE(identical<MatrixF>(x.output.head(1, 2), copies.output.head(1, 2)));
    EXPECT_LE(error_ratio(copies, 0.5, options.mask), 1);
  }
}

TEST(BatchedAttentionInterface, MoreHeadsThanTheBudgetHoldsAtOnce) {
  // A head packs to 9 MB, so two tasks never fit 16 MiB together, and the outputs are kept for a few heads at a time.
  const Sizes s{2, 4, 2, 1, 9000, 64, 64};
  Case<double> x(s, Layout::tokens_outside, 6);
  x.run({0.125, {}}, 2);
  for (std::uint64_t b = 0; b < 2; ++b) {
    for (std::uint64_t h = 0; h < 4; ++h) {
      const auto reference = softmax_reference(x.q.head(b, h), x.k.head(b, h / 2), x.v.head(b, h / 2), 0.125,
                                               streaming_arithmetic<double>(9000));
      EXPECT_LE(max_error_ratio(x.output.head(b, h), reference.output, reference.tolerance), 1);
    }
  }
  EXPECT_EQ(x.grad_k.numbers(), x.grad_k.elements());
}

TEST(BatchedAttentionInterface, EmptyTensors) {
  Case<double> no_batch({0, 2, 2, 3, 4, 2, 2}, Layout::heads_outside, 7);
  no_batch.run({});
  Case<double> no_query({2, 2, 1, 0, 4, 2, 2}, Layout::heads_outside, 7);
  no_query.run({});
  EXPECT_TRUE(identical<MatrixD>(no_query.grad_k.head(1, 0), MatrixD::Zero(4, 2)));
  EXPECT_TRUE(identical<MatrixD>(no_query.grad_v.head(1, 0), MatrixD::Zero(4, 2)));
  Case<double> no_head({1, 0, 2, 3, 4, 2, 2}, Layout::heads_outside, 7);
  no_head.run({});
  EXPECT_TRUE(identical<MatrixD>(no_head.grad_v.head(0, 1), MatrixD::Zero(4, 2)));
  Case<double> no_value({1, 2, 2, 3, 4, 2, 0}, Layout::heads_outside, 7);
  no_value.run({});
  EXPECT_TRUE(identical<MatrixD>(no_value.grad_q.head(0, 1), MatrixD::Zero(3, 2)));
}

TEST(BatchedAttentionInterface, BadShapesAndStridesAreErrorsWithTheNumbers) {
  const auto expect = [](const char* part, auto change, BatchedOptions options = {}) {
    Case<double> x({2, 4, 2, 3, 5, 6, 7}, Layout::heads_outside, 8);
    auto q = x.q.view(), k = x.k.view(), v = x.v.view(), g = x.g.view();
    auto output = x.output.target(), grad_q = x.grad_q.target();
    change(q, k, v, output);
    expect_error(ErrorKind::parameter, part, [&] { batched_attention(q, k, v, output, options); });
    // The backward pass checks its inputs in the same way.
    if (output.shape == x.g.shape && output.stride == x.output.stride) {
      expect_error(ErrorKind::parameter, part, [&] {
        batched_attention_backward(q, k, v, g, grad_q, x.grad_k.target(), x.grad_v.target(), options);
      });
    }
  };
  expect("k is (2, 2, 5, 5), expected (2, 2, 5, 6)", [](auto&, auto& k, auto&, auto&) { k.shape[3] = 5; });
  expect("k is (1, 2, 5, 6), expected (2, 2, 5, 6)", [](auto&, auto& k, auto&, auto&) { k.shape[0] = 1; });
  expect("v is (2, 2, 4, 7), expected (2, 2, 5, 7)", [](auto&, auto&, auto& v, auto&) { v.shape[2] = 4; });
  expect("q has 3 heads, k and v have 2, expected a divisor of 3",
         [](auto& q, auto&, auto&, auto&) { q.shape[1] = 3; });
  expect("3 queries but no key", [](auto&, auto& k, auto& v, auto&) { k.shape[2] = v.shape[2] = 0; });
  expect("output is (2, 4, 3, 6), expected (2, 4, 3, 7)", [](auto&, auto&, auto&, auto& o) { o.shape[3] = 6; });
  expect("the last stride of q is 2, expected 1", [](auto& q, auto&, auto&, auto&) { q.stride[3] = 2; });
  expect("stride 2 of k is -6, expected >= 0", [](auto&, auto& k, auto&, auto&) { k.stride[2] = -6; });
  expect("v is (2, 2, 5, 7) but has no data", [](auto&, auto&, auto& v, auto&) { v.data = nullptr; });
  expect("output has 4 elements with stride 20 along axis 1, but the axes inside span 21",
         [](auto&, auto&, auto&, auto& o) { o.stride[1] = 20; });
  expect("output has 2 elements with stride 0 along axis 0", [](auto&, auto&, auto&, auto& o) { o.stride[0] = 0; });
  expect("scale nan", [](auto&, auto&, auto&, auto&) {}, {std::numeric_limits<double>::quiet_NaN(), {}});
}

// Planted faults: another map of heads, and a head that another overwrote, must be refused.
TEST(BatchedAttentionFault, AnotherMapOfHeadsIsCaught) {
  Case<double> x({1, 4, 2, 20, 30, 5, 3}, Layout::tokens_outside, 9);
  x.run({0.5, {}});
  EXPECT_LE(error_ratio(x, 0.5, {}), 1);
  EXPECT_FALSE(error_ratio(x, 0.5, {}, [](std::uint64_t h) { return h % 2; }) <= 1);
  for (std::uint64_t i = 0; i < 20; ++i) x.grad_q.at(0, 3, i, 1) = x.grad_q.at(0, 2, i, 1);
  EXPECT_FALSE(error_ratio(x, 0.5, {}) <= 1);
}

}  // namespace
