#include <subquad/core/digest.hpp>
#include <subquad/core/error.hpp>
#include <subquad/core/random.hpp>

#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>

namespace subquad {

// The engine is seeded through the digest, so that neighbouring seeds (1, 2, 3) give unrelated states.
Random::Random(std::uint64_t seed) : seed_(seed), engine_(Digester().add(seed).add("engine").finish().low) {}

// The tags keep the two kinds of split apart: without them split("") and split(0) would hash the same bytes.
Random Random::split(std::string_view name) const {
  return Random(Digester().add(seed_).add("split by name").add(name).finish().low);
}

Random Random::split(std::uint64_t index) const {
  return Random(Digester().add(seed_).add("split by index").add(index).finish().low);
}

std::uint64_t Random::below(std::uint64_t bound) {
  require(bound >= 1, ErrorKind::parameter, "Random::below: bound is 0, expected at least 1");
  return boost::random::uniform_int_distribution<std::uint64_t>(0, bound - 1)(engine_);
}

double Random::unit() {
  return boost::random::uniform_01<double>()(engine_);
}

double Random::normal() {
  return boost::random::normal_distribution<double>(0.0, 1.0)(engine_);
}

}  // namespace subquad
