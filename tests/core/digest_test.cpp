#include <subquad/core/digest.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <set>
#include <vector>

namespace subquad {
namespace {

TEST(Digest, PublishedVectorOfTheEmptyInput) {
  // XXH3-128 of nothing with seed 0, as xxHash's specification has it.
  EXPECT_EQ(to_string(Digester().finish()), "99aa06d3014798d86001c324468d497f");
}

TEST(Digest, GoldenNumbers) {
  // Files name instances by digest, so these numbers are part of the format.
  EXPECT_EQ(to_string(Digester().add(std::uint64_t{1}).finish()), "bdc94bce2eda264dbc08dc21994df8a2");
  EXPECT_EQ(to_string(Digester().add("ov").add(0.5).finish()), "5bdfe841461c96ce5426c08e7d97235d");
}

TEST(Digest, KindsOfPiecesAreKeptApart) {
  std::set<Digest> seen;
  const std::vector<std::uint64_t> none;
  const std::vector<std::uint64_t> one{1};
  seen.insert(Digester().finish());
  seen.insert(Digester().add(std::uint64_t{0}).finish());
  seen.insert(Digester().add(std::uint64_t{1}).finish());
  seen.insert(Digester().add(1.0).finish());
  seen.insert(Digester().add("ab").add("c").finish());
  seen.insert(Digester().add("a").add("bc").finish());
  seen.insert(Digester().add("abc").finish());
  seen.insert(Digester().add_span(std::span<const std::uint64_t>(one)).finish());
  seen.insert(Digester().add(0.0).add(-0.0).finish());
  seen.insert(Digester().add(-0.0).add(0.0).finish());
  EXPECT_EQ(seen.size(), 10u);
  EXPECT_EQ(Digester().add_span(std::span<const std::uint64_t>(none)).finish(),
            Digester().add(std::uint64_t{0}).finish());
}

RC_GTEST_PROP(Digest, DependsOnTheBytesNotOnTheirPieces, (const std::vector<std::uint8_t>& bytes)) {
  const std::size_t cut = *rc::gen::inRange<std::size_t>(0, bytes.size() + 1);
  const Digest whole = Digester().add_bytes(bytes.data(), bytes.size()).finish();
  const Digest pieces =
      Digester().add_bytes(bytes.data(), cut).add_bytes(bytes.data() + cut, bytes.size() - cut).finish();
  RC_ASSERT(whole == pieces);
}

RC_GTEST_PROP(Digest, OneFlippedBitChangesIt, ()) {
  std::vector<std::uint8_t> bytes = *rc::gen::nonEmpty<std::vector<std::uint8_t>>();
  const Digest before = Digester().add_bytes(bytes.data(), bytes.size()).finish();
  bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] ^= static_cast<std::uint8_t>(1 << *rc::gen::inRange(0, 8));
  RC_ASSERT(Digester().add_bytes(bytes.data(), bytes.size()).finish() != before);
}

TEST(Digest, FinishDoesNotDisturb) {
  Digester digester;
  digester.add("x");
  EXPECT_EQ(digester.finish(), digester.finish());
  digester.add("y");
  EXPECT_EQ(digester.finish(), Digester().add("x").add("y").finish());
}

}  // namespace
}  // namespace subquad
