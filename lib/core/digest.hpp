// Digests: 128-bit fingerprints of instances and files (XXH3), to tell one from another. Not cryptographic.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace subquad {

/// A 128-bit fingerprint.
struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const Digest&, const Digest&) = default;
};

/// Returns the digest as 32 hexadecimal digits.
std::string to_string(const Digest& digest);

/// Collects bytes into a digest. Little-endian integers; strings are preceded by their length.
class Digester {
 public:
  Digester();
  ~Digester();
  Digester(const Digester&) = delete;
  Digester& operator=(const Digester&) = delete;

  Digester& add_bytes(const void* data, std::size_t size);
  Digester& add(std::uint64_t value);
  Digester& add(double value);  ///< by bit pattern
  Digester& add(std::string_view text);
  Digester& add(const char* text) { return add(std::string_view(text)); }
  template <class T>
  Digester& add_span(std::span<const T> values) {
    return add(static_cast<std::uint64_t>(values.size())).add_bytes(values.data(), values.size_bytes());
  }
  Digest finish() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace subquad
