#include <subquad/core/count.hpp>
#include <subquad/core/error.hpp>

#include <cmath>
#include <iterator>

namespace subquad {

namespace mp = boost::multiprecision;

Count pow2(std::uint64_t exponent) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 20;
  require(exponent <= kLargest, ErrorKind::resource,
          "2^{} is beyond any size that could be built (largest exponent {})", exponent, kLargest);
  return Count(1) << static_cast<unsigned>(exponent);
}

std::uint64_t ceil_log2(const Count& x) {
  if (x <= 1) return 0;
  return static_cast<std::uint64_t>(mp::msb(Count(x - 1))) + 1;
}

double log2_estimate(const Count& x) {
  require(x >= 1, ErrorKind::parameter, "log2 of a count below 1");
  const auto top = static_cast<std::uint64_t>(mp::msb(x));
  if (top < 64) return std::log2(x.convert_to<double>());
  const std::uint64_t shift = top - 63;
  return static_cast<double>(shift) + std::log2(Count(x >> static_cast<unsigned>(shift)).convert_to<double>());
}

std::string describe(const Count& x) {
  if (x < 10'000'000) return x.str();
  // Rounded from the decimal digits: a logarithm would print 9.999e7 as "10.00e7".
  const std::string digits = x.str();
  std::size_t exponent = digits.size() - 1;
  int mantissa = std::stoi(digits.substr(0, 3)) + (digits[3] >= '5' ? 1 : 0);
  if (mantissa == 1000) {
    mantissa = 100;
    ++exponent;
  }
  std::string text = fmt::format("{}.{:02}e{}", mantissa / 100, mantissa % 100, exponent);
  if (mp::lsb(x) == mp::msb(x)) text += fmt::format(" (2^{})", static_cast<std::uint64_t>(mp::msb(x)));
  return text;
}

std::string describe_bytes(const Count& bytes) {
  if (bytes < 1024) return bytes.str() + " B";
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  // In tenths of the unit, rounded half up; the next unit takes over where this one would print "1024.0".
  for (unsigned unit = 0; unit < std::size(kUnits); ++unit) {
    const Count tenths = (bytes * 10 + (Count(1) << (10 * unit + 9))) >> (10 * unit + 10);
    if (tenths < 10240)
      return fmt::format("{}.{} {}", Count(tenths / 10).str(), Count(tenths % 10).str(), kUnits[unit]);
  }
  return describe(bytes) + " B";
}

std::uint64_t to_u64(const Count& x, std::string_view what) {
  require(x >= 0 && (x == 0 || mp::msb(x) < 64), ErrorKind::resource, "{} = {} does not fit into 64 bits", what,
          describe(x));
  return x.convert_to<std::uint64_t>();
}

std::uint64_t checked_add(std::uint64_t a, std::uint64_t b, std::string_view what) {
  std::uint64_t result = 0;
  require(!__builtin_add_overflow(a, b, &result), ErrorKind::resource, "{}: {} + {} overflows 64 bits", what, a, b);
  return result;
}

std::uint64_t checked_mul(std::uint64_t a, std::uint64_t b, std::string_view what) {
  std::uint64_t result = 0;
  require(!__builtin_mul_overflow(a, b, &result), ErrorKind::resource, "{}: {} * {} overflows 64 bits", what, a, b);
  return result;
}

}  // namespace subquad
