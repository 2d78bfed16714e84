// Who may start when: hands out the tiles of the backward kernel in the order of its schedule, without barriers.
//
// A tile adds to one accumulator of its queries and to one of its keys. Each accumulator must receive its tiles in the
// order in which they are handed out, whoever computes them: then the sums have one order. So a thread that got a tile
// waits until the tiles before it, in both accumulators, are done. By the schedule these are about a step of tiles
// back, so waiting is rare, and a thread that the system has put aside holds up only the tiles that depend on its own.
// No deadlock: a tile waits only for tiles handed out earlier, and whoever holds one is computing or waiting in turn.
#pragma once

#include <subquad/attention/streaming_softmax_backward_schedule.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace subquad::attention {

/// The tiles of `heads` equal grids, in steps over all grids. Thread-safe.
class BackwardOrder {
 public:
  struct Claim {
    std::size_t head;
    BackwardTile tile;
    std::size_t query_sum, key_sum;      ///< the accumulators
    std::uint32_t query_turn, key_turn;  ///< how many tiles they must have received before
  };

  BackwardOrder(const BackwardSchedule& schedule, std::size_t heads, std::size_t query_blocks, std::size_t key_blocks)
      : schedule_(schedule),
        heads_(heads),
        query_blocks_(query_blocks),
        key_blocks_(key_blocks),
        query_parts_(schedule.keys_are_short() ? 1 : schedule.parts()),
        key_parts_(schedule.keys_are_short() ? schedule.parts() : 1),
        issued_(heads * (query_blocks * query_parts_ + key_blocks * key_parts_), 0),
        done_(issued_.size()) {}

  /// The next tile for which wanted(head, tile) is true, or nothing; adds the number of tiles passed over to `skipped`.
  template <class Wanted>
  std::optional<Claim> next(const Wanted& wanted, std::size_t& skipped) {
    const std::lock_guard lock(mutex_);
    for (;;) {
      if (place_ == tiles_.size()) {
        if (step_ == schedule_.steps()) return std::nullopt;
        tiles_.clear();
        place_ = 0;
        for (std::size_t head = 0; head < heads_; ++head) {
          schedule_.for_each_tile(step_, [&](const BackwardTile& tile) { tiles_.push_back({head, tile}); });
        }
        ++step_;
        continue;
      }
      const Item& item = tiles_[place_++];
      if (!wanted(item.head, item.tile)) {
        ++skipped;
        continue;
      }
      const bool keys_short = schedule_.keys_are_short();
      const std::size_t query_sum =
          (item.head * query_parts_ + (keys_short ? 0 : item.tile.part)) * query_blocks_ + item.tile.query_block;
      const std::size_t key_sum = heads_ * query_parts_ * query_blocks_ +
                                  (item.head * key_parts_ + (keys_short ? item.tile.part : 0)) * key_blocks_ +
                                  item.tile.key_block;
      return Claim{item.head, item.tile, query_sum, key_sum, issued_[query_sum]++, issued_[key_sum]++};
    }
  }

  /// Returns when it is the claim's turn in both accumulators.
  void wait(const Claim& claim) const {
    wait(done_[claim.query_sum], claim.query_turn);
    wait(done_[claim.key_sum], claim.key_turn);
  }

  /// Says that the tile has been added; every claim must come to this.
  void finish(const Claim& claim) {
    for (const std::size_t sum : {claim.query_sum, claim.key_sum}) {
      done_[sum].fetch_add(1, std::memory_order_release);
      done_[sum].notify_all();
    }
  }

 private:
  struct Item {
    std::size_t head;
    BackwardTile tile;
  };

  static void wait(const std::atomic<std::uint32_t>& done, std::uint32_t turn) {
    for (std::uint32_t seen = done.load(std::memory_order_acquire); seen != turn;
         seen = done.load(std::memory_order_acquire)) {
      done.wait(seen, std::memory_order_acquire);
    }
  }

  const BackwardSchedule& schedule_;
  std::size_t heads_, query_blocks_, key_blocks_, query_parts_, key_parts_;
  std::mutex mutex_;
  std::size_t step_ = 0, place_ = 0;
  std::vector<Item> tiles_;  // of the step before step_
  std::vector<std::uint32_t> issued_;
  std::vector<std::atomic<std::uint32_t>> done_;
};

}  // namespace subquad::attention
