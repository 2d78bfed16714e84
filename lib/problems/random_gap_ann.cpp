#include "random_subset.hpp"

#include <subquad/core/error.hpp>
#include <subquad/problems/random_gap_ann.hpp>

#include <algorithm>

namespace subquad::problems {

namespace {

GapAnn::Instance start(const GapAnnShape& shape) {
  GapAnn::Instance instance;
  instance.r_yes = shape.r_yes;
  instance.r_no = shape.r_no;
  instance.queries = BitMatrix(shape.num_queries, shape.dim);
  instance.keys = BitMatrix(shape.num_keys, shape.dim);
  validate(instance);
  return instance;
}

void require_near_possible(const GapAnnShape& shape, std::uint64_t num_near) {
  require(num_near <= shape.num_queries, ErrorKind::parameter, "{} near queries of {}, expected no more than there are",
          num_near, shape.num_queries);
  require(num_near == 0 || (shape.num_keys >= 1 && shape.r_yes >= 0), ErrorKind::parameter,
          "near queries with {} keys and r_yes = {}, expected a key and r_yes >= 0", shape.num_keys, shape.r_yes);
}

void fill_uniform(std::span<std::uint64_t> row, std::uint64_t last_word_mask, Random& random) {
  for (std::uint64_t& word : row) word = random();
  if (!row.empty()) row.back() &= last_word_mask;
}

void flip(std::span<std::uint64_t> row, std::uint64_t coordinate) {
  row[coordinate / 64] ^= std::uint64_t{1} << (coordinate % 64);
}

void flip(std::span<std::uint64_t> row, const std::vector<std::uint64_t>& choice, std::uint64_t offset) {
  for (const std::uint64_t c : choice) flip(row, offset + c);
}

/// Moves every vector by one uniform point and permutes the coordinates: distances stay, structure disappears.
void disguise(GapAnn::Instance& instance, Random& random) {
  const std::uint64_t dim = instance.keys.cols();
  BitMatrix centre(1, dim);
  fill_uniform(centre.row(0), centre.last_word_mask(), random);
  std::vector<std::uint64_t> position = identity(dim);
  shuffle(position, random);
  for (BitMatrix* side : {&instance.queries, &instance.keys}) {
    BitMatrix moved(side->rows(), dim);
    for (std::uint64_t r = 0; r < side->rows(); ++r)
      for (std::uint64_t c = 0; c < dim; ++c)
        if (side->get(r, c) != centre.get(0, c)) moved.set(r, position[c], true);
    *side = std::move(moved);
  }
}

/// Flips each of the coordinate pairs (0,1), (2,3), .. as a whole or not at all. Keys hold exactly one one of each
/// pair, so this moves a query without changing any distance.
void flip_pairs(std::span<std::uint64_t> query, std::uint64_t pairs, Random& random) {
  for (std::uint64_t p = 0; p < pairs; ++p) {
    if (!random.bernoulli(0.5)) continue;
    flip(query, 2 * p);
    flip(query, 2 * p + 1);
  }
}

/// Gives the key `weight` ones outside the split block: one of each pair, `in_split` of the block of `split`
/// coordinates behind the pairs, and the others anywhere behind that.
void fill_key(std::span<std::uint64_t> key, std::uint64_t dim, std::uint64_t weight, std::uint64_t pairs,
              std::uint64_t split, std::uint64_t in_split, Random& random) {
  for (std::uint64_t p = 0; p < pairs; ++p) flip(key, 2 * p + random.below(2));
  flip(key, random_subset(split, in_split, random), 2 * pairs);
  flip(key, random_subset(dim - 2 * pairs - split, weight - pairs - in_split, random), 2 * pairs + split);
}

}  // namespace

GeneratedGapAnn random_promise_gap_ann(const GapAnnShape& shape, std::uint64_t num_near, Random& random) {
  GeneratedGapAnn result;
  result.instance = start(shape);
  require_near_possible(shape, num_near);
  BitMatrix& queries = result.instance.queries;
  BitMatrix& keys = result.instance.keys;
  for (std::uint64_t j = 0; j < shape.num_keys; ++j) fill_uniform(keys.row(j), keys.last_word_mask(), random);
  GapAnn::Answer answer;
  answer.near.assign(shape.num_queries, false);
  for (const std::uint64_t i : random_subset(shape.num_queries, num_near, random)) answer.near[i] = true;
  const auto too_close = [&](std::span<const std::uint64_t> point) {
    for (std::uint64_t j = 0; j < shape.num_keys; ++j)
      if (hamming_distance(point, keys.row(j)) < static_cast<std::uint64_t>(shape.r_no)) return true;
    return false;
  };
  for (std::uint64_t i = 0; i < shape.num_queries; ++i) {
    const std::span<std::uint64_t> query = queries.row(i);
    if (answer.near[i]) {
      std::ranges::copy(keys.row(random.below(shape.num_keys)), query.begin());
      const std::uint64_t most = std::min(static_cast<std::uint64_t>(shape.r_yes), shape.dim);
      flip(query, random_subset(shape.dim, random.below(most + 1), random), 0);
      continue;
    }
    std::uint64_t rejections = 0;
    do {
      require(rejections++ < kMostRejections, ErrorKind::parameter,
              "no point at distance >= {} from {} keys in dimension {} after {} draws, expected a smaller r_no or "
              "fewer keys",
              shape.r_no, shape.num_keys, shape.dim, kMostRejections);
      fill_uniform(query, queries.last_word_mask(), random);
    } while (too_close(query));
  }
  result.known = std::move(answer);
  return result;
}

GeneratedGapAnn adversarial_gap_ann(const GapAnnShape& shape, std::uint64_t num_near, Random& random) {
  GeneratedGapAnn result;
  result.instance = start(shape);
  require_near_possible(shape, num_near);
  const auto far = static_cast<std::uint64_t>(shape.r_no);
  const bool mixed = num_near > 0 && num_near < shape.num_queries;
  const std::uint64_t near = num_near > 0 ? static_cast<std::uint64_t>(shape.r_yes) : far;
  const std::uint64_t gap = far - near;
  require(far <= shape.dim || shape.num_keys == 0, ErrorKind::parameter,
          "keys at distance r_no = {} in dimension {}, expected r_no at most the dimension", far, shape.dim);
  // Far queries of a mixed instance are moved by a block of `gap` coordinates where key 0 has no one (so it goes from
  // r_yes to r_no) and the other keys have ones on exactly half (so they stay at r_no).
  const bool others = shape.num_keys >= 2;
  const std::uint64_t split = mixed ? gap : 0;
  const std::uint64_t half = mixed && others ? gap / 2 : 0;
  require(!mixed || !others || gap % 2 == 0, ErrorKind::parameter,
          "near and far queries with r_yes = {} and r_no = {}, expected an even gap (distances from two keys have "
          "fixed parity)",
          near, far);
  require(far + half <= shape.dim || shape.num_keys == 0, ErrorKind::parameter,
          "near and far queries with r_yes = {} and r_no = {} in dimension {}, expected dimension at least {}", near,
          far, shape.dim, far + half);
  const std::uint64_t pairs = shape.num_keys == 0 ? 0 : std::min({near, far - half, shape.dim - far - half});
  for (std::uint64_t j = 0; j < shape.num_keys; ++j) {
    const bool is_near_key = j == 0 && num_near > 0;
    fill_key(result.instance.keys.row(j), shape.dim, is_near_key ? near : far, pairs, split, is_near_key ? 0 : half,
             random);
  }
  GapAnn::Answer answer;
  answer.near.assign(shape.num_queries, false);
  for (const std::uint64_t i : random_subset(shape.num_queries, num_near, random)) answer.near[i] = true;
  for (std::uint64_t i = 0; i < shape.num_queries; ++i) {
    const std::span<std::uint64_t> query = result.instance.queries.row(i);
    flip_pairs(query, pairs, random);
    if (mixed && !answer.near[i])
      for (std::uint64_t c = 0; c < split; ++c) flip(query, 2 * pairs + c);
  }
  // The near key goes to a uniform place.
  if (shape.num_keys > 1) {
    const std::uint64_t place = random.below(shape.num_keys);
    if (place != 0) std::ranges::swap_ranges(result.instance.keys.row(0), result.instance.keys.row(place));
  }
  disguise(result.instance, random);
  result.known = std::move(answer);
  return result;
}

GeneratedGapAnn gap_ann_at_distances(const GapAnnShape& shape, const std::vector<std::uint64_t>& distances,
                                     Random& random) {
  GeneratedGapAnn result;
  result.instance = start(shape);
  require(distances.size() == shape.num_keys, ErrorKind::parameter, "{} distances for {} keys, expected one a key",
          distances.size(), shape.num_keys);
  std::uint64_t pairs = 0;
  bool near = false;
  if (!distances.empty()) {
    const auto [least, most] = std::ranges::minmax(distances);
    require(most <= shape.dim, ErrorKind::parameter,
            "a key at distance {} in dimension {}, expected at most the dimension", most, shape.dim);
    pairs = std::min(least, shape.dim - most);
    near = shape.r_yes >= 0 && least <= static_cast<std::uint64_t>(shape.r_yes);
  }
  for (std::uint64_t j = 0; j < shape.num_keys; ++j)
    fill_key(result.instance.keys.row(j), shape.dim, distances[j], pairs, 0, 0, random);
  for (std::uint64_t i = 0; i < shape.num_queries; ++i) flip_pairs(result.instance.queries.row(i), pairs, random);
  disguise(result.instance, random);
  GapAnn::Answer answer;
  answer.near.assign(shape.num_queries, near);
  result.known = std::move(answer);
  return result;
}

}  // namespace subquad::problems
