#include <subquad/attention/lazy_gumbel.hpp>
#include <subquad/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

// Why the law is exact, also with the maximum drawn at once and with keys skipped: docs/kernels/sampled_attention.md.
namespace subquad::attention {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Uniform in (0, 1]: its logarithm is finite.
double positive_unit(Random& random) {
  return 1.0 - random.unit();
}

double exponential(Random& random) {
  return -std::log(positive_unit(random));
}

double gumbel(Random& random) {
  // An exponential variable of 0 has probability 2^-53; the smallest double keeps the result finite.
  return -std::log(std::max(exponential(random), std::numeric_limits<double>::min()));
}

/// A Gumbel variable under the condition that it exceeds b, where rate = e^-b: -ln of an exponential variable below
/// rate.
double gumbel_above(double rate, Random& random) {
  const double below = -std::log1p(positive_unit(random) * std::expm1(-rate));
  return -std::log(std::clamp(below, std::numeric_limits<double>::min(), rate));
}

}  // namespace

LazyGumbelSampler::LazyGumbelSampler(std::span<const std::uint32_t> keys, std::span<const double> logits,
                                     std::uint64_t num_keys, Logit logit, double gap, GumbelHead head)
    : keys_(keys.begin(), keys.end()),
      logits_(logits.begin(), logits.end()),
      unlisted_(keys),
      num_keys_(num_keys),
      logit_(std::move(logit)),
      head_(head) {
  require(!keys_.empty() && keys_.size() == logits_.size() && keys_.size() <= num_keys, ErrorKind::parameter,
          "lazy Gumbel: {} listed keys with {} logits of {} keys in all, expected 1 to {} listed", keys_.size(),
          logits_.size(), num_keys, num_keys);
  require(gap >= 0 && std::isfinite(gap), ErrorKind::parameter, "lazy Gumbel: gap {}, expected a finite number >= 0",
          gap);
  const std::vector<std::uint32_t>& sorted = unlisted_.listed();
  require(sorted.back() < num_keys, ErrorKind::parameter, "lazy Gumbel: key {} is listed, expected keys below {}",
          sorted.back(), num_keys);
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  require(twice == sorted.end(), ErrorKind::parameter, "lazy Gumbel: key {} is listed twice",
          twice == sorted.end() ? 0 : *twice);
  double largest = -kInfinity;
  double smallest = kInfinity;
  for (std::size_t a = 0; a < logits_.size(); ++a) {
    require(logits_[a] < kInfinity, ErrorKind::parameter,  // false for NaN
            "lazy Gumbel: the logit of key {} is {}, expected a finite number or -inf", keys_[a], logits_[a]);
    largest = std::max(largest, logits_[a]);
    smallest = std::min(smallest, logits_[a]);
  }
  require(largest > -kInfinity, ErrorKind::parameter, "lazy Gumbel: every listed key has weight 0");
  // Relative to the largest, so that the Gumbel variables keep their digits beside logits of any size.
  largest_ = largest;
  smallest_ = smallest - largest;
  tail_bound_ = keys_.size() < num_keys_ ? smallest_ + gap : -kInfinity;
  std::vector<double> weights(logits_.size());
  double sum = 0;
  for (std::size_t a = 0; a < logits_.size(); ++a) {
    logits_[a] -= largest;
    // Rejection draws the part of each weight above the bound from the table, the part below from all keys.
    const bool cut = head_ == GumbelHead::rejection && tail_bound_ > -kInfinity;
    weights[a] = std::exp(logits_[a]);
    if (cut) weights[a] *= logits_[a] > tail_bound_ ? -std::expm1(tail_bound_ - logits_[a]) : 0.0;
    sum += weights[a];
  }
  log_sum_ = std::log(sum);
  base_share_ = 1 / (1 + std::exp(log_sum_ - tail_bound_ - std::log(static_cast<double>(num_keys_))));
  if (head_ != GumbelHead::each_key && sum > 0) place_ = decltype(place_)(weights);
}

double LazyGumbelSampler::relative_logit(std::uint32_t key) const {
  const double logit = logit_(key);
  require(logit < kInfinity, ErrorKind::parameter,
          "lazy Gumbel: the logit of key {} is {}, expected a finite number or -inf", key, logit);
  return logit - largest_;
}

/// With B the bound of unlisted logits, e^z = min(e^z, e^B) + max(e^z - e^B, 0), and only listed keys have the second
/// part. A round takes a key from the table of second parts, or proposes any key at e^B, which stands with probability
/// min(1, e^(z - B)): proportional to e^z in all. Rounds are independent, so whoever draws after them draws the same
/// law: after n of them this one gives up.
std::optional<std::uint32_t> LazyGumbelSampler::draw_by_rejection(Random& random, std::uint64_t& tail_draws) const {
  const std::vector<std::uint32_t>& listed = unlisted_.listed();
  for (std::uint64_t round = 0; round < num_keys_; ++round) {
    if (random.unit() >= base_share_) return keys_[place_(random)];
    const auto candidate = static_cast<std::uint32_t>(random.below(num_keys_));
    const double logit = relative_logit(candidate);
    const bool unlisted = logit < smallest_ || !std::binary_search(listed.begin(), listed.end(), candidate);
    tail_draws += unlisted ? 1 : 0;
    if (random.unit() < std::exp(logit - tail_bound_)) return candidate;
  }
  return {};
}

double LazyGumbelSampler::draw_head(Random& random, std::optional<std::uint32_t>& key) const {
  if (head_ == GumbelHead::maximum) return log_sum_ + gumbel(random);
  double best = -kInfinity;
  for (std::size_t a = 0; a < keys_.size(); ++a) {
    const double perturbed = logits_[a] + gumbel(random);
    if (perturbed > best) {
      best = perturbed;
      key = keys_[a];
    }
  }
  return best;
}

GumbelSample LazyGumbelSampler::draw(Random& random) const {
  GumbelSample sample;
  std::optional<std::uint32_t> key;
  if (head_ == GumbelHead::rejection) {
    key = draw_by_rejection(random, sample.tail_draws);
    if (key) {
      sample.key = *key;
      return sample;
    }
  }
  double best = draw_head(random, key);
  // Each unlisted key takes part with probability 1 - exp(-rate), independently: the numbers of keys skipped between
  // two that do are geometric, floor(Exp/rate). So m is binomial and the keys are distinct and uniform, as the
  // algorithm asks.
  const double rate = std::exp(tail_bound_ - best);
  const auto rest = static_cast<double>(num_keys_ - keys_.size());
  double rank = -1;
  while (rate > 0) {
    rank += 1 + std::floor(exponential(random) / rate);
    if (!(rank < rest)) break;
    const std::uint32_t candidate = unlisted_.at(static_cast<std::uint64_t>(rank));
    ++sample.tail_draws;
    const double perturbed = relative_logit(candidate) + gumbel_above(rate, random);
    if (perturbed > best) {
      best = perturbed;
      key = candidate;
    }
  }
  sample.key = key ? *key : keys_[place_(random)];
  return sample;
}

}  // namespace subquad::attention
