// Softmax attention to a hundred digits, and instances biased to edges: the reference of the rigorous-number tests.
//
// Boost's cpp_bin_float: no MPFR and no interval anywhere, so it shares nothing with what it checks. Not a proof, but
// with logits below 10^6 every weight has a relative error below 10^-90, far under everything that is compared with it.
#pragma once

#include <subquad/core/random.hpp>
#include <subquad/problems/attention.hpp>

#include <boost/multiprecision/cpp_bin_float.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace subquad::test {

using Digits100 = boost::multiprecision::cpp_bin_float_100;

/// A number to a hundred digits, and what it may be off by.
struct HundredDigits {
  Digits100 value = 0;
  Digits100 error = 0;
};

/// One row of softmax(scale q k^T) v, straight from the definition.
inline std::vector<HundredDigits> attention_hundred_digits(const problems::Attention::Instance& instance,
                                                           Eigen::Index row) {
  std::vector<Digits100> logits;
  for (Eigen::Index j = 0; j < instance.k.rows(); ++j) {
    Digits100 dot = 0;
    for (Eigen::Index t = 0; t < instance.q.cols(); ++t) {
      dot += Digits100(instance.q(row, t)) * Digits100(instance.k(j, t));
    }
    logits.push_back(dot * Digits100(instance.scale));
  }
  const Digits100 largest = *std::max_element(logits.begin(), logits.end());
  Digits100 total = 0;
  std::vector<HundredDigits> sums(static_cast<std::size_t>(instance.v.cols()));
  for (Eigen::Index j = 0; j < instance.k.rows(); ++j) {
    const Digits100 weight = exp(Digits100(logits[static_cast<std::size_t>(j)] - largest));
    total += weight;
    for (Eigen::Index c = 0; c < instance.v.cols(); ++c) {
      HundredDigits& sum = sums[static_cast<std::size_t>(c)];
      sum.value += weight * Digits100(instance.v(j, c));
      sum.error += weight * Digits100(std::fabs(instance.v(j, c)));
    }
  }
  for (HundredDigits& sum : sums) {
    sum.value /= total;
    sum.error *= Digits100("1e-90") / total;
  }
  return sums;
}

/// Fills a matrix with standard normal numbers times `size`.
inline problems::MatrixD normal_matrix(Random& random, Eigen::Index rows, Eigen::Index cols, double size) {
  problems::MatrixD result(rows, cols);
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (Eigen::Index j = 0; j < cols; ++j) result(i, j) = size * random.normal();
  }
  return result;
}

/// A finite instance of the given shape with standard normal entries, scale 1/d.
inline problems::Attention::Instance normal_instance(Random& random, Eigen::Index n, Eigen::Index n_k, Eigen::Index d,
                                                     Eigen::Index d_v) {
  problems::Attention::Instance instance;
  instance.q = normal_matrix(random, n, d, 1.0);
  instance.k = normal_matrix(random, n_k, d, 1.0);
  instance.v = normal_matrix(random, n_k, d_v, 1.0);
  instance.scale = d > 0 ? 1.0 / static_cast<double>(d) : 1.0;
  instance.entry_bound = 1.7e308;
  return instance;
}

inline constexpr std::uint64_t kEdgyKinds = 14;

/// A random instance of one of kEdgyKinds kinds; `keys_bound` limits the number of keys.
inline problems::Attention::Instance edgy_instance(Random& random, std::uint64_t kind, std::uint64_t keys_bound = 40) {
  const auto size = [&](std::uint64_t bound) { return static_cast<Eigen::Index>(1 + random.below(bound)); };
  problems::Attention::Instance instance = normal_instance(random, size(6), size(keys_bound), size(20), size(4));
  const Eigen::Index n_k = instance.k.rows();
  switch (kind) {
    case 0:  // as it is
      break;
    case 1:  // logits up to about +-10^4
      instance.q *= 1e4;
      break;
    case 2:  // logits at the ends of the range of e^x in doubles
      instance.q.setConstant(1.0);
      instance.k.setConstant(-700.0);
      for (Eigen::Index j = 0; j < n_k; j += 2) instance.k.row(j).setConstant(700.0 + random.unit());
      break;
    case 3:  // one dominating key
      instance.q.setConstant(1.0);
      instance.k.row(static_cast<Eigen::Index>(random.below(static_cast<std::uint64_t>(n_k)))).setConstant(60.0);
      break;
    case 4:  // equal keys
      for (Eigen::Index j = 1; j < n_k; ++j) instance.k.row(j) = instance.k.row(0);
      break;
    case 5:  // a single key
      instance.k.conservativeResize(1, Eigen::NoChange);
      instance.v.conservativeResize(1, Eigen::NoChange);
      break;
    case 6:  // d = 0
      instance.q.resize(instance.q.rows(), 0);
      instance.k.resize(n_k, 0);
      break;
    case 7:  // subnormal values and keys
      instance.v *= 1e-310;
      instance.k *= 1e-312;
      break;
    case 8:  // huge values, queries and keys that cancel in size
      instance.v *= 1e290;
      instance.q *= 1e200;
      instance.k *= 1e-199;
      break;
    case 9:  // logits that grow from key to key, over hundreds of binary orders
      instance.q.setConstant(1.0);
      for (Eigen::Index j = 0; j < n_k; ++j) instance.k.row(j).setConstant(50.0 * static_cast<double>(j));
      break;
    case 10:  // the reductions' shape: 0/1 vectors, values 0 and 1
      instance.q = instance.q.unaryExpr([](double x) { return x > 0.3 ? 3.0 : 0.0; });
      instance.k = instance.k.unaryExpr([](double x) { return x > 0.3 ? -3.0 : 0.0; });
      instance.v = instance.v.unaryExpr([](double x) { return x > 0.0 ? 1.0 : 0.0; });
      instance.scale = 1.0;
      break;
    case 11:  // values far from 0 with a small spread
      instance.v = instance.v.unaryExpr([](double x) { return 1e6 + 1e-3 * x; });
      break;
    case 12:  // one scale after another: far from normal, zero, negative
      instance.scale = random.bernoulli(0.3) ? 0.0 : random.bernoulli(0.5) ? 1e-300 : -2.5;
      break;
    default:  // mixed sizes in one matrix
      for (Eigen::Index j = 0; j < n_k; ++j)
        instance.k.row(j) *= std::ldexp(1.0, static_cast<int>(random.below(60)) - 50);
      break;
  }
  return instance;
}

}  // namespace subquad::test
