#include "hamming_scan.hpp"

#include <algorithm>

namespace subquad::problems {

namespace {

constexpr std::uint64_t kQueries = 64;  // queries that share a pass over the keys
constexpr std::uint64_t kTileWords =
    1 << 11;  // 16 KiB of keys: the tile stays in the first-level cache for all of them

struct Tile {
  const std::uint64_t* keys;  // first word of key `begin`
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t words;
};

template <int kWords>
[[gnu::always_inline]] inline void scan_tile(const std::uint64_t* query, const Tile& tile, NearestKey& best) {
  const std::uint64_t width = kWords == 0 ? tile.words : kWords;
  const std::uint64_t* key = tile.keys;
  for (std::uint64_t j = tile.begin; j < tile.end; ++j, key += width) {
    std::uint64_t distance = 0;
    for (std::uint64_t w = 0; w < width; ++w)
      distance += static_cast<std::uint64_t>(__builtin_popcountll(query[w] ^ key[w]));
    if (distance < best.distance) best = {distance, j};
  }
}

[[gnu::always_inline]] inline void scan_any_width(const std::uint64_t* query, const Tile& tile, NearestKey& best) {
  switch (tile.words) {
    case 1:
      return scan_tile<1>(query, tile, best);
    case 2:
      return scan_tile<2>(query, tile, best);
    case 4:
      return scan_tile<4>(query, tile, best);
    default:
      return scan_tile<0>(query, tile, best);
  }
}

using Scan = void (*)(const std::uint64_t*, const Tile&, NearestKey&);

void scan_portable(const std::uint64_t* query, const Tile& tile, NearestKey& best) {
  scan_any_width(query, tile, best);
}

#if defined(__x86_64__)
// The baseline of the architecture has no instruction that counts ones; every machine since 2008 has.
__attribute__((target("popcnt"))) void scan_popcnt(const std::uint64_t* query, const Tile& tile, NearestKey& best) {
  scan_any_width(query, tile, best);
}
Scan choose_scan() {
  return __builtin_cpu_supports("popcnt") ? scan_popcnt : scan_portable;
}
#else
Scan choose_scan() {
  return scan_portable;
}
#endif

}  // namespace

std::vector<NearestKey> nearest_keys(const BitMatrix& queries, const BitMatrix& keys, std::int64_t good_enough,
                                     const Execution& execution) {
  const Scan scan = choose_scan();
  const std::uint64_t words = keys.words_per_row();
  const std::uint64_t tile_rows = std::max<std::uint64_t>(1, kTileWords / std::max<std::uint64_t>(1, words));
  std::vector<NearestKey> nearest(queries.rows());
  const ProgressScope progress(execution, "nearest keys", queries.rows());
  parallel_for(execution, queries.rows(), kQueries, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t start = 0; start < keys.rows(); start += tile_rows) {
      execution.check_stop();
      const Tile tile{keys.words().data() + start * words, start, std::min(keys.rows(), start + tile_rows), words};
      for (std::uint64_t i = begin; i < end; ++i) {
        const bool settled = good_enough >= 0 && nearest[i].distance <= static_cast<std::uint64_t>(good_enough);
        if (!settled) scan(queries.row(i).data(), tile, nearest[i]);
      }
    }
  });
  return nearest;
}

}  // namespace subquad::problems
