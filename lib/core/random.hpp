// Random: the one seeded, splittable generator of the library.
//
// Portable: Boost.Random's engine and distributions give the same numbers with every standard library, std::'s do not.
#pragma once

#include <boost/random/mersenne_twister.hpp>

#include <cstdint>
#include <string_view>

namespace subquad {

/// A seeded generator. Same seed, same numbers, on every platform. Seed 0 is a seed like any other.
class Random {
 public:
  using result_type = std::uint64_t;

  explicit Random(std::uint64_t seed);

  /// Returns an independent generator for the named part of the work. It depends on this generator's *seed* and the
  /// name only, not on how many numbers were drawn, so that adding a draw in one place changes nothing elsewhere.
  Random split(std::string_view name) const;
  /// The same, for a numbered part.
  Random split(std::uint64_t index) const;

  std::uint64_t seed() const noexcept { return seed_; }

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~std::uint64_t{0}; }
  result_type operator()() { return engine_(); }

  /// Returns a uniform integer in [0, bound). bound >= 1.
  std::uint64_t below(std::uint64_t bound);
  /// Returns a uniform real in [0, 1).
  double unit();
  /// Returns true with probability p, 0 <= p <= 1.
  bool bernoulli(double p) { return unit() < p; }
  /// Returns a standard normal value.
  double normal();

 private:
  std::uint64_t seed_;
  boost::random::mt19937_64 engine_;
};

}  // namespace subquad
