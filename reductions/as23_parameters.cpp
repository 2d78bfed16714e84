#include "float32_grid.hpp"

#include <subquad/core/error.hpp>
#include <subquad/reductions/as23_parameters.hpp>

#include <algorithm>

namespace subquad::reductions {

namespace {

using exact::Interval;

constexpr int kBits = 256;
constexpr std::uint64_t kLargestSize = std::uint64_t{1} << 60;

}  // namespace

As23Parameters as23_parameters(std::uint64_t num_keys, std::uint64_t dim, std::int64_t r_yes, std::int64_t r_no) {
  require(1 <= dim && dim < kLargestSize && num_keys < kLargestSize && 0 <= r_yes && r_yes < r_no &&
              r_no <= static_cast<std::int64_t>(dim) + 1,
          ErrorKind::parameter,
          "AS23 parameters: {} keys, dim {}, r_yes {}, r_no {}, expected 0 <= r_yes < r_no <= dim + 1, dim >= 1",
          num_keys, dim, r_yes, r_no);
  const auto integer = [](std::uint64_t x) { return Interval::from_integer(static_cast<std::int64_t>(x), kBits); };
  As23Parameters result;
  result.num_keys = std::max<std::uint64_t>(num_keys, 2);  // ln 1 = 0 would make beta 0 and the two cases equal
  result.balanced_dim = 2 * dim;
  result.balanced_t = 2 * r_yes + 1;
  result.scale = 1.0 / static_cast<double>(2 * result.balanced_dim);

  const Interval log_n = log(integer(result.num_keys));
  const Interval t = Interval::from_integer(result.balanced_t, kBits);
  const Interval t_eps = Interval::from_integer(2 * r_no - result.balanced_t, kBits);
  const Interval big_d = integer(result.balanced_dim);
  const Interval least_beta = integer(40) * big_d * log_n / t_eps;
  const Interval beta_per_square = integer(2) * Interval::from_double(result.scale, kBits) * big_d;
  // high() is at least sqrt(least_beta / beta_per_square), so that no further proof is needed.
  const double unit = round_up_to_unit_grid(sqrt(least_beta / beta_per_square).high());
  result.unit = static_cast<float>(unit);
  const Interval s = Interval::from_double(unit, kBits);
  result.beta = beta_per_square * s * s;

  const Interval growth = integer(1) + t / big_d;
  result.log_threshold = -(result.beta / integer(4) * growth) - log(integer(3) * integer(result.num_keys));
  result.log_tolerance = (-(integer(2) * log_n) - result.beta * growth).low();
  return result;
}

}  // namespace subquad::reductions
