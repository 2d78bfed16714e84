#include "tile_buffer.hpp"

#include <subquad/attention/low_rank.hpp>
#include <subquad/attention/monomial_basis.hpp>
#include <subquad/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

// Re-includes this file once per target. Scalable vectors (SVE, RVV) would not divide the tiles, so Arm uses NEON.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "low_rank.cpp"
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include "low_rank-inl.hpp"
// clang-format on

#if HWY_ONCE
namespace subquad::attention {
namespace {

HWY_EXPORT(add_keys_float);
HWY_EXPORT(add_keys_double);
HWY_EXPORT(answer_queries_float);
HWY_EXPORT(answer_queries_double);
HWY_EXPORT(low_rank_target_name);

using problems::Attention;
using problems::MatrixD;

void add_keys(const LowRankKeyTile<float>& task) {
  HWY_DYNAMIC_DISPATCH(add_keys_float)(task);
}
void add_keys(const LowRankKeyTile<double>& task) {
  HWY_DYNAMIC_DISPATCH(add_keys_double)(task);
}
void answer_queries(const LowRankQueryTile<float>& task) {
  HWY_DYNAMIC_DISPATCH(answer_queries_float)(task);
}
void answer_queries(const LowRankQueryTile<double>& task) {
  HWY_DYNAMIC_DISPATCH(answer_queries_double)(task);
}

/// The power of two nearest to x/y, as an exponent; 0 if x or y is 0. Logarithms: the quotient itself may overflow.
int nearest_exponent(double x, double y) {
  return x > 0 && y > 0 ? static_cast<int>(std::lround(std::log2(x) - std::log2(y))) : 0;
}

/// Powers of two that bring queries and keys to lengths within a factor sqrt(2) of sqrt(R) (the plan counts on that),
/// and values to about 1: exact, so nothing is rounded.
struct Scaling {
  int query;
  int key;
  int value;
};

Scaling choose_scaling(const LowRankBounds& bounds) {
  const double side = std::sqrt(bounds.radius);
  return {nearest_exponent(side, bounds.query_norm), nearest_exponent(side, bounds.key_norm),
          nearest_exponent(1.0, bounds.value_bound)};
}

/// Tile of rows [first, first + count) of a matrix, transposed: cols x tokens, times 2^exponent, zeros behind.
template <class T>
void load_tile(const MatrixD& matrix, Eigen::Index first, Eigen::Index count, std::size_t tokens, int exponent,
               T* out) {
  const double factor = std::ldexp(1.0, std::clamp(exponent, -1000, 1000));
  const double rest = std::ldexp(1.0, exponent - std::clamp(exponent, -1000, 1000));
  for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
    T* row = out + static_cast<std::size_t>(c) * tokens;
    for (Eigen::Index t = 0; t < count; ++t) row[t] = static_cast<T>(matrix(first + t, c) * factor * rest);
    std::fill(row + count, row + tokens, T{0});
  }
}

/// The weights c_|a| s^|a| |a|!/a!, with s the scale that is left after the powers of two, rounded once.
std::vector<double> feature_weights(const LowRankPlan& plan, const MonomialBasis& basis, const Scaling& scaling) {
  const exact::Rational scale =
      exact::from_double(plan.request.scale) * exact::power_of_two(-scaling.query - scaling.key);
  std::vector<exact::Rational> by_degree;
  exact::Rational power = 1;
  for (int m = 0; m <= plan.degree; ++m) {
    by_degree.push_back(plan.polynomial.approximant.polynomial.coefficient(m) * power);
    power *= scale;
  }
  const std::vector<exact::Integer> multinomials = basis.multinomials();
  std::vector<double> weights;
  weights.reserve(basis.size());
  for (std::size_t i = 0; i < basis.size(); ++i) {
    const exact::Rational weight =
        by_degree[static_cast<std::size_t>(basis.total_degree()[i])] * exact::Rational(multinomials[i]);
    weights.push_back(to_double(weight, exact::Rounding::nearest));
  }
  return weights;
}

/// One run in arithmetic T.
template <class T>
class LowRankRun {
 public:
  LowRankRun(const LowRankPlan& plan, const Attention::Instance& instance, const Execution& execution)
      : plan_(plan),
        instance_(instance),
        execution_(execution),
        basis_(static_cast<std::uint32_t>(plan.request.dim), plan.degree),
        scaling_(choose_scaling(plan.request.bounds)),
        columns_(static_cast<std::size_t>(instance.v.cols()) + 1),
        tokens_(plan.tiling.tokens) {}

  LowRankResult run() {
    const auto tiles_of = [this](Eigen::Index rows) {
      return (static_cast<std::uint64_t>(rows) + tokens_ - 1) / tokens_;
    };
    const ProgressScope progress(execution_, "low-rank attention",
                                 tiles_of(instance_.k.rows()) + tiles_of(instance_.q.rows()));
    const TileBuffer<T> weighted = summarise_keys(tiles_of(instance_.k.rows()));
    LowRankResult result;
    result.output.resize(instance_.q.rows(), instance_.v.cols());
    const double least = answer(weighted, tiles_of(instance_.q.rows()), result.output);
    result.error_bound = certified_error(least);
    return result;
  }

 private:
  struct Scratch {
    TileBuffer<T> variables, monomials, values, block_sums;
    TileBuffer<double> result;
  };

  Scratch make_scratch() const {
    const std::size_t dim = std::max<std::size_t>(basis_.dim(), 1);
    return {TileBuffer<T>(dim * tokens_), TileBuffer<T>(basis_.size() * tokens_), TileBuffer<T>(columns_ * tokens_),
            TileBuffer<T>(columns_ * tokens_), TileBuffer<double>(columns_ * tokens_)};
  }

  LowRankTile<T> tile(Scratch& scratch) const {
    return {.parent = basis_.parent().data(),
            .variable = basis_.variable().data(),
            .features = basis_.size(),
            .tokens = tokens_,
            .columns = columns_,
            .variables = scratch.variables.data(),
            .monomials = scratch.monomials.data()};
  }

  /// diag(weights) U_2^T [V | 1]: partial sums over fixed chunks of keys, added in order.
  TileBuffer<T> summarise_keys(std::uint64_t tiles) const {
    const std::uint64_t chunks = std::min<std::uint64_t>(plan_.tiling.key_chunks, std::max<std::uint64_t>(tiles, 1));
    const std::size_t size = basis_.size() * columns_;
    std::vector<TileBuffer<double>> partial(chunks);
    parallel_for(execution_, chunks, 1, [&](std::uint64_t begin, std::uint64_t end) {
      Scratch scratch = make_scratch();
      for (std::uint64_t chunk = begin; chunk < end; ++chunk) {
        partial[chunk] = TileBuffer<double>(size);
        std::fill_n(partial[chunk].data(), size, 0.0);
        for (std::uint64_t t = tiles * chunk / chunks; t < tiles * (chunk + 1) / chunks; ++t) {
          if (t % 64 == 0) execution_.check_stop();
          add_key_tile(t, scratch, partial[chunk].data());
        }
      }
    });
    const std::vector<double> weights = feature_weights(plan_, basis_, scaling_);
    TileBuffer<T> weighted(size);
    for (std::size_t i = 0; i < basis_.size(); ++i) {
      for (std::size_t c = 0; c < columns_; ++c) {
        double sum = 0.0;
        for (const TileBuffer<double>& p : partial) sum += p.data()[i * columns_ + c];
        weighted.data()[i * columns_ + c] = static_cast<T>(weights[i] * sum);
      }
    }
    return weighted;
  }

  void add_key_tile(std::uint64_t t, Scratch& scratch, double* sums) const {
    const auto first = static_cast<Eigen::Index>(t * tokens_);
    const Eigen::Index count = std::min<Eigen::Index>(static_cast<Eigen::Index>(tokens_), instance_.k.rows() - first);
    load_tile(instance_.k, first, count, tokens_, scaling_.key, scratch.variables.data());
    load_tile(instance_.v, first, count, tokens_, scaling_.value, scratch.values.data());
    T* ones = scratch.values.data() + (columns_ - 1) * tokens_;
    std::fill(ones, ones + count, T{1});
    std::fill(ones + count, ones + tokens_, T{0});
    add_keys({tile(scratch), scratch.values.data(), sums});
  }

  /// Fills in the output and returns the least denominator.
  double answer(const TileBuffer<T>& weighted, std::uint64_t tiles, MatrixD& output) const {
    std::vector<double> least(tiles, std::numeric_limits<double>::infinity());
    parallel_for(execution_, tiles, 16, [&](std::uint64_t begin, std::uint64_t end) {
      Scratch scratch = make_scratch();
      for (std::uint64_t t = begin; t < end; ++t) {
        const auto first = static_cast<Eigen::Index>(t * tokens_);
        const Eigen::Index count =
            std::min<Eigen::Index>(static_cast<Eigen::Index>(tokens_), instance_.q.rows() - first);
        load_tile(instance_.q, first, count, tokens_, scaling_.query, scratch.variables.data());
        answer_queries({tile(scratch), weighted.data(), plan_.tiling.feature_block, scratch.block_sums.data(),
                        scratch.result.data()});
        const double* denominators = scratch.result.data() + (columns_ - 1) * tokens_;
        for (Eigen::Index i = 0; i < count; ++i) {
          // NaN fails every comparison: it must stay visible.
          if (!(denominators[i] >= least[t])) least[t] = denominators[i];
          for (Eigen::Index c = 0; c < output.cols(); ++c) {
            const double numerator =
                scratch.result.data()[static_cast<std::size_t>(c) * tokens_ + static_cast<std::size_t>(i)];
            output(first + i, c) = std::ldexp(numerator / denominators[i], -scaling_.value);
          }
        }
      }
    });
    double smallest = std::numeric_limits<double>::infinity();
    for (const double x : least) {
      if (!(x >= smallest)) smallest = x;
    }
    return smallest;
  }

  /// |num/den - T~| <= 2 B_V weight_error n_k / den, for the denominators that were computed.
  double certified_error(double least_denominator) const {
    if (instance_.q.rows() == 0 || instance_.v.cols() == 0) return 0.0;
    require(least_denominator > 0, ErrorKind::internal, "low-rank: a denominator is {}, expected a positive number",
            least_denominator);
    const double keys = static_cast<double>(instance_.k.rows());
    const double arithmetic =
        plan_.request.bounds.value_bound * (2 * plan_.weight_error * keys / least_denominator + 1e-15);
    return std::min(plan_.error_bound, (plan_.propagation_bound + arithmetic) * (1 + 1e-12));
  }

  const LowRankPlan& plan_;
  const Attention::Instance& instance_;
  const Execution& execution_;
  MonomialBasis basis_;
  Scaling scaling_;
  std::size_t columns_;
  std::size_t tokens_;
};

void require_planned(const LowRankRequest& request, const Attention::Instance& instance) {
  const auto rows = [](const MatrixD& m) { return static_cast<std::uint64_t>(m.rows()); };
  const auto cols = [](const MatrixD& m) { return static_cast<std::uint64_t>(m.cols()); };
  require(rows(instance.q) == request.num_queries && rows(instance.k) == request.num_keys &&
              cols(instance.q) == request.dim && cols(instance.v) == request.value_dim &&
              instance.scale == request.scale,
          ErrorKind::parameter,
          "low-rank: planned for {} queries, {} keys, dim {}, value dim {}, scale {}; given {}, {}, {}, {}, {}",
          request.num_queries, request.num_keys, request.dim, request.value_dim, request.scale, instance.q.rows(),
          instance.k.rows(), instance.q.cols(), instance.v.cols(), instance.scale);
  const LowRankBounds actual = measure_low_rank_bounds(instance);
  const LowRankBounds& planned = request.bounds;
  const auto within = [](double x, double bound, const char* what) {
    require(x <= bound, ErrorKind::parameter, "low-rank: the data's {} is {:.17g}, planned for at most {:.17g}", what,
            x, bound);
  };
  within(actual.radius, planned.radius, "largest logit bound R");
  within(actual.query_norm, planned.query_norm, "largest query norm");
  within(actual.key_norm, planned.key_norm, "largest key norm");
  within(actual.denominator_radius, planned.denominator_radius, "denominator radius R'");
  within(actual.value_bound, planned.value_bound, "largest value");
  within(actual.value_half_range, planned.value_half_range, "half range of values");
}

}  // namespace

LowRankRequest low_rank_request(const Attention::Instance& instance, double tolerance, LowRankArithmetic arithmetic) {
  LowRankRequest request;
  request.num_queries = static_cast<std::uint64_t>(instance.q.rows());
  request.num_keys = static_cast<std::uint64_t>(instance.k.rows());
  request.dim = static_cast<std::uint64_t>(instance.q.cols());
  request.value_dim = static_cast<std::uint64_t>(instance.v.cols());
  request.scale = instance.scale;
  request.tolerance = tolerance;
  request.arithmetic = arithmetic;
  request.bounds = measure_low_rank_bounds(instance);
  return request;
}

LowRankResult low_rank_attention(const LowRankPlan& plan, const Attention::Instance& instance,
                                 const Execution& execution) {
  problems::validate(instance);
  require_planned(plan.request, instance);
  if (plan.request.arithmetic == LowRankArithmetic::float32) return LowRankRun<float>(plan, instance, execution).run();
  return LowRankRun<double>(plan, instance, execution).run();
}

LowRankResult low_rank_attention(const Attention::Instance& instance, LowRankArithmetic arithmetic,
                                 const Execution& execution) {
  problems::validate(instance);
  const double tolerance = std::exp(instance.log_tolerance);
  require(tolerance > 0, ErrorKind::unsupported, "low-rank: eps_a = e^{} is too small for a double",
          instance.log_tolerance);
  const LowRankPlan plan = plan_low_rank(low_rank_request(instance, tolerance, arithmetic), execution.thread_count());
  return low_rank_attention(plan, instance, execution);
}

const char* low_rank_target() {
  return HWY_DYNAMIC_DISPATCH(low_rank_target_name)();
}

}  // namespace subquad::attention
#endif  // HWY_ONCE
