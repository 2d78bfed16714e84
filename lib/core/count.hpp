// Counts: sizes that may be astronomically large (2^25 vectors, 2^50 pairs), and checked machine-size arithmetic.
#pragma once

#include <boost/multiprecision/gmp.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace subquad {

/// An exact non-negative size. GMP through Boost.Multiprecision.
using Count = boost::multiprecision::mpz_int;

/// Returns 2^exponent. Throws Error(resource) if exponent > 2^20 (a number that nobody can use as a size).
Count pow2(std::uint64_t exponent);

/// Returns ceil(log2(x)) for x >= 1, and 0 for x <= 1.
std::uint64_t ceil_log2(const Count& x);

/// Returns log2(x) as a double (estimate, relative error about 1e-15; for printing and cost models). x >= 1.
double log2_estimate(const Count& x);

/// Returns the count as a person writes it: all digits below 10^7, else "3.36e7"; a power of two gets " (2^25)" behind.
std::string describe(const Count& x);

/// Returns a number of bytes as a person writes it: "17.2 MiB".
std::string describe_bytes(const Count& bytes);

/// Returns x as a std::uint64_t. Throws Error(resource) naming `what` if it does not fit.
std::uint64_t to_u64(const Count& x, std::string_view what);

/// Returns a + b, a * b. Throws Error(resource) naming `what` on overflow of 64 bits.
std::uint64_t checked_add(std::uint64_t a, std::uint64_t b, std::string_view what);
std::uint64_t checked_mul(std::uint64_t a, std::uint64_t b, std::string_view what);

}  // namespace subquad
