#include <subquad/core/binomial_bounds.hpp>
#include <subquad/core/error.hpp>

#include <boost/math/distributions/binomial.hpp>

namespace subquad {
namespace {

using Binomial = boost::math::binomial_distribution<double>;

void check(std::uint64_t count, std::uint64_t trials, double p, const char* name) {
  require(count <= trials, ErrorKind::parameter, "binomial bound: {} of {} trials, expected at most all", count,
          trials);
  require(p >= 0 && p <= 1, ErrorKind::parameter, "binomial bound: {} = {}, expected a number in [0, 1]", name, p);
}

/// The least count that `trials` trials refute at delta; trials + 1 if there is none.
std::uint64_t refuting_count(std::uint64_t trials, double delta) {
  std::uint64_t low = 0;
  std::uint64_t high = trials + 1;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (binomial_upper_tail(middle, trials, delta) < kFalseAlarm) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

double binomial_upper_tail(std::uint64_t count, std::uint64_t trials, double p) {
  check(count, trials, p, "p");
  if (count == 0) return 1;
  const Binomial law(static_cast<double>(trials), p);
  return boost::math::cdf(boost::math::complement(law, static_cast<double>(count) - 1));
}

double binomial_lower_tail(std::uint64_t count, std::uint64_t trials, double p) {
  check(count, trials, p, "p");
  if (count == trials) return 1;
  return boost::math::cdf(Binomial(static_cast<double>(trials), p), static_cast<double>(count));
}

double clopper_pearson_lower(std::uint64_t count, std::uint64_t trials, double level) {
  check(count, trials, level, "level");
  require(trials >= 1, ErrorKind::parameter, "binomial bound: no trial");
  if (count == 0) return 0;
  return Binomial::find_lower_bound_on_p(static_cast<double>(trials), static_cast<double>(count), level);
}

double clopper_pearson_upper(std::uint64_t count, std::uint64_t trials, double level) {
  check(count, trials, level, "level");
  require(trials >= 1, ErrorKind::parameter, "binomial bound: no trial");
  if (count == trials) return 1;
  return Binomial::find_upper_bound_on_p(static_cast<double>(trials), static_cast<double>(count), level);
}

FailureRate decide_failure_rate(std::uint64_t failures, std::uint64_t trials, double delta) {
  check(failures, trials, delta, "delta");
  require(trials >= 1, ErrorKind::parameter, "binomial bound: no trial");
  FailureRate rate;
  rate.failures = failures;
  rate.trials = trials;
  rate.delta = delta;
  rate.tail = binomial_upper_tail(failures, trials, delta);
  rate.refuted = !(rate.tail >= kFalseAlarm);
  rate.upper_limit = clopper_pearson_upper(failures, trials, kFalseAlarm);
  const std::uint64_t needed = refuting_count(trials, delta);
  // P[Bin(trials, p) >= needed] >= 0.999 from this p on.
  rate.power = needed > trials ? 1.0 : clopper_pearson_upper(needed - 1, trials, 1e-3);
  return rate;
}

}  // namespace subquad
