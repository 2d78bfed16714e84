#define XXH_INLINE_ALL
#include <subquad/core/digest.hpp>

#include <fmt/format.h>
#include <xxhash.h>

#include <bit>

namespace subquad {

static_assert(std::endian::native == std::endian::little, "digests are defined on little-endian bytes");

struct Digester::State {
  XXH3_state_t hash;
};

std::string to_string(const Digest& digest) {
  return fmt::format("{:016x}{:016x}", digest.high, digest.low);
}

Digester::Digester() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->hash);
}
Digester::~Digester() = default;

Digester& Digester::add_bytes(const void* data, std::size_t size) {
  if (size != 0) XXH3_128bits_update(&state_->hash, data, size);
  return *this;
}

Digester& Digester::add(std::uint64_t value) {
  return add_bytes(&value, sizeof value);
}
Digester& Digester::add(double value) {
  return add(std::bit_cast<std::uint64_t>(value));
}
Digester& Digester::add(std::string_view text) {
  add(static_cast<std::uint64_t>(text.size()));
  return add_bytes(text.data(), text.size());
}

Digest Digester::finish() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(&state_->hash);
  return {hash.high64, hash.low64};
}

}  // namespace subquad
