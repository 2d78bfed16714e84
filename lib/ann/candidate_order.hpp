// The order of candidates: better score first, then smaller index; as integers, and sorted by digits.
#pragma once

#include "top_k_task.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace subquad::ann {

template <class T>
using OrderedBits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// The order of finite numbers as the order of unsigned integers; both zeros are one number.
template <class T>
OrderedBits<T> ordered_bits(T x) {
  using U = OrderedBits<T>;
  constexpr U kSign = U{1} << (8 * sizeof(U) - 1);
  const U raw = std::bit_cast<U>(x + T{0});  // -0 + 0 = +0
  return (raw & kSign) != 0 ? static_cast<U>(~raw) : static_cast<U>(raw | kSign);
}

/// The number whose ordered_bits these are.
template <class T>
T from_ordered_bits(OrderedBits<T> order) {
  using U = OrderedBits<T>;
  constexpr U kSign = U{1} << (8 * sizeof(U) - 1);
  return std::bit_cast<T>((order & kSign) != 0 ? static_cast<U>(order & ~kSign) : static_cast<U>(~order));
}

template <class T>
struct OrderedCandidate {
  OrderedBits<T> order;
  std::uint32_t index;
};

/// Room for the candidates of one query. A search drops what it can once more than `capacity - kTopKKeyTile` have come:
/// seldom enough to be cheap, often enough that few keys pass a threshold that lags.
inline std::size_t candidate_capacity(std::size_t count) {
  return count + std::clamp<std::size_t>(count / 2, 48, std::size_t{1} << 16) + kTopKKeyTile;
}

/// Sorts by descending order; equal ones keep their places, which are by ascending index. Returns where the result is:
/// `items` or `other`.
template <class T>
const OrderedCandidate<T>* sort_best_first(OrderedCandidate<T>* items, OrderedCandidate<T>* other, std::size_t size) {
  if (size < 40) {  // about where counting digits begins to pay
    std::sort(items, items + size, [](const OrderedCandidate<T>& x, const OrderedCandidate<T>& y) {
      return x.order != y.order ? x.order > y.order : x.index < y.index;
    });
    return items;
  }
  OrderedBits<T> least = items[0].order, largest = items[0].order;
  for (std::size_t a = 1; a < size; ++a) {
    least = std::min(least, items[a].order);
    largest = std::max(largest, items[a].order);
  }
  // Only the digits in which candidates differ.
  const int bits = std::bit_width(static_cast<OrderedBits<T>>(largest - least));
  for (int shift = 0; shift < bits; shift += 8) {
    std::array<std::uint32_t, 257> begin{};
    const auto digit = [&](const OrderedCandidate<T>& item) { return ((largest - item.order) >> shift) & 255u; };
    for (std::size_t a = 0; a < size; ++a) ++begin[static_cast<std::size_t>(digit(items[a])) + 1];
    for (std::size_t value = 1; value < 256; ++value) begin[value] += begin[value - 1];
    for (std::size_t a = 0; a < size; ++a) other[begin[static_cast<std::size_t>(digit(items[a]))]++] = items[a];
    std::swap(items, other);
  }
  return items;
}

}  // namespace subquad::ann
