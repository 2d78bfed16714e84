// The order of work of the backward kernel: which tiles of (query block, key block) are computed at the same time.
//
// A tile adds to the gradients of its queries and to those of its keys. So the tiles are handed out in steps: no two
// tiles of a step share a query block or a key block, and every block receives its terms in the order of the steps.
// That order depends on the shapes alone, and a gradient needs no lock and no copy a thread. (Threads need not wait
// between steps: lib/attention/streaming_softmax_backward_order.hpp.)
//
// With few blocks on one side (the short one) a step would have few tiles. Then the long side is cut into parts, and
// the short side has one accumulator a part, added up at the end in the order of the parts.
#pragma once

#include <algorithm>
#include <cstddef>

namespace subquad::attention {

/// One tile. `part` says which accumulator of the short side it adds to.
struct BackwardTile {
  std::size_t query_block;
  std::size_t key_block;
  std::size_t part;
};

/// All tiles of query_blocks x key_blocks (each >= 1), in steps of at least kTilesWanted tiles where there are so many.
class BackwardSchedule {
 public:
  static constexpr std::size_t kTilesWanted = 32;

  BackwardSchedule(std::size_t query_blocks, std::size_t key_blocks)
      : keys_are_short_(key_blocks <= query_blocks),
        short_blocks_(std::min(query_blocks, key_blocks)),
        long_blocks_(std::max(query_blocks, key_blocks)) {
    const std::size_t wanted = std::min((kTilesWanted + short_blocks_ - 1) / short_blocks_, long_blocks_);
    part_length_ = (long_blocks_ + wanted - 1) / wanted;
    parts_ = (long_blocks_ + part_length_ - 1) / part_length_;
  }

  bool keys_are_short() const { return keys_are_short_; }
  std::size_t short_blocks() const { return short_blocks_; }
  std::size_t parts() const { return parts_; }
  std::size_t steps() const { return std::max(part_length_, short_blocks_); }

  /// Calls f(BackwardTile) for the tiles of one step.
  template <class F>
  void for_each_tile(std::size_t step, F&& f) const {
    for (std::size_t part = 0; part < parts_; ++part) {
      const std::size_t first = part * part_length_;
      const std::size_t length = std::min(part_length_, long_blocks_ - first);
      const std::size_t cycle = std::max(length, short_blocks_);
      if (step >= cycle) continue;
      for (std::size_t m = 0; m < std::min(length, short_blocks_); ++m) {
        const std::size_t other = (m + step) % cycle;
        const std::size_t of_short = length >= short_blocks_ ? m : other;
        const std::size_t of_long = first + (length >= short_blocks_ ? other : m);
        f(keys_are_short_ ? BackwardTile{of_long, of_short, part} : BackwardTile{of_short, of_long, part});
      }
    }
  }

 private:
  bool keys_are_short_;
  std::size_t short_blocks_;
  std::size_t long_blocks_;
  std::size_t part_length_ = 1;
  std::size_t parts_ = 1;
};

}  // namespace subquad::attention
